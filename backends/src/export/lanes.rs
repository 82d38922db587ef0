//! What contexts did over time, as slices in lanes: the timeline formats are views of it.
//!
//! A lane has the tasks of a context and the waits between them. With many contexts, those that do
//! not overlap share a lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{BlockCounts, BlockId, Context, ContextId, TaskKind};

use crate::analysis::source::{Place, heaviest};
use crate::analysis::{Graph, LongCall, Segment, Segments, State, Task};
use crate::view::names;

/// Contexts that have lanes of their own, if there are no more.
const OWN: usize = 1000;

/// The contexts that have tasks, in lanes. If there are more than [`OWN`] of them, those that do
/// not overlap share a lane.
pub(super) fn in_lanes(graph: &Graph) -> Vec<Vec<ContextId>> {
    let mut contexts: Vec<Context> = graph.contexts().filter(|c| c.task_count > 0).collect();
    if contexts.len() <= OWN {
        return contexts.iter().map(|context| vec![context.id]).collect();
    }
    contexts.sort_by_key(|context| (context.first_ns, context.id));
    let mut lanes: Vec<Vec<ContextId>> = Vec::new();
    let mut ends: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for context in contexts {
        let free = ends.peek().filter(|end| end.0.0 <= context.first_ns);
        let lane = match free.is_some().then(|| ends.pop()).flatten() {
            Some(Reverse((_, lane))) => lane,
            None => {
                lanes.push(Vec::new());
                lanes.len() - 1
            }
        };
        lanes[lane].push(context.id);
        ends.push(Reverse((context.last_ns.max(context.first_ns), lane)));
    }
    lanes
}

/// Calls `f` with the slices of a context, in order: its tasks, which may have no length, and the
/// waits before them, of which it says that they are waits before tasks.
pub(super) fn each_slice<'g>(
    graph: &'g Graph,
    context: ContextId,
    mut f: impl FnMut(&Segment<'g>, bool) -> Result<()>,
) -> Result<()> {
    let mut segments = Segments::new(graph, context)?.peekable();
    let mut at_ns = 0;
    for task in graph.tasks_of(context) {
        let task = task?;
        loop {
            let is_own = |own: &Segment<'g>| own.task.id() <= task.id();
            let own = segments.next_if(|own| own.as_ref().map_or(true, is_own)).transpose()?;
            let Some(own) = own else {
                // It has no time of its own.
                at_ns = at_ns.max(task.start_ns());
                let (from_ns, to_ns, state) = (at_ns, at_ns, State::Running);
                f(&Segment { from_ns, to_ns, state, task, call: None }, false)?;
                break;
            };
            at_ns = own.to_ns;
            if own.state == State::Running || own.to_ns > task.start_ns() {
                f(&Segment { task, ..own }, false)?;
                break;
            }
            f(&own, true)?;
        }
    }
    Ok(())
}

/// What a context does that runs in a task: the function of a block of it, or what else is known.
pub(super) fn doing(task: &Task<'_>, place: Option<&Place>) -> String {
    match (place, task.kind()) {
        (Some(place), _) => names::label(&place.function),
        (None, TaskKind::Work) => "(nothing recorded)".to_owned(),
        (None, _) => task.op().name().to_owned(),
    }
}

/// The block in which a task spends most of its time, by executed instructions.
pub(super) fn main_block(
    task: &Task<'_>,
    call: Option<LongCall>,
    counts: &mut BlockCounts,
) -> Result<Option<BlockId>> {
    if let Some(block) = call.and_then(LongCall::block) {
        return Ok(Some(block));
    }
    counts.clear();
    if task.kind() == TaskKind::Work && !task.spans().is_empty() {
        task.count_blocks(counts)?;
    }
    Ok(heaviest(task.graph().info(), counts))
}
