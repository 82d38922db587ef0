//! Where contexts wait: the call, and the caller of its function if that function is only a wrapper
//! or is a library's.

use std::ops::ControlFlow;

use anyhow::Result;
use taskgraph::{
    Action, BlockId, CallStack, Family, StaticInfo, SyncOp, TaskId, TaskKind, WaitCause,
};

use super::weights::Weights;
use crate::analysis::source::Place;
use crate::analysis::{Graph, LongCall, long_call};

/// Number of tasks before a wait that are searched for executed code, and of blocks beyond which no
/// further task is searched, and no earlier record of a task. Whoever waits for a lock may try it
/// many times before.
const LOOK_BACK: u32 = 512;
const BLOCKS: usize = 4096;
/// A function is a wrapper if each of its calls executes at most this many IR instructions.
const WRAPPER: u64 = 200;
/// The largest number of nested wrappers that are followed.
const DEEP: usize = 4;

/// A place where contexts wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Site {
    pub(super) place: Place,
    /// Where in the wrapper contexts wait, if a wrapper is called at `place`: in the program's own
    /// code, if any of the wrappers is.
    pub(super) inner: Option<Place>,
    /// The function in which contexts wait, if it has no code in the recording.
    pub(super) callee: Option<String>,
}

/// How a context came to a task: the call that the task is in, and the program's own block that
/// took a mutex last.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    pub(super) site: Site,
    pub(super) acquired: Option<BlockId>,
    /// The program's own calls that led to the site's, the innermost first, as far as they were
    /// seen.
    pub(super) callers: Vec<Place>,
}

/// Where a block calls or, if it does not, where it starts.
pub(super) fn call_of(info: &StaticInfo, block: BlockId) -> Place {
    Place::of_call(info, block).map_or_else(|| Place::of_block(info, block), |call| call.0)
}

/// The call that a task waits or ends a wait in. A task that takes several locks waits for this
/// one, if that is known.
///
/// # Errors
/// When a task cannot be read.
pub(super) fn arrival(
    graph: &Graph,
    weights: &Weights,
    waits: TaskId,
    lock: Option<u64>,
) -> Result<Option<Arrival>> {
    let info = graph.info();
    let Past { stack, last, acquired } = past(graph, waits, lock)?;
    let Some(last) = last else { return Ok(None) };
    let call = |block| call_of(info, block);
    // Whatever the program does, a library may take a lock of its own at one place.
    let acquired = acquired.into_iter().find(|block| !call(*block).is_library());
    let mut frames = stack.frames().iter().rev();
    let callee = info.block(last).and_then(|block| Some(block.call.as_ref()?.callee.clone()));
    let mut site = Site { place: call(last), inner: None, callee };
    let inlined = |block| Place::stack_of_call(info, block).into_iter();
    let (mut deep, mut callers) = (0, Vec::from_iter(inlined(last)));
    while let Some((frame, caller)) = frames.next().and_then(|f| Some((f, f.called_from?))) {
        if !site.place.is_library() {
            deep += 1;
            // What a library calls (`main` and the closure of a thread, in Rust) is no wrapper of
            // the library's.
            let begins = call(caller).is_library();
            if begins || deep > DEEP || weights.each_call(frame.function) > WRAPPER {
                callers.extend(inlined(caller));
                break;
            }
        }
        if site.inner.as_ref().is_none_or(Place::is_library) {
            site.inner = Some(site.place);
        }
        site.place = call(caller);
        callers = inlined(caller).collect();
    }
    callers.extend(frames.filter_map(|frame| frame.called_from).flat_map(inlined));
    // The call of the library came too long before. Its caller goes on after the wait.
    if site.place.is_library()
        && let Some(block) = next_outside_libraries(graph, waits)?
    {
        site.inner.get_or_insert_with(|| site.place.clone());
        site.place = Place::of_block(info, block);
    }
    callers.retain(|caller: &Place| !caller.is_library() && *caller != site.place);
    // A function that calls itself at one place is told once.
    callers.dedup();
    Ok(Some(Arrival { site, acquired, callers }))
}

/// What a context executed on its way to a wait.
struct Past {
    stack: CallStack,
    last: Option<BlockId>,
    /// The block before the last acquire of a mutex, and the calls that led to it, the innermost
    /// first.
    acquired: Vec<BlockId>,
}

/// How a context came to the wait in a task, for a lock if that is known, as far as is looked back.
fn past(graph: &Graph, waits: TaskId, lock: Option<u64>) -> Result<Past> {
    let info = graph.info();
    let (mut stack, mut tasks, mut at) = (CallStack::default(), Vec::new(), Some(waits));
    // A task that waits in a call contains that call itself, unless the call is the last thing
    // before it.
    if graph.task(waits)?.kind() != TaskKind::Work {
        at = waits.previous();
    }
    let mut blocks = 0_u64;
    for _ in 0..LOOK_BACK {
        let Some(id) = at.filter(|_| blocks < BLOCKS as u64) else {
            break;
        };
        let found = graph.task(id)?;
        if found.kind() != TaskKind::Work || found.block_count() > 0 {
            blocks += found.block_count();
            tasks.push(found);
        }
        at = id.previous();
    }
    let (mut last, mut acquired) = (None, Vec::new());
    for task in tasks.iter().rev() {
        if is_acquire(task.op()) && task.id() != waits {
            note_calls(&mut acquired, &stack, last);
        }
        let waiting = Some(task).filter(|task| task.id() == waits);
        // A task that waits in one of its calls, or for a lock, may go on to others.
        let call = waiting.and_then(long_call).and_then(LongCall::block);
        // Whether the context waits in an action, if it does so in this task.
        let mut step = |action: Action<'_>| match action {
            Action::Block(block) => {
                stack.step(info, block.id());
                last = Some(block.id());
                call.is_some() && call == last
            }
            Action::Sync { op, object } => {
                if is_acquire(op) {
                    note_calls(&mut acquired, &stack, last);
                }
                let awaited = lock.is_none_or(|lock| lock == object);
                call.is_none() && awaited && op.cause() == Some(WaitCause::Lock)
            }
            _ => false,
        };
        if waiting.is_none() {
            task.for_last_actions(BLOCKS, |action| {
                step(action);
            })?;
            continue;
        }
        task.try_for_each_action(|action| match step(action) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })?;
    }
    Ok(Past { stack, last, acquired })
}

/// Notes a block and the calls that led to it, the innermost first. (Most acquires are not the last
/// one, so this takes no memory for each.)
fn note_calls(into: &mut Vec<BlockId>, stack: &CallStack, last: Option<BlockId>) {
    into.clear();
    into.extend(last);
    into.extend(stack.frames().iter().rev().filter_map(|frame| frame.called_from));
}

/// Whether an operation takes a mutex. Who takes it back after a wait for a condition had it
/// before.
fn is_acquire(op: SyncOp) -> bool {
    let mutex = op.family() == Some(Family::Mutex) || op == SyncOp::AtomicTake;
    let takes = op.cause() == Some(WaitCause::Lock) && mutex;
    takes && op != SyncOp::CondReacquire
}

/// The first block of the program itself that a context executes after a wait.
fn next_outside_libraries(graph: &Graph, waits: TaskId) -> Result<Option<BlockId>> {
    let info = graph.info();
    let last = graph.context(waits.context).and_then(|c| c.last_task());
    for seq in (waits.seq + 1..=last.map_or(0, |last| last.seq)).take(LOOK_BACK as usize) {
        let task = graph.task(TaskId::new(waits.context, seq))?;
        let (mut found, mut seen) = (None, 0);
        let own = |block: &BlockId| !Place::of_block(info, *block).is_library();
        task.try_for_each_action(|action| {
            if let Action::Block(block) = action {
                found = Some(block.id()).filter(own);
                seen += 1;
            }
            match found.is_none() && seen < BLOCKS {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
