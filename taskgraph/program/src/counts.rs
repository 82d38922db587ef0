//! Totals of actions: blocks, accesses, bytes.

use crate::id::{BlockId, OpId};
use crate::statics::StaticInfo;

/// Totals of actions, as a task has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions of basic blocks.
    pub blocks: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Actions that are no executions of blocks: allocations, frees, mappings.
    pub others: u64,
}

impl Counts {
    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_sub(earlier.blocks),
            reads: self.reads.wrapping_sub(earlier.reads),
            writes: self.writes.wrapping_sub(earlier.writes),
            bytes: self.bytes.wrapping_sub(earlier.bytes),
            others: self.others.wrapping_sub(earlier.others),
        }
    }

    /// The sum of two totals.
    #[must_use]
    #[inline]
    pub fn plus(self, more: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_add(more.blocks),
            reads: self.reads.wrapping_add(more.reads),
            writes: self.writes.wrapping_add(more.writes),
            bytes: self.bytes.wrapping_add(more.bytes),
            others: self.others.wrapping_add(more.others),
        }
    }

    /// That many times this.
    #[must_use]
    #[inline]
    pub fn times(self, n: u64) -> Self {
        Self {
            blocks: self.blocks.wrapping_mul(n),
            reads: self.reads.wrapping_mul(n),
            writes: self.writes.wrapping_mul(n),
            bytes: self.bytes.wrapping_mul(n),
            others: self.others.wrapping_mul(n),
        }
    }
}

/// What an execution whose accesses depend on its operands counts.
#[must_use]
pub fn count(info: &StaticInfo, id: BlockId, operands: &[u64]) -> Counts {
    let mut counts = Counts {
        blocks: 1,
        ..Counts::default()
    };
    let mut operands = operands;
    for op in info.ops_of(id) {
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
