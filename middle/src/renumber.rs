//! Turns places into task ids. Arrivals at barriers that are not tasks of their own get no id.

use std::sync::Arc;

use taskgraph::{ContextId, TaskId};

use crate::error::Result;
use crate::place::Place;
use crate::sorter::{Lookahead, Sorted, Sorter};
use crate::spill::Spill;

/// The task id as a sort key, in the order of task ids.
pub(crate) fn task_bits(id: TaskId) -> u64 {
    Place::new(id.context.get(), id.seq).bits()
}

pub(crate) fn task_from_bits(bits: u64) -> TaskId {
    let place = Place::from_bits(bits);
    TaskId::new(ContextId::new(place.context()), place.position())
}

/// What a place stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// The place is this task.
    Task(TaskId),
    /// The place is an arrival. The number is the one beside it in the list of aliases.
    Alias(u64),
}

/// Turns places into task ids. The places must be asked for in ascending order.
#[derive(Debug)]
pub(crate) struct Renumber<'a> {
    aliases: Lookahead<'a>,
    context: u32,
    /// Number of aliases in the context before the place that was asked for last.
    fallen: u32,
}

impl<'a> Renumber<'a> {
    /// Reads `aliases`, which are `[arrival, number]`.
    pub(crate) fn new(aliases: &'a Sorted<2>) -> Result<Self> {
        Ok(Renumber { aliases: Lookahead::new(aliases)?, context: 0, fallen: 0 })
    }

    pub(crate) fn name(&mut self, place: Place) -> Result<Named> {
        if place.context() != self.context {
            self.context = place.context();
            self.fallen = 0;
        }
        let own = |arrival| Place::from_bits(arrival).context() == self.context;
        let fallen = &mut self.fallen;
        let passed = |arrival| *fallen += u32::from(own(arrival));
        if let Some(number) = self.aliases.find(place.bits(), passed)? {
            return Ok(Named::Alias(number));
        }
        let seq = place.position() - self.fallen;
        Ok(Named::Task(TaskId::new(ContextId::new(self.context), seq)))
    }
}

/// Turns `[arrival, owner's place]` into `[arrival, owner's task]`. An owner is never an arrival of
/// another owner, because it is the smallest of its own generation.
pub(crate) fn resolve_aliases(
    aliases: &Sorted<2>,
    spill: &Arc<Spill>,
    budget: usize,
) -> Result<Sorted<2>> {
    resolve_sources(&aliases.swapped(spill, budget / 2)?, aliases, spill, budget / 2)
}

/// Turns edges `[from, to]` of places into `[to, from]`, where `to` is still a place and `from` is
/// a task.
pub(crate) fn resolve_sources(
    edges: &Sorted<2>,
    aliases: &Sorted<2>,
    spill: &Arc<Spill>,
    budget: usize,
) -> Result<Sorted<2>> {
    let mut by_target = Sorter::<2>::new(spill, budget);
    let mut numbers = Renumber::new(aliases)?;
    let mut all = edges.iter()?;
    while let Some([from, to]) = all.next()? {
        let id = match numbers.name(Place::from_bits(from))? {
            Named::Task(id) => task_bits(id),
            Named::Alias(id) => id,
        };
        by_target.push([to, id])?;
    }
    by_target.finish()
}
