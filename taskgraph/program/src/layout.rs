//! Facts about each block that encoder and decoder need at every execution, derived once from the
//! static tables.

use crate::counts::Counts;
use crate::op::{MemOp, OpKind};
use crate::statics::{Block, StaticInfo};

/// What one execution of a block records and counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockLayout {
    /// Number of operands per execution.
    pub operands: u32,
    /// What one execution counts, if every execution counts the same.
    pub counts: Option<Counts>,
}

/// The layout of all blocks.
#[derive(Debug, Default)]
pub struct Layout {
    /// The layout of each block.
    pub blocks: Vec<BlockLayout>,
}

impl BlockLayout {
    /// The layout of a block with these operations.
    #[must_use]
    pub fn new(ops: &[MemOp]) -> Self {
        let operands = ops.iter().map(MemOp::operand_count).sum::<usize>();
        // No frame holds as many operands as this fallback, so such a block can be neither encoded
        // nor decoded.
        let operands = u32::try_from(operands).unwrap_or(u32::MAX);
        Self { operands, counts: static_counts(ops) }
    }
}

impl Layout {
    /// Derives the layout from the tables.
    #[must_use]
    pub fn new(info: &StaticInfo) -> Self {
        let layout = |b: &Block| {
            let first = b.first_op as usize;
            let end = first.saturating_add(b.op_count as usize);
            BlockLayout::new(info.ops.get(first..end).unwrap_or(&[]))
        };
        Self { blocks: info.blocks.iter().map(layout).collect() }
    }
}

/// What one execution counts; `None` when it depends on the operands.
fn static_counts(ops: &[MemOp]) -> Option<Counts> {
    let mut counts = Counts { blocks: 1, ..Counts::default() };
    for op in ops {
        if !op.has_static_counts() {
            return None;
        }
        let size = op.known_size();
        let (reads, writes) = match op.kind {
            _ if op.has_length() && size == 0 => (0, 0),
            OpKind::Load | OpKind::Scan => (1, 0),
            OpKind::Rmw | OpKind::Copy => (1, 1),
            _ => (0, 1),
        };
        counts.reads += reads;
        counts.writes += writes;
        counts.bytes = counts.bytes.wrapping_add(size.wrapping_mul(reads + writes));
    }
    Some(counts)
}
