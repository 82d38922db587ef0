//! The end of a trace: each context ends where its data ends, and remarks say what is missing.

use super::Cutter;
use crate::contexts::ContextRecord;
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
            let last = self.contexts.entry(context).0.last;
            self.end_gap(context, last)?;
            self.end_work(context, last, false)?;
            let state: ContextRecord = **self.contexts.entry(context).0;
            self.executors.note(state.executor);
            let at = || format!("context {context}");
            if unseen && context == first {
                continue;
            }
            if context >= TEAM_STREAMS {
                self.notes.remark("OpenMP threads ran code outside of any task", at);
                continue;
            }
            if state.entered && !state.end_seen {
                self.notes.remark("tasks had not ended when the program ended", at);
                continue;
            }
            if state.idle {
                self.notes.remark("threads had not begun when the program ended", at);
                continue;
            }
            if !state.started {
                self.notes.damage("the start of a context is missing", at);
            }
            if !state.end_seen {
                self.notes.damage("the end of a context is missing", at);
            } else if !state.ended && !state.left {
                self.notes.remark("threads still ran when the program ended", at);
            }
        }
        Ok(())
    }
}
