//! What nests of loops access: the loops inside as affine runs, or all accesses in no order.

use crate::id::{BlockId, OpId};
use crate::op::Access;
use crate::path::{Again, Nest, Turns};
use crate::run::AffineRun;
use crate::statics::StaticInfo;

/// Takes what a nest executes, in program order.
///
/// ```
/// use taskgraph::{AffineRun, NestRuns};
///
/// struct Reads(u64);
///
/// impl NestRuns for Reads {
///     fn run(&mut self, run: &AffineRun<'_>, _: u64) {
///         run.for_each_access(|access| self.0 += u64::from(!access.write));
///     }
/// }
/// ```
pub trait NestRuns {
    /// A run of the nest, or executions between such runs as a run of one iteration. Within a
    /// [`Again::Rest`] it counts `times` times.
    fn run(&mut self, run: &AffineRun<'_>, times: u64);

    /// The next iteration of this loop does what those before it did; so many are done, and so many
    /// left. (It may be several iterations in a row that do so together.)
    fn again(&mut self, _loop: usize, _done: u64, _left: u64) -> Again {
        Again::Next
    }

    /// Goes through a nest; `all` says whether blocks without accesses are wanted.
    fn nest(&mut self, nest: &Nest<'_>, all: bool)
    where
        Self: Sized,
    {
        nest.turns(all, &mut Runs(nest.info(), self));
    }
}

struct Runs<'n, 'v, V>(&'n StaticInfo, &'v mut V);

impl<V: NestRuns> Turns for Runs<'_, '_, V> {
    fn run(
        &mut self,
        blocks: &[(BlockId, u32)],
        starts: &[u64],
        strides: &[u64],
        iterations: u64,
        times: u64,
    ) {
        let run = AffineRun { info: self.0, blocks, starts, strides, iterations };
        self.1.run(&run, times);
    }

    fn again(&mut self, l: usize, done: u64, left: u64) -> Again {
        self.1.again(l, done, left)
    }
}

/// Takes what a nest accesses, in no order, where several accesses of one operation to the same
/// bytes may come as one.
pub trait NestAccesses {
    /// An access and all that follow from it: for each of some loops, the bytes from one iteration
    /// to the next, which wrap, and the number of iterations.
    fn accesses(&mut self, access: &Access, loops: &[(u64, u64)]);

    /// Goes through a nest.
    fn nest(&mut self, nest: &Nest<'_>)
    where
        Self: Sized,
    {
        nest.turns(false, &mut Spread(nest.info(), self));
    }
}

struct Spread<'n, 'v, V>(&'n StaticInfo, &'v mut V);

impl<V: NestAccesses> Turns for Spread<'_, '_, V> {
    const SPREADS: bool = true;

    fn run(&mut self, blocks: &[(BlockId, u32)], starts: &[u64], _: &[u64], _: u64, _: u64) {
        // These are parts of iterations, block by block.
        for (block, _) in blocks {
            for (operand, start) in starts.iter().enumerate() {
                self.spread(*block, operand, *start, &[]);
            }
        }
    }

    fn spread(&mut self, block: BlockId, operand: usize, start: u64, loops: &[(u64, u64)]) {
        let first = self.0.block(block).map_or(0, |b| b.first_op as usize);
        let (op, id) = (self.0.ops_of(block).get(operand), OpId::from_index(first + operand));
        if let Some((op, id)) = op.zip(id) {
            op.expand(id, &[start], |access| self.1.accesses(&access, loops));
        }
    }
}
