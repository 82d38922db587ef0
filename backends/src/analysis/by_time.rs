//! The actions of all contexts in the order of time.
//!
//! Analyses that ask what contexts do to one another while they run at the same time read the graph in this way: task
//! by task, two long tasks would seem to run one after the other. It takes the memory of one decoded frame (about a
//! megabyte) for each context that is alive at one time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;
use taskgraph::{ContextId, Mmap, Piece, Reader, TaskKind, Walk};

use super::moment::ready_ns;
use super::{Graph, Moment, Order};

/// Takes what tasks do, in a pass by time.
pub(super) trait Takes {
    /// A piece of a context's actions.
    ///
    /// # Errors
    /// What makes going on useless.
    fn piece(&mut self, at: &Moment, piece: &Piece<'_>) -> Result<()>;
    /// The context at this position has no more actions.
    fn context_ended(&mut self, context: (u32, ContextId));
}

/// One context on its way through its tasks.
struct Stream<'g> {
    context: ContextId,
    number: u32,
    /// When its last task ended.
    free_ns: u64,
    /// Its tasks, from the first turn to the last.
    tasks: Option<Box<Walk<'g, Mmap>>>,
    /// The current task, from the first task with actions to the last.
    inside: Option<Box<Inside<'g>>>,
}

/// What has become of a piece.
enum Step {
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

/// How far a context goes in its turn, ns.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// Until the other contexts are due; `None` if one is due already.
    due: Option<u64>,
    /// As `due`, for blocks and accesses.
    blocks: Option<u64>,
}

/// Hands out all actions of the graph, in an order by time.
///
/// # Errors
/// When the graph cannot be read, or the taker fails.
pub(super) fn by_time(
    graph: &Graph,
    order: Order,
    taker: &mut (impl Takes + ?Sized),
) -> Result<()> {
    let mut due = BinaryHeap::new();
    let mut streams = Vec::new();
    for (number, context) in (0..).zip(graph.contexts()) {
        due.push(Reverse((context.first_ns, number)));
        streams.push(Stream {
            context: context.id,
            number,
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
    while let Some(Reverse((now, number))) = due.pop() {
        let stream = &mut streams[number as usize];
        let limit: Option<u64> = match due.peek() {
            None => Some(u64::MAX),
            // Of two contexts that are due at one time, the one with the lower number is first.
            Some(Reverse((time, other))) if number < *other => Some(time.saturating_add(slice_ns)),
            Some(Reverse((time, _))) => time.checked_sub(1).map(|t| t.saturating_add(slice_ns)),
        };
        // The end of the stretch that this turn begins in.
        let rest = now
            .checked_div(stretch_ns)
            .map(|stretch| (stretch + 1).saturating_mul(stretch_ns) - 1);
        let turn = Turn {
            due: limit,
            blocks: limit.max(rest),
        };
        match stream.run(graph, turn, taker)? {
            Some(time) => due.push(Reverse((time, number))),
            None => taker.context_ended((number, stream.context)),
        }
    }
    Ok(())
}

impl<'g> Stream<'g> {
    /// Runs until its turn ends. Returns the time of the next action, or `None` if there are no more.
    fn run(
        &mut self,
        graph: &'g Graph,
        turn: Turn,
        taker: &mut (impl Takes + ?Sized),
    ) -> Result<Option<u64>> {
        loop {
            if let Some(inside) = &mut self.inside {
                while inside.left > 0 {
                    match inside.piece(turn, taker)? {
                        Step::Done => {}
                        Step::Due => return Ok(Some(inside.moment.time())),
                        Step::End => break,
                    }
                }
            }
            if !self.enter(graph)? {
                (self.inside, self.tasks) = (None, None);
                return Ok(None);
            }
        }
    }

    /// Goes to the next task with actions. Returns false if there is none.
    fn enter(&mut self, graph: &'g Graph) -> Result<bool> {
        let (context, number) = (self.context, self.number);
        let new = || Box::new(graph.walk_of(context));
        let tasks = self.tasks.get_or_insert_with(new);
        while let Some(task) = tasks.next()? {
            let free_ns = std::mem::replace(&mut self.free_ns, task.end_ns());
            if task.kind() == TaskKind::Work && !task.spans().is_empty() {
                let inside = self.inside.get_or_insert_with(|| {
                    Box::new(Inside {
                        reader: Reader::new(graph, 1),
                        piece: 0,
                        offset: 0,
                        moment: Moment::default(),
                        left: 0,
                    })
                });
                inside.reader.open(task);
                (inside.piece, inside.offset) = (0, 0);
                let ready_ns = ready_ns(task, free_ns)?;
                inside.moment = Moment::of(number, ready_ns, task.end_ns(), task.action_count());
                inside.left = task.action_count();
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Inside<'_> {
    /// The actions of the current piece that are in this turn.
    fn piece(&mut self, turn: Turn, taker: &mut (impl Takes + ?Sized)) -> Result<Step> {
        let Some(piece) = self.reader.batch().piece(self.piece) else {
            (self.piece, self.offset) = (0, 0);
            return Ok(match self.reader.next()? {
                Some(_) => Step::Done,
                None => Step::End,
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
            return Ok(Step::Due);
        }
        let (from, all) = (self.offset, piece.actions());
        let to = all.min(from.saturating_add(most.min(self.left)));
        let start = self.moment;
        piece.for_each_part(from..to, |first, part| {
            taker.piece(&start.later(first - from), part)
        })?;
        self.moment = start.later(to - from);
        self.left -= to - from;
        self.offset = to;
        if to == all {
            (self.piece, self.offset) = (self.piece + 1, 0);
        }
        Ok(Step::Done)
    }
}
