//! What the rules produce: edges between places, and second names of barrier tasks.

use std::sync::Arc;

use crate::contexts::ContextTable;
use crate::error::Result;
use crate::notes::Notes;
use crate::place::Place;
use crate::sorter::Sorter;
use crate::spill::Spill;

#[derive(Debug)]
pub(crate) struct Edges<'a> {
    /// `[from, to]`.
    pub(crate) edges: Sorter<2>,
    /// `[arrival, owner]`: the arrival is another name of the owner's task.
    pub(crate) aliases: Sorter<2>,
    pub(crate) notes: &'a mut Notes,
    /// The object whose events are being read.
    pub(crate) object: u64,
    contexts: &'a mut ContextTable,
}

impl<'a> Edges<'a> {
    /// Uses about `budget` bytes of memory.
    pub(crate) fn new(
        spill: &Arc<Spill>,
        budget: usize,
        contexts: &'a mut ContextTable,
        notes: &'a mut Notes,
    ) -> Self {
        Edges {
            edges: Sorter::new(spill, budget / 4 * 3),
            aliases: Sorter::new(spill, budget / 8),
            notes,
            object: 0,
            contexts,
        }
    }

    /// Says that `from` comes before `to`. Within one context that is program order, which is not
    /// stored.
    pub(crate) fn edge(&mut self, from: Place, to: Place) -> Result<()> {
        if from.context() == to.context() {
            return Ok(());
        }
        self.edges.push([from.bits(), to.bits()])
    }

    /// Says that `arrival` is another name of the barrier task at `owner`.
    pub(crate) fn alias(&mut self, arrival: Place, owner: Place) -> Result<()> {
        self.aliases.push([arrival.bits(), owner.bits()])
    }

    /// The last place of a context; `None` if the context left no records.
    pub(crate) fn last_place(&self, context: u32) -> Option<Place> {
        let last = self.contexts.get(context)?.places.checked_sub(1)?;
        Some(Place::new(context, last))
    }

    /// Says that what is at `at` comes after a context was over: after its last place and, for a
    /// detached task, where its event was fulfilled.
    pub(crate) fn after(&mut self, context: u32, at: Place) -> Result<()> {
        let ends = [self.last_place(context), self.contexts.fulfilled(context)];
        ends.into_iter().flatten().try_for_each(|end| self.edge(end, at))
    }

    /// Number of the trace that a place is in.
    pub(crate) fn trace_of(&self, place: Place) -> u16 {
        self.contexts.trace_of(place.context())
    }

    pub(crate) fn exists(&self, place: Place) -> bool {
        self.last_place(place.context()).is_some_and(|last| place <= last)
    }

    /// Says that another context waited for the end of this one.
    pub(crate) fn joined(&mut self, context: u32) {
        if let Some(c) = self.contexts.get_mut(context) {
            c.joined = true;
        }
    }

    /// Says that another context started this one.
    pub(crate) fn created(&mut self, context: u32) {
        if let Some(c) = self.contexts.get_mut(context) {
            c.announced = true;
        }
    }
}
