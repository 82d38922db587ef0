//! How often records were lost, by cause.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::level::MOST;

/// Why records were lost.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Loss {
    /// A jump left a signal handler and the code that the handler interrupted.
    Jump,
    /// A thread was cancelled at an instruction that is no cancellation point.
    Cancellation,
    /// Too many signal handlers ran on top of each other.
    Depth,
    /// A thread's cursor did not point into its buffer.
    Cursor,
    /// A thread did not let go of its state until patience ran out.
    Thread,
    /// A signal handler interrupted a library whose own code is not recorded.
    Library,
}

const CAUSES: [Loss; 6] =
    [Loss::Jump, Loss::Cancellation, Loss::Depth, Loss::Cursor, Loss::Thread, Loss::Library];

#[derive(Debug, Default)]
pub(crate) struct Losses([AtomicU64; CAUSES.len()]);

impl Losses {
    pub(crate) fn note(&self, loss: Loss) {
        self.add(loss, 1);
    }

    pub(crate) fn add(&self, loss: Loss, times: usize) {
        self.0[loss as usize].fetch_add(times as u64, Relaxed);
    }

    /// One sentence for each cause that there was.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let count = |loss: &Loss| self.0[*loss as usize].load(Relaxed);
        let happened = CAUSES.iter().filter(|loss| count(loss) > 0);
        happened.map(|loss| loss.sentence(count(loss))).collect()
    }
}

impl Loss {
    fn sentence(self, n: u64) -> String {
        let s = if n == 1 { "" } else { "s" };
        match self {
            Loss::Jump => format!("records were lost in {n} jump{s} out of a signal handler"),
            Loss::Cancellation => {
                format!("the last records of {n} asynchronously cancelled thread{s} were lost")
            }
            Loss::Depth => {
                format!("{n} run{s} of signal handlers, with {MOST} others below, left no records")
            }
            Loss::Cursor => format!(
                "records were lost {n} time{s}, because the program overwrote the place where its thread records"
            ),
            Loss::Library => format!(
                "{n} run{s} of signal handlers left no records, because they interrupted a library's own code"
            ),
            Loss::Thread => format!(
                "the last records of {n} thread{s} are missing, because the end of the trace could not wait for longer"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_one_sentence_with_its_number() {
        let losses = Losses::default();
        assert!(losses.sentences().is_empty());
        losses.note(Loss::Jump);
        losses.add(Loss::Thread, 2);
        assert_eq!(
            losses.sentences(),
            [
                "records were lost in 1 jump out of a signal handler",
                "the last records of 2 threads are missing, because the end of the trace could not wait for longer",
            ]
        );
    }
}
