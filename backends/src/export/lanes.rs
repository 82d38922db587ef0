//! What contexts did over time, as slices in lanes: the timeline formats are views of it.
//!
//! A lane has the tasks of a context and the waits between them. With many contexts, those that do not overlap share a
//! lane.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{BlockCounts, BlockId, Context, ContextId, StaticInfo, TaskKind};

use crate::analysis::{Cause, Graph, LongCall, Segment, Segments, State, Task};

/// Contexts that have lanes of their own, if there are no more.
const OWN: usize = 1000;

/// A part of a lane.
#[derive(Debug)]
pub(super) struct Slice<'g> {
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) what: What<'g>,
}

#[derive(Debug)]
pub(super) enum What<'g> {
    /// A task; it may have no length.
    Task {
        task: Task<'g>,
        state: State,
        call: Option<LongCall>,
    },
    /// A wait before a task of a context.
    Gap { context: ContextId, cause: Cause },
}

/// The contexts that have tasks, in lanes. If there are more than [`OWN`] of them, those that do not overlap share a lane.
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

/// The slices of a lane, in order.
pub(super) fn slices<'g>(
    graph: &'g Graph,
    lane: &'g [ContextId],
) -> impl Iterator<Item = Result<Slice<'g>>> + 'g {
    lane.iter().flat_map(|&context| {
        let (parts, error) = match Parts::new(graph, context) {
            Ok(parts) => (Some(parts), None),
            Err(error) => (None, Some(Err(error))),
        };
        error.into_iter().chain(parts.into_iter().flatten())
    })
}

/// The tasks of a context and the waits between them.
struct Parts<'g> {
    tasks: Box<dyn Iterator<Item = taskgraph::Result<Task<'g>>> + 'g>,
    segments: Segments<'g>,
    segment: Option<Segment<'g>>,
    /// The task whose turn it is.
    task: Option<Task<'g>>,
    at_ns: u64,
}

impl<'g> Parts<'g> {
    fn new(graph: &'g Graph, context: ContextId) -> Result<Self> {
        let mut tasks = Box::new(graph.tasks_of(context));
        let mut segments = Segments::new(graph, context)?;
        let task = tasks.next().transpose()?;
        Ok(Self {
            at_ns: task.as_ref().map_or(0, Task::start_ns),
            tasks,
            segment: segments.next().transpose()?,
            segments,
            task,
        })
    }

    fn advance(&mut self) -> Result<Option<Slice<'g>>> {
        let Some(task) = &self.task else {
            return Ok(None);
        };
        let own = self.segment.as_ref().filter(|s| s.task.id() <= task.id());
        let Some(segment) = own else {
            // It has no time of its own.
            let task = task.clone();
            self.task = self.tasks.next().transpose()?;
            self.at_ns = self.at_ns.max(task.start_ns());
            return Ok(Some(Slice {
                from_ns: self.at_ns,
                to_ns: self.at_ns,
                what: What::Task {
                    task,
                    state: State::Running,
                    call: None,
                },
            }));
        };
        let (from_ns, to_ns, state, call) =
            (segment.from_ns, segment.to_ns, segment.state, segment.call);
        self.at_ns = to_ns;
        let what = match state {
            State::Waiting(cause) if to_ns <= task.start_ns() => What::Gap {
                context: task.id().context,
                cause,
            },
            _ => {
                let done = self.task.take();
                self.task = self.tasks.next().transpose()?;
                let Some(task) = done else { return Ok(None) };
                What::Task { task, state, call }
            }
        };
        self.segment = self.segments.next().transpose()?;
        Ok(Some(Slice {
            from_ns,
            to_ns,
            what,
        }))
    }
}

impl<'g> Iterator for Parts<'g> {
    type Item = Result<Slice<'g>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
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

/// The block with most executed instructions.
pub(super) fn heaviest(info: &StaticInfo, counts: &BlockCounts) -> Option<BlockId> {
    let weight = |(block, times): (BlockId, u64)| {
        let ops = info.block(block).map_or(0, |block| block.ir_ops.max(1));
        (u64::from(ops).saturating_mul(times), Reverse(block))
    };
    let most = counts.iter().map(weight).max();
    most.map(|(_, Reverse(block))| block)
}
