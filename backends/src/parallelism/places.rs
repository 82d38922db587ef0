//! Where in the source contexts wait (at the call at the end of the last block before the wait, or the call that
//! waits), and where they run code that was not recorded.

use anyhow::Result;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{BlockId, ContextId, TaskId, TaskKind};

use super::blocked::{LEAST_NS, LongCall, long_call, waiting_call};
use super::segments::Segments;
use super::state::{Cause, State};
use crate::analysis::source::Place;
use crate::analysis::{Graph, Task};

/// Number of tasks before a wait that are searched for one that executed code.
const LOOK_BACK: u32 = 8;

/// The waits of one cause at one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitPlace {
    /// What is waited for.
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
    /// Number of tasks.
    pub tasks: u64,
    /// Context-nanoseconds of these tasks.
    pub ns: u64,
}

/// By cause and block: the number and the context-nanoseconds of waits or, for `None`, of running in code that was
/// not recorded.
type Groups = FxHashMap<(Option<Cause>, Option<BlockId>), (u64, u64)>;

/// All waits of a run by cause and place, and all calls of code that was not recorded, those with the longest total
/// first. Contexts are read in parallel. Only tasks before waits, and long tasks of few blocks, are decoded.
///
/// # Errors
/// When a task cannot be read.
pub(super) fn group(graph: &Graph) -> Result<(Vec<WaitPlace>, Vec<OutsidePlace>)> {
    let contexts: Vec<ContextId> = graph.contexts().map(|context| context.id).collect();
    let add = |mut sums: Groups, more: Groups| {
        for (key, (waits, ns)) in more {
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + waits, sum.1 + ns);
        }
        Ok(sums)
    };
    let of_context = |&context: &ContextId| of_context(graph, context);
    let groups = contexts
        .par_iter()
        .map(of_context)
        .try_reduce(Groups::default, add)?;
    // Several blocks may end in calls on one line (a header inlined twice, an unrolled loop).
    let mut known: FxHashMap<(Option<Cause>, Place, String), (u64, u64)> = FxHashMap::default();
    for ((cause, block), (count, ns)) in groups {
        let (place, callee) = block.map_or_else(Default::default, |block| {
            let info = graph.info();
            Place::of_call(info, block)
                .unwrap_or_else(|| (Place::of_block(info, block), String::new()))
        });
        let sum = known.entry((cause, place, callee)).or_default();
        *sum = (sum.0 + count, sum.1 + ns);
    }
    let (mut waits, mut outside) = (Vec::new(), Vec::new());
    for ((cause, place, callee), (count, ns)) in known {
        match cause {
            Some(cause) => waits.push(WaitPlace {
                cause,
                place,
                callee,
                waits: count,
                ns,
            }),
            None => outside.push(OutsidePlace {
                place,
                callee,
                tasks: count,
                ns,
            }),
        }
    }
    waits.sort_by(|a, b| {
        (b.ns, a.cause, &a.place, &a.callee).cmp(&(a.ns, b.cause, &b.place, &b.callee))
    });
    outside.sort_by(|a, b| (b.ns, &a.place, &a.callee).cmp(&(a.ns, &b.place, &b.callee)));
    Ok((waits, outside))
}

fn of_context(graph: &Graph, context: ContextId) -> Result<Groups> {
    let mut groups = Groups::default();
    for segment in Segments::new(graph, context)? {
        let segment = segment?;
        let ns = segment.to_ns - segment.from_ns;
        let key = match segment.state {
            State::Waiting(Cause::Call) => {
                (Some(Cause::Call), waiting_call(&graph.task(segment.task)?))
            }
            State::Waiting(cause) => (Some(cause), block_before(graph, segment.task)?),
            _ if ns < LEAST_NS => continue,
            _ => {
                let task = graph.task(segment.task)?;
                match long_call(&task) {
                    Some(LongCall::Works(block)) => (None, Some(block)),
                    None if is_foreign(graph, &task) => (None, None),
                    _ => continue,
                }
            }
        };
        let (count, sum) = groups.entry(key).or_default();
        *count += 1;
        *sum += ns;
    }
    Ok(groups)
}

/// Whether a work task executes nothing that is recorded while other tasks do: its thread runs another library's
/// code.
fn is_foreign(graph: &Graph, task: &Task<'_>) -> bool {
    task.kind() == TaskKind::Work && task.block_count() == 0 && graph.summary().blocks > 0
}

/// The last block executed before `task` in its context.
fn block_before(graph: &Graph, task: TaskId) -> Result<Option<BlockId>> {
    let mut at = task;
    for _ in 0..LOOK_BACK {
        let Some(before) = at.previous() else { break };
        let found = graph.task(before)?;
        if found.kind() == TaskKind::Work {
            let mut last = None;
            found.for_each_block(|block| last = Some(block.id()))?;
            return Ok(last);
        }
        at = before;
    }
    Ok(None)
}
