//! Hands out the pieces of a batch to an analysis.

use anyhow::Result;
use taskgraph::{AffineRun, Batch, Nest, NestRuns, Piece};

use super::windows::Windows;
use super::{Analysis, Moment};

/// Hands out all pieces, the first of them at a moment, or what of them is in windows.
pub(super) fn pieces<A: Analysis>(
    analysis: &A,
    shard: &mut A::Shard,
    first: Moment,
    batch: &Batch<'_>,
    windows: &mut Option<Windows>,
) -> Result<()> {
    let mut at = first;
    for piece in batch.pieces() {
        match &piece {
            Piece::Nest(nest) if nest.has_operands() && (!A::NESTS || windows.is_some()) => {
                runs(analysis, shard, at, nest, windows)?;
            }
            _ => one(analysis, shard, &at, &piece, windows)?,
        }
        at = at.later(piece.actions());
    }
    Ok(())
}

/// Hands out a piece, or what of it is in windows. What is no execution always is.
#[inline]
pub(super) fn one<A: Analysis>(
    analysis: &A,
    shard: &mut A::Shard,
    at: &Moment,
    piece: &Piece<'_>,
    windows: &mut Option<Windows>,
) -> Result<()> {
    match windows {
        Some(windows) if !matches!(piece, Piece::Action(_)) => {
            windows.pass(piece.actions(), |range, seen| {
                piece.for_each_part(range, |first, part| match seen {
                    true => analysis.piece(shard, &at.later(first), part),
                    false => {
                        analysis.passed(shard, at.context, part);
                        Ok(())
                    }
                })
            })
        }
        _ => analysis.piece(shard, at, piece),
    }
}

/// Hands out a nest as runs.
fn runs<A: Analysis>(
    analysis: &A,
    shard: &mut A::Shard,
    at: Moment,
    nest: &Nest<'_>,
    windows: &mut Option<Windows>,
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
    let piece = |at: &Moment, piece: &Piece<'_>| one(analysis, shard, at, piece, windows);
    let mut runs = Runs(piece, at, Ok(()));
    runs.nest(nest, true);
    runs.2
}
