//! The actions of all contexts in the order of time, one by one: what the driver's pieces are
//! compared with.
//!
//! Tasks have a start and an end but their actions have no times of their own: they are taken to be
//! evenly spread over the task, and over the time before it in which it could have begun. Analyses
//! that ask what contexts do to one another while they run at the same time read the graph this
//! way; task by task, two long tasks would seem to run one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{Action, Context, TaskKind};

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

/// What `see` sees of a context's actions, each with its time.
fn actions<T>(
    graph: &Graph,
    context: &Context,
    see: &impl Fn(&Action<'_>) -> T,
) -> Result<Vec<(u64, T)>> {
    let mut all = Vec::new();
    let mut free_ns = context.first_ns;
    for task in graph.tasks_of(context.id) {
        let task = task?;
        let mut ready_ns = std::mem::replace(&mut free_ns, task.end_ns());
        if task.kind() != TaskKind::Work || task.spans().is_empty() {
            continue;
        }
        for &before in task.stored_dependencies() {
            ready_ns = ready_ns.max(graph.task(before)?.end_ns());
        }
        let start_ns = ready_ns.min(task.start_ns());
        let spread = Spread::new(start_ns, task.end_ns(), task.action_count());
        let mut index = 0;
        task.for_each_action(|action| {
            all.push((spread.time(index), see(&action)));
            index += 1;
        })?;
    }
    Ok(all)
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
    let (mut streams, mut due) = (Vec::new(), BinaryHeap::new());
    for (number, context) in (0..).zip(graph.contexts()) {
        streams.push(actions(graph, &context, &see)?.into_iter().peekable());
        due.push(Reverse((context.first_ns, number)));
    }
    while let Some(Reverse((_, number))) = due.pop() {
        let other = due.peek().map(|next| next.0);
        let stream = &mut streams[number as usize];
        // The context runs until it is another one's turn.
        let runs =
            |time: u64| other.is_none_or(|other| (time.saturating_sub(slice_ns), number) < other);
        while let Some((time, seen)) = stream.next_if(|(time, _)| runs(*time)) {
            each(number, time, seen);
        }
        due.extend(stream.peek().map(|(time, _)| Reverse((*time, number))));
    }
    Ok(())
}
