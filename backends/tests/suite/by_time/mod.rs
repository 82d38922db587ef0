//! The actions of all contexts in the order of time, one by one: what the driver's pieces are
//! compared with.
//!
//! Tasks have a start and an end but their actions have no times of their own: they are taken to be
//! evenly spread over the task, and over the time before it in which it could have begun. Analyses
//! that ask what contexts do to one another while they run at the same time read the graph this
//! way; task by task, two long tasks would seem to run one after the other.
//!
//! Memory is what is seen of one task for each context.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{Action, Context, ContextId, TaskId, TaskKind};

use contech_backends::analysis::Graph;

/// Fixed point of the time between two actions.
const FRACTION: u32 = 16;

#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    start_ns: u64,
    /// Time between two actions in `1 << FRACTION`ths of a nanosecond.
    step: u128,
}

impl Spread {
    fn new(start_ns: u64, end_ns: u64, count: u64) -> Self {
        let length = u128::from(end_ns.saturating_sub(start_ns));
        Self { start_ns, step: (length << FRACTION) / u128::from(count.max(1)) }
    }

    fn time(self, index: u64) -> u64 {
        let passed = (u128::from(index) * self.step + self.step / 2) >> FRACTION;
        self.start_ns.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

/// One context on its way through its tasks.
struct Stream<T> {
    context: ContextId,
    next: u32,
    tasks: u32,
    free_ns: u64,
    inside: Option<Inside<T>>,
}

/// The task a context is in.
struct Inside<T> {
    actions: std::vec::IntoIter<T>,
    spread: Spread,
    index: u64,
    count: u64,
}

/// Calls `each` with what `see` sees of every action of the graph, its context (by position in
/// `Graph::contexts`) and its time. A context keeps its turn for `slice_ns` after another one would
/// be due.
///
/// # Errors
/// When the graph cannot be read.
pub(crate) fn by_time<T>(
    graph: &Graph,
    slice_ns: u64,
    see: impl Fn(&Action<'_>) -> T,
    mut each: impl FnMut(u32, u64, T),
) -> Result<()> {
    let stream = |context: Context| Stream {
        context: context.id,
        next: 0,
        tasks: context.task_count,
        free_ns: context.first_ns,
        inside: None,
    };
    let firsts: Vec<u64> = graph.contexts().map(|context| context.first_ns).collect();
    let mut streams: Vec<Stream<T>> = graph.contexts().map(stream).collect();
    let mut due: BinaryHeap<Reverse<(u64, u32)>> =
        firsts.into_iter().zip(0..).map(Reverse).collect();
    while let Some(Reverse((_, number))) = due.pop() {
        let other = due.peek().map(|next| next.0);
        let stream = &mut streams[number as usize];
        // The context runs until it is another one's turn.
        let runs =
            |time: u64| other.is_none_or(|other| (time.saturating_sub(slice_ns), number) < other);
        if let Some(time) = stream.run(graph, runs, &see, |time, seen| each(number, time, seen))? {
            due.push(Reverse((time, number)));
        }
    }
    Ok(())
}

impl<T> Stream<T> {
    /// Runs while `runs` says so; the time of the next action, `None` when there is no more.
    fn run(
        &mut self,
        graph: &Graph,
        runs: impl Fn(u64) -> bool,
        see: &impl Fn(&Action<'_>) -> T,
        mut each: impl FnMut(u64, T),
    ) -> Result<Option<u64>> {
        loop {
            if let Some(inside) = &mut self.inside {
                while inside.index < inside.count {
                    let time = inside.spread.time(inside.index);
                    if !runs(time) {
                        return Ok(Some(time));
                    }
                    inside.index += 1;
                    match inside.actions.next() {
                        Some(seen) => each(time, seen),
                        None => break,
                    }
                }
                self.inside = None;
            }
            if !self.enter(graph, see)? {
                return Ok(None);
            }
        }
    }

    /// Goes to the next task with actions; false when there is none.
    fn enter(&mut self, graph: &Graph, see: &impl Fn(&Action<'_>) -> T) -> Result<bool> {
        while self.next < self.tasks {
            let task = graph.task(TaskId::new(self.context, self.next))?;
            self.next += 1;
            let free_ns = std::mem::replace(&mut self.free_ns, task.end_ns());
            if task.kind() == TaskKind::Work && !task.spans().is_empty() {
                let count = task.action_count();
                let mut ready_ns = free_ns;
                for &before in task.stored_dependencies() {
                    ready_ns = ready_ns.max(graph.task(before)?.end_ns());
                }
                let start_ns = ready_ns.min(task.start_ns());
                let spread = Spread::new(start_ns, task.end_ns(), count);
                let mut actions = Vec::new();
                task.for_each_action(|action| actions.push(see(&action)))?;
                self.inside =
                    Some(Inside { actions: actions.into_iter(), spread, index: 0, count });
                return Ok(true);
            }
        }
        Ok(false)
    }
}
