//! Totals of actions: blocks, accesses, bytes.

use crate::id::{BlockId, OpId};
use crate::op::MemOp;
use crate::statics::StaticInfo;

/// Totals of actions, as a task has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Actions that are not executions of blocks: allocations, frees, mappings.
    pub others: u64,
}

impl Counts {
    /// One execution of a block with these operations and operands.
    #[must_use]
    pub fn of(ops: &[MemOp], operands: &[u64]) -> Self {
        let mut counts = Self { blocks: 1, ..Self::default() };
        let mut operands = operands;
        for op in ops {
            let (own, rest) = operands.split_at(op.operand_count().min(operands.len()));
            op.expand(OpId::default(), own, |a| {
                counts.reads += u64::from(!a.write);
                counts.writes += u64::from(a.write);
                counts.bytes = counts.bytes.wrapping_add(a.size);
            });
            operands = rest;
        }
        counts
    }

    /// The totals in the order of the fields, in which files have them.
    #[must_use]
    #[inline]
    pub fn numbers(self) -> [u64; 5] {
        [self.blocks, self.reads, self.writes, self.bytes, self.others]
    }

    /// The totals of which `next` says one after the other, in the order of [`Counts::numbers`].
    ///
    /// # Errors
    /// The first of `next`.
    #[inline]
    pub fn read<E>(mut next: impl FnMut() -> Result<u64, E>) -> Result<Self, E> {
        Ok(Self {
            blocks: next()?,
            reads: next()?,
            writes: next()?,
            bytes: next()?,
            others: next()?,
        })
    }

    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, u64::wrapping_sub)
    }

    /// The sum of two totals.
    #[must_use]
    #[inline]
    pub fn plus(self, more: Self) -> Self {
        self.with(more, u64::wrapping_add)
    }

    /// The totals multiplied by `n`.
    #[must_use]
    #[inline]
    pub fn times(self, n: u64) -> Self {
        self.with(self, |own, _| own.wrapping_mul(n))
    }

    #[inline]
    fn with(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            blocks: f(self.blocks, other.blocks),
            reads: f(self.reads, other.reads),
            writes: f(self.writes, other.writes),
            bytes: f(self.bytes, other.bytes),
            others: f(self.others, other.others),
        }
    }
}

/// What an execution of a block counts, also where its accesses depend on the operands.
#[must_use]
pub fn count(info: &StaticInfo, id: BlockId, operands: &[u64]) -> Counts {
    Counts::of(info.ops_of(id), operands)
}
