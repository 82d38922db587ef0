//! One context while its tasks are written: the work task that grows, and the numbers of the tasks.

use crate::contexts::ContextState;
use crate::error::{Error, Result};
use crate::log::Logs;
use crate::place::Place;

pub(super) struct Piece<'a> {
    pub(super) context: u32,
    pub(super) name: &'a str,
    pub(super) state: &'a mut ContextState,
    pub(super) logs: &'a mut Logs,
}

impl Piece<'_> {
    pub(super) fn next_place(&mut self) -> Result<Place> {
        let place = Place::new(self.context, self.state.places);
        self.state.places = self.state.places.checked_add(1).ok_or_else(|| {
            Error::TooManyTasks { file: self.name.to_owned(), context: self.context }
        })?;
        Ok(place)
    }

    /// Ends the work task that grows, if it has actions or is the context's first task.
    pub(super) fn end_work(&mut self, at: u64, keep_empty: bool) -> Result<()> {
        let end = at.max(self.state.clock);
        // What the context's thread did in other contexts meanwhile is not work of this context.
        let start = self.state.clock.saturating_add(self.state.shift).min(end);
        let kept = keep_empty && end > start;
        if self.state.open.span.is_none() && self.state.places > 0 && !kept {
            return Ok(());
        }
        self.put_work(Some((start, end)))
    }

    /// Ends the work task that grows, if it has actions or is the context's first task, at a time
    /// that is open.
    pub(super) fn end_open_work(&mut self) -> Result<()> {
        if self.state.open.span.is_none() && self.state.places > 0 {
            return Ok(());
        }
        self.put_work(None)
    }

    fn put_work(&mut self, times: Option<(u64, u64)>) -> Result<()> {
        self.next_place()?;
        let open = std::mem::take(&mut self.state.open);
        if let Some((_, end)) = times {
            self.state.clock = end;
        }
        let (executor, writer) = (self.state.executor, &mut self.state.writer);
        self.logs.append(self.context, |out| {
            writer.put_work(out, executor, times, &open.counts, open.span.as_ref());
        })
    }
}
