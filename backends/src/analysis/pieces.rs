//! Hands out the pieces of a batch to an analysis.

use anyhow::Result;
use taskgraph::{AffineRun, Batch, Nest, NestRuns, Piece};

use super::{Analysis, Moment};

/// Hands out all pieces, the first of them at a moment.
pub(super) fn pieces<A: Analysis>(
    analysis: &A,
    shard: &mut A::Shard,
    first: Moment,
    batch: &Batch<'_>,
) -> Result<()> {
    let mut at = first;
    for piece in batch.pieces() {
        match &piece {
            Piece::Nest(nest) if !A::NESTS && nest.has_operands() => {
                runs(analysis, shard, at, nest)?;
            }
            _ => analysis.piece(shard, &at, &piece)?,
        }
        at = at.later(piece.actions());
    }
    Ok(())
}

/// Hands out a nest as runs.
fn runs<A: Analysis>(
    analysis: &A,
    shard: &mut A::Shard,
    at: Moment,
    nest: &Nest<'_>,
) -> Result<()> {
    struct Runs<F>(F, Moment, Result<()>);
    impl<F: FnMut(&Moment, &Piece<'_>) -> Result<()>> NestRuns for Runs<F> {
        fn run(&mut self, run: &AffineRun<'_>, _: u64) {
            if self.2.is_ok() {
                self.2 = self.0(&self.1, &Piece::Run(*run));
                self.1 = self.1.later(run.executions());
            }
        }
    }
    let piece = |at: &Moment, piece: &Piece<'_>| analysis.piece(shard, at, piece);
    let mut runs = Runs(piece, at, Ok(()));
    runs.nest(nest, true);
    runs.2
}
