//! The end of a trace: each context ends where its data ends, and remarks say what is missing.

use super::Cutter;
use crate::error::Result;
use crate::streams::TEAM_STREAMS;

impl Cutter {
    /// Ends every context where its data ends.
    pub(crate) fn finish(&mut self) -> Result<()> {
        // The run starts in context 0. A graph has the task 0:0 even if nothing of it was recorded.
        let first = self.space.first();
        let (_, unseen) = self.contexts.entry(first);
        if unseen {
            // This is no damage by itself, because a program in sync mode may do nothing that is
            // recorded. Lost chunks and a missing end are reported where they are found.
            self.notes.remark("nothing was recorded of the first context", String::new);
        }
        while let Some((piece, held)) = self.streams.release_any() {
            self.notes
                .damage("parts of a task that went from thread to thread are missing", || {
                    format!("before piece {} of context {}", piece.1, piece.0)
                });
            self.read_held(piece, held)?;
        }
        for context in self.contexts.numbers() {
            self.contexts.retire();
            if !self.space.holds(context) {
                continue;
            }
            let last = self.piece(context).state.last;
            self.end_gap(context, last)?;
            let mut piece = self.piece(context);
            piece.end_work(last, false)?;
            let state = piece.state;
            let state_entered = state.entered;
            let (started, end_seen, ended) = (state.started, state.end_seen, state.ended);
            let (idle, left) = (state.idle, state.left);
            let executor = state.executor;
            self.executors.note(executor);
            if unseen && context == first {
                continue;
            }
            if context >= TEAM_STREAMS {
                self.notes.remark("OpenMP threads ran code outside of any task", || {
                    format!("context {context}")
                });
                continue;
            }
            if state_entered && !end_seen {
                self.notes.remark("tasks had not ended when the program ended", || {
                    format!("context {context}")
                });
                continue;
            }
            if idle {
                self.notes.remark("threads had not begun when the program ended", || {
                    format!("context {context}")
                });
                continue;
            }
            if !started {
                self.notes
                    .damage("the start of a context is missing", || format!("context {context}"));
            }
            if !end_seen {
                self.notes
                    .damage("the end of a context is missing", || format!("context {context}"));
            } else if !ended && !left {
                self.notes.remark("threads still ran when the program ended", || {
                    format!("context {context}")
                });
            }
        }
        self.logs.put_down()
    }
}
