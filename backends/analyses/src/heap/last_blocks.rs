//! The last block that each context executed: the call at its end makes an allocation.

use taskgraph::{BlockId, Piece};

/// The last executed block, by position of the context.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastBlocks(Vec<Option<BlockId>>);

impl LastBlocks {
    /// The last executed block of a context.
    pub(crate) fn of(&self, context: u32) -> Option<BlockId> {
        self.0.get(context as usize).copied().flatten()
    }

    /// Notes that a context has executed a piece.
    #[inline]
    pub(crate) fn note(&mut self, context: u32, piece: &Piece<'_>) {
        if let Some(block) = piece.last_block() {
            self.passed(context, block);
        }
    }

    /// Notes that a context has executed a block.
    #[inline]
    pub(crate) fn passed(&mut self, context: u32, block: BlockId) {
        if self.0.len() <= context as usize {
            self.0.resize(context as usize + 1, None);
        }
        self.0[context as usize] = Some(block);
    }
}
