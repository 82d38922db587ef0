//! The work task of a context that grows, and the numbers of the context's tasks.

use super::Cutter;
use crate::error::{Error, Result};
use crate::place::Place;

impl Cutter {
    /// The place of the context's next task.
    pub(super) fn next_place(&mut self, context: u32) -> Result<Place> {
        let (state, _) = self.contexts.entry(context);
        let place = Place::new(context, state.places);
        let next = state.places.checked_add(1);
        state.places =
            next.ok_or_else(|| Error::TooManyTasks { file: self.name.clone(), context })?;
        Ok(place)
    }

    /// Ends the work task that grows, if it has actions or is the context's first task. Returns
    /// whether there was one.
    pub(super) fn end_work(&mut self, context: u32, at: u64, keep_empty: bool) -> Result<bool> {
        let (state, _) = self.contexts.entry(context);
        let end = at.max(state.clock);
        // What the context's thread did in other contexts meanwhile is not work of this context.
        let start = state.clock.saturating_add(state.shift).min(end);
        self.put_work(context, Some((start, end)), keep_empty && end > start)
    }

    /// Ends the work task that grows, if it has actions, is the context's first task, or is to be
    /// kept; without times, at a time that is open.
    pub(super) fn put_work(
        &mut self,
        context: u32,
        times: Option<(u64, u64)>,
        kept: bool,
    ) -> Result<bool> {
        let (state, _) = self.contexts.entry(context);
        if state.open.span.is_none() && state.places > 0 && !kept {
            return Ok(false);
        }
        self.next_place(context)?;
        let (state, _) = self.contexts.entry(context);
        let open = std::mem::take(&mut state.open);
        if let Some((_, end)) = times {
            state.clock = end;
        }
        let (executor, writer) = (state.executor, &mut state.writer);
        self.logs.append(context, |out| {
            writer.put_work(out, executor, times, &open.counts, open.span.as_ref());
        })?;
        Ok(true)
    }
}
