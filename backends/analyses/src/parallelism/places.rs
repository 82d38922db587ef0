//! Where in the source contexts wait (at the call at the end of the last block before the wait, or
//! the call that waits), and where they run code that was not recorded.

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{BlockId, Context, TaskKind};

use crate::analysis::source::Place;
use crate::analysis::{
    Cause, Change, Graph, LEAST_NS, LongCall, State, Task, block_before, by_name, calls_others,
    is_operation,
};

/// The waits of one cause at one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitPlace {
    /// What is waited for.
    #[serde(serialize_with = "by_name")]
    pub cause: Cause,
    /// Where they wait.
    #[serde(flatten)]
    pub place: Place,
    /// The function called there; empty when unknown.
    pub callee: String,
    /// Number of waits.
    pub waits: u64,
    /// Context-nanoseconds spent in them.
    pub ns: u64,
}

/// Tasks that run for long in a call of code that was not recorded, such as a library's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutsidePlace {
    /// Where the code is called; empty if threads begin in it.
    #[serde(flatten)]
    pub place: Place,
    /// The function called; empty when unknown.
    pub callee: String,
    /// Whether a task calls others after it, too: which of them takes the time is not known.
    pub others: bool,
    /// Number of tasks.
    pub tasks: u64,
    /// Context-nanoseconds of these tasks.
    pub ns: u64,
}

/// The number and the context-nanoseconds of waits or of running in code that was not recorded, and
/// whether that may be other code which a task calls later.
type Sum = (u64, u64, bool);

/// By cause and block; `None` is the cause of running in code that was not recorded.
pub(super) type Groups = FxHashMap<(Option<Cause>, Option<BlockId>), Sum>;

/// All waits of a run by cause and place, and all calls of code that was not recorded, those with
/// the longest total first.
pub(super) fn rows(graph: &Graph, groups: Groups) -> (Vec<WaitPlace>, Vec<OutsidePlace>) {
    // Several blocks may end in calls on one line (a header inlined twice, an unrolled loop).
    let mut known: FxHashMap<(Option<Cause>, Place, String), Sum> = FxHashMap::default();
    for ((cause, block), (count, ns, others)) in groups {
        let call = block.map(|block| Place::of_call_or_block(graph.info(), block));
        let (place, mut callee) = call.unwrap_or_default();
        // An operation that waits has a cause. The last one before the thread lost its processor
        // did not.
        if cause == Some(Cause::Other) && is_operation(&callee) {
            callee.clear();
        }
        let sum = known.entry((cause, place, callee)).or_default();
        *sum = (sum.0 + count, sum.1 + ns, sum.2 | others);
    }
    let (mut waits, mut outside) = (Vec::new(), Vec::new());
    for ((cause, place, callee), (count, ns, others)) in known {
        match cause {
            Some(cause) => waits.push(WaitPlace { cause, place, callee, waits: count, ns }),
            None => outside.push(OutsidePlace { place, callee, others, tasks: count, ns }),
        }
    }
    waits.sort_by(|a, b| {
        (b.ns, a.cause, &a.place, &a.callee).cmp(&(a.ns, b.cause, &b.place, &b.callee))
    });
    outside.sort_by(|a, b| (b.ns, &a.place, &a.callee).cmp(&(a.ns, &b.place, &b.callee)));
    (waits, outside)
}

/// Adds a wait, or a call of code that was not recorded. Of the tasks, only the ends of those
/// before waits are read.
pub(super) fn note(groups: &mut Groups, change: &Change<'_>) -> Result<()> {
    let (Some(state), Some(task)) = (change.to, change.task) else {
        return Ok(());
    };
    let key = match (state, change.call) {
        (State::Waiting(Cause::Call), Some(call)) => (Some(Cause::Call), call.block()),
        (State::Waiting(cause), _) => (Some(cause), block_before(task)?),
        _ if change.ns < LEAST_NS => return Ok(()),
        (_, Some(LongCall::Works(block))) => (None, Some(block)),
        (_, None) if is_foreign(task) => (None, None),
        _ => return Ok(()),
    };
    let (count, sum, others) = groups.entry(key).or_default();
    *count += 1;
    *sum += change.ns;
    if let (None, Some(block)) = key {
        *others = *others || calls_others(task, block);
    }
    Ok(())
}

/// Whether a work task executes nothing that is recorded while other tasks do: its thread runs
/// another library's code. What a thread does last when its recording is cut is not known: a loop
/// is recorded when it ends.
fn is_foreign(task: &Task<'_>) -> bool {
    let graph = task.graph();
    let cut = || {
        let context = graph.context(task.id().context);
        context.is_some_and(|c| c.flags & Context::CUT != 0 && c.last_task() == Some(task.id()))
    };
    let recorded = graph.summary().blocks > 0;
    task.kind() == TaskKind::Work && task.block_count() == 0 && recorded && !cut()
}
