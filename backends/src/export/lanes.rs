//! What contexts did over time, as slices in lanes: the timeline formats are views of it.
//!
//! A lane has the tasks of a context and the waits between them. With many contexts, those that do not overlap share a
//! lane. With many slices, neighbours that are shorter than a length are merged, so that any graph has few enough.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{BlockCounts, BlockId, Context, ContextId, StaticInfo, TaskKind};

use crate::analysis::{Cause, Graph, LongCall, Segment, Segments, State, Task};
use crate::view::units::{plural, time};

/// Contexts that have lanes of their own, if there are no more.
const OWN: usize = 1000;
/// Slices may be merged below 2 to the power of 1 .. `POWERS` nanoseconds.
const POWERS: usize = 63;

/// Lanes, and how much they are merged.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) lanes: Vec<Vec<ContextId>>,
    /// Neighbours shorter than this are merged; 0 if all slices are as recorded.
    pub(super) least_ns: u64,
}

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
    /// Neighbours that are too short to be shown.
    Merged {
        tasks: u64,
        running_ns: u64,
        waiting_ns: u64,
    },
}

impl Slice<'_> {
    fn ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }

    /// Tasks, and the time in which they ran and waited.
    fn tally(&self) -> [u64; 3] {
        let ns = self.ns();
        match self.what {
            What::Gap { .. } => [0, 0, ns],
            What::Task {
                state: State::Running,
                ..
            } => [1, ns, 0],
            What::Task { .. } => [1, 0, ns],
            What::Merged {
                tasks,
                running_ns,
                waiting_ns,
            } => [tasks, running_ns, waiting_ns],
        }
    }

    /// This slice and the next one of the lane as one.
    fn and(self, next: &Self) -> Self {
        let (own, more) = (self.tally(), next.tally());
        Self {
            from_ns: self.from_ns,
            to_ns: next.to_ns.max(self.to_ns),
            what: What::Merged {
                tasks: own[0] + more[0],
                running_ns: own[1] + more[1],
                waiting_ns: own[2] + more[2],
            },
        }
    }
}

/// The contexts that have tasks, in lanes. If there are more than [`OWN`] of them, those that do not overlap share a lane.
fn in_lanes(graph: &Graph) -> Vec<Vec<ContextId>> {
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

impl Plan {
    /// Lanes with at most `most` slices, or one for each lane if that is more.
    pub(super) fn new(graph: &Graph, most: u64) -> Result<Self> {
        let mut plan = Self {
            lanes: in_lanes(graph),
            least_ns: 0,
        };
        let (mut slices, mut long) = (0, [0u64; POWERS]);
        for lane in 0..plan.lanes.len() {
            let mut open = [false; POWERS];
            for slice in plan.slices(graph, lane) {
                let ns = slice?.ns();
                slices += 1;
                for (power, (open, long)) in (1..).zip(open.iter_mut().zip(&mut long)) {
                    let short = ns >> power == 0;
                    *long += u64::from(!(short && *open));
                    *open = short;
                }
            }
        }
        if slices > most {
            let power = long.iter().position(|&slices| slices <= most);
            plan.least_ns = 1 << (power.unwrap_or(POWERS - 1) + 1);
        }
        Ok(plan)
    }

    /// What was merged, for people; none if nothing was.
    pub(super) fn merged(&self, graph: &Graph) -> Option<String> {
        let contexts: usize = self.lanes.iter().map(Vec::len).sum();
        let mut said = Vec::new();
        if self.least_ns > 0 {
            let tasks = plural(graph.summary().tasks.total(), "task");
            let least = time(self.least_ns);
            said.push(format!(
                "of {tasks}, neighbours shorter than {least} are merged into slices that say how many they are"
            ));
        }
        if contexts > self.lanes.len() {
            let (contexts, lanes) = (contexts as u64, self.lanes.len() as u64);
            let (contexts, lanes) = (plural(contexts, "context"), plural(lanes, "track"));
            said.push(format!("{contexts} that do not overlap share {lanes}"));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// Whether a task is shown by itself wherever it is.
    pub(super) fn shows(&self, task: &Task<'_>) -> bool {
        task.duration_ns() >= self.least_ns
    }

    /// The slices of a lane, in order.
    pub(super) fn slices<'g>(
        &'g self,
        graph: &'g Graph,
        lane: usize,
    ) -> impl Iterator<Item = Result<Slice<'g>>> + 'g {
        let contexts = self.lanes[lane].iter();
        let parts = contexts.flat_map(|&context| {
            let (parts, error) = match Parts::new(graph, context) {
                Ok(parts) => (Some(parts), None),
                Err(error) => (None, Some(Err(error))),
            };
            error.into_iter().chain(parts.into_iter().flatten())
        });
        Merge {
            parts,
            least_ns: self.least_ns,
            open: None,
            next: None,
        }
    }
}

/// Merges what is too short.
struct Merge<'g, I> {
    parts: I,
    least_ns: u64,
    open: Option<Slice<'g>>,
    next: Option<Slice<'g>>,
}

impl<'g, I: Iterator<Item = Result<Slice<'g>>>> Iterator for Merge<'g, I> {
    type Item = Result<Slice<'g>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(next) = self.next.take() {
            return Some(Ok(next));
        }
        loop {
            let slice = match self.parts.next() {
                None => return self.open.take().map(Ok),
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(slice)) => slice,
            };
            if slice.ns() >= self.least_ns {
                let Some(open) = self.open.take() else {
                    return Some(Ok(slice));
                };
                self.next = Some(slice);
                return Some(Ok(open));
            }
            self.open = Some(match self.open.take() {
                None => slice,
                Some(open) => open.and(&slice),
            });
        }
    }
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
