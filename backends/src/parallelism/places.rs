//! Where in the source contexts wait: the call at the end of the last block before the wait, or the call that waits.

use anyhow::Result;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{BlockId, ContextId, TaskId, TaskKind};

use super::blocked::waiting_call;
use super::segments::Segments;
use super::state::{Cause, State};
use crate::analysis::Graph;
use crate::analysis::source::Place;

/// Tasks looked at before a wait for one that executed code.
const LOOK_BACK: u32 = 8;

/// The waits of one cause at one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WaitPlace {
    /// What is waited for.
    pub cause: Cause,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The function called there; empty when unknown.
    pub callee: String,
    /// How many waits.
    pub waits: u64,
    /// Context-nanoseconds spent in them.
    pub ns: u64,
}

/// Count and context-nanoseconds of waits, by cause and the last block before.
type Groups = FxHashMap<(Cause, Option<BlockId>), (u64, u64)>;

/// All waits of a run by cause and place, the longest total first. Contexts are read in parallel; of the tasks' contents
/// only those before waits are decoded.
///
/// # Errors
/// When a task cannot be read.
pub(super) fn group(graph: &Graph) -> Result<Vec<WaitPlace>> {
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
    let mut places: Vec<WaitPlace> = Vec::new();
    let mut known: FxHashMap<(Cause, Place, String), usize> = FxHashMap::default();
    for ((cause, block), (waits, ns)) in groups {
        let (place, callee) = block.map_or_else(Default::default, |block| {
            let info = graph.info();
            Place::of_call(info, block)
                .unwrap_or_else(|| (Place::of_block(info, block), String::new()))
        });
        // Several blocks may end in calls on one line (a header inlined twice, an unrolled loop).
        let at = *known
            .entry((cause, place.clone(), callee.clone()))
            .or_insert(places.len());
        if at == places.len() {
            places.push(WaitPlace {
                cause,
                place,
                callee,
                waits: 0,
                ns: 0,
            });
        }
        places[at].waits += waits;
        places[at].ns += ns;
    }
    places.sort_by(|a, b| {
        (b.ns, a.cause, &a.place, &a.callee).cmp(&(a.ns, b.cause, &b.place, &b.callee))
    });
    Ok(places)
}

fn of_context(graph: &Graph, context: ContextId) -> Result<Groups> {
    let mut groups = Groups::default();
    for segment in Segments::new(graph, context)? {
        let segment = segment?;
        if let State::Waiting(cause) = segment.state {
            let at = match cause {
                Cause::Call => waiting_call(&graph.task(segment.task)?),
                _ => block_before(graph, segment.task)?,
            };
            let (waits, ns) = groups.entry((cause, at)).or_default();
            *waits += 1;
            *ns += segment.to_ns - segment.from_ns;
        }
    }
    Ok(groups)
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
