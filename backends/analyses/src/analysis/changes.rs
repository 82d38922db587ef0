//! What contexts do over time: the segments of all contexts, merged in the order of time. Memory
//! grows with the contexts that live at one time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use anyhow::Result;

use super::blocked::LongCall;
use super::segments::{Segment, Segments};
use super::state::State;
use super::{Graph, Task};

/// A context goes from one state to another; the changes of all contexts come in order of time.
#[derive(Clone, Debug)]
pub struct Change<'g> {
    /// When, nanoseconds since the start of the run.
    pub at_ns: u64,
    /// Which, counting those with tasks.
    pub context: usize,
    /// What it did; none where it begins.
    pub from: Option<State>,
    /// What it does from now on; none where it ends.
    pub to: Option<State>,
    /// The length of this state.
    pub ns: u64,
    /// The task it does that in, or before; none where it ends.
    pub task: Option<&'g Task<'g>>,
    /// The call that a task of few blocks spends its time in.
    pub call: Option<LongCall>,
}

/// The beginning of the run: when the first context begins.
pub(crate) fn begin_of(graph: &Graph) -> u64 {
    let with_tasks = graph.contexts().filter(|context| context.task_count > 0);
    with_tasks.map(|context| context.first_ns).min().unwrap_or(0)
}

/// The end of the run: the last moment of any context.
#[must_use]
pub fn end_of(graph: &Graph) -> u64 {
    let with_tasks = graph.contexts().filter(|context| context.task_count > 0);
    with_tasks.map(|context| context.last_ns).fold(graph.summary().duration_ns, u64::max)
}

/// Calls `visit` with the changes of every context's state, in order of time.
///
/// # Errors
/// When the graph cannot be read, or `visit` fails.
pub fn sweep(graph: &Graph, mut visit: impl FnMut(&Change<'_>) -> Result<()>) -> Result<()> {
    let with_tasks = graph.contexts().filter(|context| context.task_count > 0);
    let numbered = (0u32..).zip(with_tasks);
    let mut unborn: Vec<_> = numbered.map(|(at, c)| ((c.first_ns, at), c.id)).collect();
    unborn.sort_unstable();
    // By number: the contexts that have begun and not ended, each with its last segment.
    type Life<'g> = (Segments<'g>, Option<Segment<'g>>);
    let mut lives: Vec<Option<Box<Life<'_>>>> = Vec::new();
    lives.resize_with(unborn.len(), || None);
    let mut unborn = unborn.into_iter().peekable();
    // When the state of each of them changes next, and its number.
    let mut alive: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    loop {
        let next = alive.peek().map(|due| due.0);
        let is_next = |first: (u64, u32)| next.is_none_or(|next| first < next);
        if let Some(((first_ns, number), id)) = unborn.next_if(|(due, _)| is_next(*due)) {
            let segments = Segments::new(graph, id)?;
            // A context may be seen before its first task, and nothing is known of the time in
            // between.
            alive.push(Reverse((first_ns.max(segments.at_ns), number)));
            lives[number as usize] = Some(Box::new((segments, None)));
            continue;
        }
        let Some(mut due) = alive.peek_mut() else {
            return Ok(());
        };
        let (at_ns, context) = due.0;
        let life = &mut lives[context as usize];
        let Some((segments, segment)) = life.as_deref_mut() else {
            return Ok(());
        };
        let from = segment.as_ref().map(|segment| segment.state);
        *segment = segments.advance()?;
        let to = segment.as_ref();
        due.0.0 = to.map_or(at_ns, |to| to.to_ns.max(at_ns));
        visit(&Change {
            at_ns,
            context: context as usize,
            from,
            to: to.map(|to| to.state),
            ns: to.map_or(0, |to| to.to_ns - to.from_ns),
            call: to.and_then(|to| to.call),
            task: to.map(|to| &to.task),
        })?;
        if to.is_none() {
            PeekMut::pop(due);
            *life = None;
        }
    }
}
