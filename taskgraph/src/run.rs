//! Affine runs, each of which stands for all iterations of a loop.

use std::ops::{ControlFlow, Range};

use crate::action::BlockExec;
use crate::id::{BlockId, OpId};
use crate::op::{Access, MemOp};
use crate::statics::StaticInfo;

/// Iterations of a loop that execute the same blocks, where each operand changes by a constant from
/// one to the next.
#[derive(Clone, Copy)]
pub struct AffineRun<'f> {
    pub(crate) info: &'f StaticInfo,
    pub(crate) blocks: &'f [(BlockId, u32)],
    pub(crate) starts: &'f [u64],
    pub(crate) strides: &'f [u64],
    pub(crate) iterations: u64,
}

/// The accesses of one operation in all iterations of an [`AffineRun`]: `access` is the first, and
/// each next one is `stride` bytes further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedAccess {
    /// The access of the first iteration.
    pub access: Access,
    /// Bytes from one access to the next; the number wraps, so that steps back are large numbers.
    pub stride: u64,
}

impl<'f> AffineRun<'f> {
    /// How often the blocks of the run are executed.
    #[must_use]
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// The block executions of the first iteration, in order.
    pub fn first(&self) -> impl Iterator<Item = BlockExec<'f>> + '_ {
        executions(self.info, self.blocks, self.starts)
    }

    /// Change of each operand from one iteration to the next, wrapping; in the order of the
    /// operands of [`AffineRun::first`].
    #[must_use]
    pub fn strides(&self) -> &'f [u64] {
        self.strides
    }

    /// Whether every iteration has as many accesses of the same sizes as the first.
    pub(crate) fn has_static_counts(&self) -> bool {
        let fixed = |b: &(BlockId, u32)| self.info.ops_of(b.0).iter().all(MemOp::has_static_counts);
        self.blocks.iter().all(fixed)
    }

    /// Calls `f` for each access of the first iteration, with its stride. If an operation is not a
    /// plain load, store or read-modify-write, it calls nothing and returns false; the caller must
    /// then expand the run.
    pub fn for_each_strided(&self, mut f: impl FnMut(StridedAccess)) -> bool {
        let plain = |op: &MemOp| op.has_static_counts() && op.operand_count() == 1;
        let all = |b: &(BlockId, u32)| self.info.ops_of(b.0).iter().all(plain);
        if !self.blocks.iter().all(all) {
            return false;
        }
        let mut operands = self.starts.iter().zip(self.strides);
        for (block, _) in self.blocks {
            let first = self.info.block(*block).map_or(0, |b| b.first_op);
            for (id, op) in (first..).zip(self.info.ops_of(*block)) {
                if let Some((start, &stride)) = operands.next() {
                    op.expand(OpId::new(id), &[*start], |access| {
                        f(StridedAccess { access, stride });
                    });
                }
            }
        }
        true
    }

    /// How many executions of blocks it stands for.
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.iterations.saturating_mul(self.blocks.len() as u64)
    }

    /// Calls `f` with its blocks and how often they are executed.
    pub fn for_each_times(&self, mut f: impl FnMut(BlockId, u64)) {
        self.blocks.iter().for_each(|block| f(block.0, self.iterations));
    }

    /// Some of its iterations, the first counted from 0; their operands go into `starts`.
    #[must_use]
    pub fn part<'p>(&self, iterations: Range<u64>, starts: &'p mut Vec<u64>) -> AffineRun<'p>
    where
        'f: 'p,
    {
        let moved = self.starts.iter().zip(self.strides);
        let first = iterations.start;
        starts.clear();
        starts.extend(moved.map(|(v, stride)| v.wrapping_add(stride.wrapping_mul(first))));
        AffineRun { starts, iterations: iterations.end.saturating_sub(first), ..*self }
    }

    /// Calls `f` for each access, in program order.
    #[inline]
    pub fn for_each_access(&self, mut f: impl FnMut(Access)) {
        let mut moving = Vec::new();
        if !self.for_each_strided(|strided| moving.push(strided)) {
            return self.for_each_block(|block| block.for_each_access(&mut f));
        }
        for _ in 0..self.iterations {
            for StridedAccess { access, stride } in &mut moving {
                f(*access);
                access.addr = access.addr.wrapping_add(*stride);
            }
        }
    }

    /// Calls `f` for each execution of a block, in program order.
    #[inline]
    pub fn for_each_block(&self, mut f: impl FnMut(BlockExec<'_>)) {
        let _ = self.try_for_each_block(|block| {
            f(block);
            ControlFlow::Continue(())
        });
    }

    /// As [`AffineRun::for_each_block`], until `f` says so.
    #[inline]
    pub(crate) fn try_for_each_block(
        &self,
        mut f: impl FnMut(BlockExec<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut operands = self.starts.to_vec();
        (0..self.iterations).try_for_each(|_| {
            executions(self.info, self.blocks, &operands).try_for_each(&mut f)?;
            advance(&mut operands, self.strides);
            ControlFlow::Continue(())
        })
    }
}

impl std::fmt::Debug for AffineRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AffineRun")
            .field("blocks", &self.blocks)
            .field("starts", &self.starts)
            .field("strides", &self.strides)
            .field("iterations", &self.iterations)
            .finish()
    }
}

#[inline]
fn executions<'f>(
    info: &'f StaticInfo,
    blocks: &'f [(BlockId, u32)],
    operands: &'f [u64],
) -> impl Iterator<Item = BlockExec<'f>> {
    let mut from = 0;
    blocks.iter().map(move |(id, end)| {
        let own = operands.get(from..*end as usize).unwrap_or(&[]);
        from = *end as usize;
        BlockExec::new(info, *id, own)
    })
}

/// Changes the operands to those of the next iteration.
#[inline]
pub(crate) fn advance(operands: &mut [u64], strides: &[u64]) {
    for (v, stride) in operands.iter_mut().zip(strides) {
        *v = v.wrapping_add(*stride);
    }
}
