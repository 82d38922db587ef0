//! Per-block facts the encoder and decoder need at every execution, derived once from the static tables.

use crate::frame::encode::Counts;
use crate::op::{MemOp, OpKind};
use crate::statics::StaticInfo;

/// Where a block keeps the predictors of its operands, and what one execution counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockLayout {
    /// First operand slot.
    pub(crate) first_slot: u32,
    /// Operands per execution.
    pub(crate) operands: u32,
    /// One execution, when that is the same for all.
    pub(crate) counts: Option<Counts>,
}

/// The layout of all blocks.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) blocks: Vec<BlockLayout>,
    /// Operand slots of all blocks together.
    pub(crate) slots: usize,
}

impl Layout {
    pub(crate) fn new(info: &StaticInfo) -> Self {
        let mut slots = 0usize;
        let mut blocks = Vec::with_capacity(info.blocks.len());
        for b in &info.blocks {
            let first = b.first_op as usize;
            let ops = info
                .ops
                .get(first..first.saturating_add(b.op_count as usize))
                .unwrap_or(&[]);
            let operands: usize = ops.iter().map(MemOp::operand_count).sum();
            // More than 2^32 operand slots cannot come from a program; such a block is then never predicted or decoded.
            let (Ok(first_slot), Ok(count)) = (u32::try_from(slots), u32::try_from(operands))
            else {
                blocks.push(BlockLayout {
                    first_slot: 0,
                    operands: u32::MAX,
                    counts: None,
                });
                continue;
            };
            blocks.push(BlockLayout {
                first_slot,
                operands: count,
                counts: static_counts(ops),
            });
            slots += operands;
        }
        Self { blocks, slots }
    }
}

/// What one execution counts; `None` when it depends on the operands.
fn static_counts(ops: &[MemOp]) -> Option<Counts> {
    let mut counts = Counts {
        blocks: 1,
        ..Counts::default()
    };
    for op in ops {
        if !op.has_static_counts() {
            return None;
        }
        let size = match op.kind {
            OpKind::Copy | OpKind::Set => op.const_len,
            _ => u64::from(op.size),
        };
        let (reads, writes) = match op.kind {
            OpKind::Load => (1, 0),
            OpKind::Copy | OpKind::Set if size == 0 => (0, 0),
            OpKind::Rmw | OpKind::Copy => (1, 1),
            _ => (0, 1),
        };
        counts.reads += reads;
        counts.writes += writes;
        counts.bytes = counts.bytes.wrapping_add(size.wrapping_mul(reads + writes));
    }
    Some(counts)
}
