//! Facts about each block that encoder and decoder need at every execution, derived once from the
//! static tables.

use crate::counts::Counts;
use crate::op::MemOp;
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
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The layout of each block.
    pub blocks: Vec<BlockLayout>,
}

impl BlockLayout {
    /// The layout of a block with these operations.
    #[must_use]
    pub fn new(ops: &[MemOp]) -> Self {
        let operands = ops.iter().map(MemOp::operand_count).sum::<usize>();
        let fixed = ops.iter().all(MemOp::has_static_counts);
        // Any operands do.
        let counts = fixed.then(|| Counts::of(ops, &vec![0; operands]));
        // No frame holds as many operands as this fallback, so such a block can be neither encoded
        // nor decoded.
        let operands = u32::try_from(operands).unwrap_or(u32::MAX);
        Self { operands, counts }
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
