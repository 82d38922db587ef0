//! The block each context executed last: an allocation is made by the call at its end.

use taskgraph::{BlockId, Piece};

/// The block executed last, by position of the context.
#[derive(Clone, Debug, Default)]
pub struct LastBlocks(Vec<Option<BlockId>>);

impl LastBlocks {
    /// That of a context.
    #[must_use]
    pub fn of(&self, context: u32) -> Option<BlockId> {
        self.0.get(context as usize).copied().flatten()
    }

    /// A context has done what is in a piece.
    #[inline]
    pub fn note(&mut self, context: u32, piece: &Piece<'_>) {
        if let Some(block) = piece.last_block() {
            if self.0.len() <= context as usize {
                self.0.resize(context as usize + 1, None);
            }
            self.0[context as usize] = Some(block);
        }
    }
}
