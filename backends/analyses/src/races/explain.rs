//! Why nothing orders the two sides of a race, in one sentence: how much of one side's context
//! comes before the other side, and which locks each side holds. And the calls that led to each
//! side.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use taskgraph::{Action, BlockId, CallStack, Mmap, Piece, Reader, StaticInfo, TaskId, TaskKind};

use super::tally::{Doubt, Example};
use super::variables::Variables;
use crate::analysis::calls::follow;
use crate::analysis::locks::{Held, Locks, each_synchronisation};
use crate::analysis::source::Place;
use crate::analysis::{Graph, Task};

/// The most calls that are told of a side.
const CALLS: usize = 16;
/// In windows of a run, stacks are followed from so many tasks before.
const LOOK_BACK: u32 = 512;

/// A place in what a task does: where it first executes a block, or where it begins.
pub(super) type Spot = (TaskId, Option<BlockId>);

/// What a context is in the middle of.
#[derive(Debug, Default)]
pub(super) struct Moment {
    pub(super) held: Vec<Held>,
    /// The calls that led there, the innermost first, without those by libraries.
    pub(super) callers: Vec<Place>,
    /// The call under way.
    pub(super) call: Option<Place>,
}

/// What contexts are in the middle of at some spots.
#[derive(Debug, Default)]
pub(super) struct Moments(BTreeMap<Spot, Moment>);

impl Moments {
    /// Follows contexts from their starts to all spots. If `near`, calls are followed only from
    /// shortly before.
    pub(super) fn of(graph: &Graph, spots: impl Iterator<Item = Spot>, near: bool) -> Result<Self> {
        let wanted: BTreeSet<Spot> = spots.collect();
        let wanted: Vec<Spot> = wanted.into_iter().collect();
        let mut found = BTreeMap::new();
        let mut reader = Reader::new(graph, 1).without_accesses();
        for own in wanted.chunk_by(|a, b| a.0.context == b.0.context) {
            let mut way = ContextWalk::new(graph.info(), &mut found);
            let mut wanted = own.chunk_by(|a, b| a.0 == b.0).peekable();
            let mut tasks = graph.walk_of(own[0].0.context);
            while let Some(task) = tasks.next()? {
                if near && task.id().seq + LOOK_BACK < own[0].0.seq {
                    each_synchronisation(&mut reader, task, |op, object| {
                        way.held.see(op, object);
                        Ok(())
                    })?;
                    continue;
                }
                let open = wanted.next_if(|spots| spots[0].0 == task.id());
                way.open = open.into_iter().flatten().map(|spot| spot.1).collect();
                way.task(&mut reader, task)?;
                if wanted.peek().is_none() {
                    break;
                }
            }
        }
        Ok(Self(found))
    }

    pub(super) fn at(&self, spot: Spot) -> Option<&Moment> {
        self.0.get(&spot)
    }

    /// All locks that are held at any spot.
    pub(super) fn locks(&self) -> impl Iterator<Item = u64> {
        self.0.values().flat_map(|at| &at.held).map(|lock| lock.object)
    }
}

/// The way of a context through its tasks.
struct ContextWalk<'a> {
    info: &'a StaticInfo,
    stack: CallStack,
    held: Locks,
    task: TaskId,
    /// The spots of the task that it has not come to.
    open: BTreeSet<Option<BlockId>>,
    found: &'a mut BTreeMap<Spot, Moment>,
}

impl<'a> ContextWalk<'a> {
    fn new(info: &'a StaticInfo, found: &'a mut BTreeMap<Spot, Moment>) -> Self {
        Self {
            info,
            stack: CallStack::default(),
            held: Locks::default(),
            task: TaskId::default(),
            open: BTreeSet::new(),
            found,
        }
    }

    fn task<'g>(&mut self, reader: &mut Reader<'g, Mmap>, task: &Task<'g>) -> Result<()> {
        self.task = task.id();
        let stack = std::mem::take(&mut self.stack);
        self.come_to(&stack, None);
        self.stack = stack;
        reader.open(task);
        while let Some(batch) = reader.next()? {
            for piece in batch.pieces() {
                self.piece(&piece);
            }
        }
        // What the task does not execute, if there is such a thing, is where it ends.
        let stack = std::mem::take(&mut self.stack);
        while let Some(spot) = self.open.first().copied() {
            self.come_to(&stack, spot);
        }
        self.stack = stack;
        Ok(())
    }

    fn piece(&mut self, piece: &Piece<'_>) {
        if let Piece::Action(Action::Sync { op, object }) = piece {
            self.held.see(*op, *object);
        }
        let mut stack = std::mem::take(&mut self.stack);
        follow(&mut stack, self.info, piece, |stack, block, _| self.come_to(stack, Some(block)));
        self.stack = stack;
    }

    /// Comes to a spot, which may be the end or the start of the task, with these calls under way.
    fn come_to(&mut self, stack: &CallStack, spot: Option<BlockId>) {
        if !self.open.remove(&spot) {
            return;
        }
        let place = |block| Place::of_call_or_block(self.info, block).0;
        let frames = stack.frames();
        let calls = frames.iter().rev().filter_map(|frame| frame.called_from);
        let callers = calls.map(place).filter(|place| !place.is_library());
        let moment = Moment {
            held: self.held.all().to_vec(),
            callers: callers.take(CALLS).collect(),
            call: frames.last().and_then(|top| top.call()).map(place),
        };
        self.found.insert((self.task, spot), moment);
    }
}

/// What may have ordered a pair of accesses that the graph does not order.
pub(super) fn doubt(graph: &Graph, doubt: Doubt) -> String {
    match doubt {
        Doubt::Unannounced => {
            let libraries = graph.meta().thread_libraries.join(" and ");
            let by = match libraries.as_str() {
                "" => "code that is not recorded",
                some => some,
            };
            format!("one side is in a thread that {by} made, and what that does is not recorded")
        }
        Doubt::Ring => "one side is in a thread that hands work to the kernel (io_uring), and what that orders is not recorded".to_owned(),
    }
}

/// The missing order of a race, of whose example the first and the second task are in the middle of
/// something.
pub(super) fn sentence(
    graph: &Graph,
    sides: [Option<&Moment>; 2],
    variables: &Variables,
    example: &Example,
    atomics: bool,
) -> Result<String> {
    let (first, second) = (example.first, example.second);
    let follows = match example.known.checked_sub(1) {
        None => format!("No task of context {} comes before {second}", first.context),
        Some(seq) => {
            let last = graph.task(TaskId::new(first.context, seq))?;
            let what = match last.kind() {
                TaskKind::Work => String::new(),
                _ => format!(" ({})", last.op()),
            };
            format!(
                "Task {second} follows context {} only up to task {}{what}, and {first} is later",
                first.context,
                last.id()
            )
        }
    };
    let atomics = if atomics {
        "; the two contexts also use a common atomic variable, whose order the graph does not have"
    } else {
        ""
    };
    let held = sides.map(|side| side.map_or(&[][..], |side| &side.held));
    let locks = in_words(variables, held, first, second);
    Ok(format!("{follows}; {locks}{atomics}."))
}

fn in_words(variables: &Variables, [first, second]: [&[Held]; 2], a: TaskId, b: TaskId) -> String {
    let name = |object: u64| match variables.name(object) {
        Some(name) => format!("{name} ({object:#x})"),
        None => format!("{object:#x}"),
    };
    let common = first.iter().find(|held| second.iter().any(|other| other.object == held.object));
    let names = |held: &[Held]| {
        let all: Vec<String> = held.iter().map(|lock| name(lock.object)).collect();
        all.join(" and ")
    };
    match (first.is_empty(), second.is_empty(), common) {
        (_, _, Some(lock)) if lock.shared => {
            format!("both hold lock {}, but not both exclusively", name(lock.object))
        }
        (_, _, Some(lock)) => {
            format!("both hold lock {}, but no edge orders its holders", name(lock.object))
        }
        (true, true, _) => "neither holds a lock".to_owned(),
        (false, true, _) => format!("{a} holds lock {}, {b} holds none", names(first)),
        (true, false, _) => format!("{b} holds lock {}, {a} holds none", names(second)),
        (false, false, None) => {
            format!("{a} holds lock {}, {b} holds {}: not the same", names(first), names(second))
        }
    }
}
