//! The actions of all contexts in the order of time.
//!
//! Analyses that ask what contexts do to one another while they run at the same time read the graph
//! in this way: task by task, two long tasks would seem to run one after the other. It takes the
//! memory of one decoded frame (about a megabyte) for each context that is alive at one time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{ContextId, Mmap, Piece, Reader, TaskKind, Walk};

use super::executors::Executors;
use super::moment::ready_ns;
use super::{Graph, Moment, Order, Visitor};

/// Which context is due when.
struct Due {
    /// The contexts of each executor.
    contexts: Vec<BinaryHeap<Reverse<(u64, u32)>>>,
    /// When the first context of each executor is due, and the executor; and entries that were such
    /// once.
    executors: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Due {
    fn push(&mut self, executor: u32, time: u64, context: u32) {
        self.contexts[executor as usize].push(Reverse((time, context)));
    }

    /// Enters an executor among those that are due.
    fn enter(&mut self, executor: u32) {
        if let Some((time, _)) = self.first_of(executor) {
            self.executors.push(Reverse((time, executor)));
        }
    }

    /// When the first context of an executor is due, and which it is.
    fn first_of(&self, executor: u32) -> Option<(u64, u32)> {
        self.contexts[executor as usize].peek().map(|first| first.0)
    }

    /// Takes the first context of an executor, if it is due by then.
    fn pop_of(&mut self, executor: u32, by: Option<u64>) -> Option<(u64, u32)> {
        let first = self.first_of(executor);
        let found = first.filter(|&(time, _)| Some(time) <= by)?;
        self.contexts[executor as usize].pop();
        Some(found)
    }

    /// When the first executor is due, and which it is.
    fn peek(&mut self) -> Option<(u64, u32)> {
        while let Some(&Reverse((time, executor))) = self.executors.peek() {
            if self.first_of(executor).map(|first| first.0) == Some(time) {
                return Some((time, executor));
            }
            self.executors.pop();
        }
        None
    }

    /// Takes the executor that is due first. It is not among the others until [`Due::enter`] is
    /// called.
    fn pop(&mut self) -> Option<u32> {
        let (_, executor) = self.peek()?;
        // It may have been entered more than once.
        while self.peek().is_some_and(|first| first.1 == executor) {
            self.executors.pop();
        }
        Some(executor)
    }
}

/// One context on its way through its tasks.
struct Stream<'g> {
    context: ContextId,
    number: u32,
    /// Who executes its current task, or will execute its first one.
    executor: u32,
    /// Whether it is in a task.
    begun: bool,
    /// When its last task ended.
    free_ns: u64,
    /// Its tasks, from the first turn to the last.
    tasks: Option<Box<Walk<'g, Mmap>>>,
    /// The current task, from the first task with actions to the last.
    inside: Option<Box<Inside<'g>>>,
}

/// What has become of a piece.
enum PieceEnd {
    Done,
    /// Another context is due first.
    Due,
    /// The task has no more pieces.
    End,
}

/// The task that a context is in, or was in.
struct Inside<'g> {
    reader: Reader<'g, Mmap>,
    /// Piece of the batch, and action within it.
    piece: usize,
    offset: u64,
    moment: Moment,
    /// Actions of the task that are still to come.
    left: u64,
}

/// Number of readers of contexts that have ended which are kept for others.
const SPARE: usize = 16;

/// How far a context goes in its turn, ns.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Until the other contexts are due; `None` if one is due already.
    due: Option<u64>,
    /// As `due`, for blocks and accesses.
    blocks: Option<u64>,
}

/// Hands out all actions of the graph, in an order by time.
pub(super) fn by_time(
    graph: &Graph,
    order: Order,
    visitors: &mut [&mut dyn Visitor],
) -> Result<()> {
    let mut executors = Executors::of(graph)?;
    let mut due = Due {
        contexts: vec![BinaryHeap::new(); graph.executor_count()],
        executors: BinaryHeap::new(),
    };
    let mut spare = Vec::new();
    let mut streams = Vec::new();
    for (number, context) in (0..).zip(graph.contexts()) {
        let first = executors.first(number, context.first_ns);
        if let Some((executor, time)) = first {
            due.push(executor, time, number);
        }
        streams.push(Stream {
            context: context.id,
            number,
            executor: first.map_or(0, |first| first.0),
            begun: false,
            free_ns: context.first_ns,
            tasks: None,
            inside: None,
        });
    }
    let (slice_ns, stretch_ns) = match order {
        Order::ByTime { slice_ns } => (slice_ns, 0),
        Order::Stretches { ns } => (0, ns.max(1)),
        _ => (0, 0),
    };
    let all = (0..).take(graph.executor_count());
    all.for_each(|executor| due.enter(executor));
    // Of two that are due at one time, the one with the lower number is first.
    let until = |time: u64, is_first: bool| match is_first {
        true => Some(time),
        false => time.checked_sub(1),
    };
    while let Some(executor) = due.pop() {
        let others = due.peek();
        let others = others.map(|(time, other)| until(time, executor < other));
        let others = others.map(|limit| limit.map(|limit| limit.saturating_add(slice_ns)));
        let limit: Option<u64> = others.unwrap_or(Some(u64::MAX));
        // The executor goes from context to context in its turn.
        while let Some((now, number)) = due.pop_of(executor, limit) {
            let stream = &mut streams[number as usize];
            let own = due.first_of(executor);
            let own = own.map(|(time, other)| until(time, number < other));
            let limit = limit.min(own.unwrap_or(Some(u64::MAX)));
            // The end of the stretch that this turn begins in.
            let rest = now
                .checked_div(stretch_ns)
                .map(|stretch| (stretch + 1).saturating_mul(stretch_ns) - 1);
            let turn = Turn { due: limit, blocks: limit.max(rest) };
            if let Some(time) = stream.run(graph, turn, (&mut executors, &mut spare), visitors)? {
                due.push(stream.executor, time, number);
                if stream.executor != executor {
                    due.enter(stream.executor);
                }
            }
        }
        due.enter(executor);
    }
    Ok(())
}

impl<'g> Stream<'g> {
    /// Runs until its turn ends. Returns the time of the next action, or `None` if there are no
    /// more.
    fn run(
        &mut self,
        graph: &'g Graph,
        turn: Turn,
        (executors, spare): (&mut Executors, &mut Vec<Inside<'g>>),
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<Option<u64>> {
        let executor = self.executor;
        loop {
            if let Some(inside) = &mut self.inside {
                while inside.left > 0 {
                    match inside.piece(turn, visitors)? {
                        PieceEnd::Done => {}
                        PieceEnd::Due => return Ok(Some(inside.moment.time())),
                        PieceEnd::End => break,
                    }
                }
            }
            if !self.enter(graph, (executors, spare), visitors)? {
                if spare.len() < SPARE {
                    spare.extend(self.inside.take().map(|inside| *inside));
                }
                (self.inside, self.tasks) = (None, None);
                return Ok(None);
            }
            if self.executor != executor {
                let time = self.inside.as_ref().map(|inside| inside.moment.time());
                return Ok(time);
            }
        }
    }

    /// Goes to the next task with actions. Returns false if there is none.
    fn enter(
        &mut self,
        graph: &'g Graph,
        (executors, spare): (&mut Executors, &mut Vec<Inside<'g>>),
        visitors: &mut [&mut dyn Visitor],
    ) -> Result<bool> {
        let mut done = |executor: u32| {
            if executors.done(executor) {
                visitors.iter_mut().for_each(|visitor| visitor.executor_ended(executor));
            }
        };
        if std::mem::take(&mut self.begun) {
            done(self.executor);
        }
        let (context, number) = (self.context, self.number);
        let new = || Box::new(graph.walk_of(context));
        let tasks = self.tasks.get_or_insert_with(new);
        while let Some(task) = tasks.next()? {
            let free_ns = std::mem::replace(&mut self.free_ns, task.end_ns());
            let executor = task.executor().get();
            if task.kind() == TaskKind::Work && !task.spans().is_empty() {
                let new = || Inside {
                    reader: Reader::new(graph, 1),
                    piece: 0,
                    offset: 0,
                    moment: Moment::default(),
                    left: 0,
                };
                let inside =
                    self.inside.get_or_insert_with(|| Box::new(spare.pop().unwrap_or_else(new)));
                inside.reader.open(task);
                (inside.piece, inside.offset) = (0, 0);
                // An executor of several contexts may have executed another one until then.
                let since = match executors.is_alone(executor) {
                    true => ready_ns(task, free_ns)?,
                    false => task.start_ns(),
                };
                inside.moment = Moment::since(number, task, since);
                inside.left = task.action_count();
                (self.executor, self.begun) = (executor, true);
                return Ok(true);
            }
            done(executor);
        }
        Ok(false)
    }
}

impl Inside<'_> {
    /// The actions of the current piece that are in this turn.
    fn piece(&mut self, turn: Turn, visitors: &mut [&mut dyn Visitor]) -> Result<PieceEnd> {
        let Some(piece) = self.reader.batch().piece(self.piece) else {
            (self.piece, self.offset) = (0, 0);
            return Ok(match self.reader.next()? {
                Some(_) => PieceEnd::Done,
                None => PieceEnd::End,
            });
        };
        let limit = match piece {
            Piece::Action(_) => turn.due,
            _ => turn.blocks,
        };
        let most = match limit {
            Some(limit) => self.moment.until(limit),
            None => 0,
        };
        if most == 0 {
            return Ok(PieceEnd::Due);
        }
        let (from, all) = (self.offset, piece.actions());
        let to = all.min(from.saturating_add(most.min(self.left)));
        let start = self.moment;
        piece.for_each_part(from..to, |first, part| {
            let at = start.later(first - from);
            visitors.iter_mut().try_for_each(|visitor| visitor.piece(&at, part))
        })?;
        self.moment = start.later(to - from);
        self.left -= to - from;
        self.offset = to;
        if to == all {
            (self.piece, self.offset) = (self.piece + 1, 0);
        }
        Ok(PieceEnd::Done)
    }
}
