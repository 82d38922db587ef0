//! Where contexts wait: the call, and the caller of its function if that function is only a wrapper.

use anyhow::Result;
use taskgraph::{BlockId, CallStack, TaskId, TaskKind};

use super::weights::Weights;
use crate::analysis::source::Place;
use crate::analysis::{Graph, LongCall, long_call};

/// Number of tasks before a wait that are searched for executed code.
const LOOK_BACK: u32 = 16;
/// A function is a wrapper if each of its calls executes at most this many IR instructions.
const WRAPPER: u64 = 200;
/// The largest number of nested wrappers that are followed.
const DEEP: usize = 4;

/// A place where contexts wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Site {
    pub(super) place: Place,
    /// Where in the wrapper contexts wait, if a wrapper is called at `place`.
    pub(super) inner: Option<Place>,
}

/// The call that a task waits in.
///
/// # Errors
/// When a task cannot be read.
pub(super) fn of_wait(graph: &Graph, weights: &Weights, waits: TaskId) -> Result<Option<Site>> {
    let info = graph.info();
    let (mut stack, mut tasks, mut at) = (CallStack::default(), Vec::new(), Some(waits));
    // A task that waits in a call contains that call itself.
    if graph.task(waits)?.kind() != TaskKind::Work {
        at = waits.previous();
    }
    for _ in 0..LOOK_BACK {
        let Some(id) = at else { break };
        let found = graph.task(id)?;
        if found.kind() == TaskKind::Work && found.block_count() > 0 {
            tasks.push(found);
        }
        at = id.previous();
    }
    let (mut last, mut found) = (None, false);
    for task in tasks.iter().rev() {
        let waiting = Some(task).filter(|task| task.id() == waits);
        // A task that waits in one of its calls may go on to others.
        let call = waiting.and_then(long_call).and_then(LongCall::block);
        task.for_each_block(|block| {
            if !found {
                stack.step(info, block.id());
                last = Some(block.id());
            }
            found |= call.is_some() && call == last;
        })?;
    }
    let Some(last) = last else { return Ok(None) };
    let call = |block: BlockId| {
        Place::of_call(info, block).map_or_else(|| Place::of_block(info, block), |call| call.0)
    };
    let mut frames = stack.frames().iter().rev();
    let mut site = Site {
        place: call(last),
        inner: None,
    };
    for _ in 0..DEEP {
        let Some(frame) = frames.next() else { break };
        let Some(caller) = frame.called_from else {
            break;
        };
        if weights.each_call(frame.function) > WRAPPER {
            break;
        }
        site.inner.get_or_insert_with(|| site.place.clone());
        site.place = call(caller);
    }
    Ok(Some(site))
}
