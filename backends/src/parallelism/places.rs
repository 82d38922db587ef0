//! Where in the source contexts wait: the call at the end of the last block before the wait.

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{BlockId, TaskId, TaskKind};

use super::segments::Segment;
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

/// Groups waits by cause and place, the longest total first.
///
/// # Errors
/// When a task before a wait cannot be read.
pub(super) fn group(graph: &Graph, waits: &[Segment]) -> Result<Vec<WaitPlace>> {
    let mut groups: FxHashMap<(Cause, Option<BlockId>), (u64, u64)> = FxHashMap::default();
    for wait in waits {
        let State::Waiting(cause) = wait.state else {
            continue;
        };
        let (count, ns) = groups
            .entry((cause, block_before(graph, wait.task)?))
            .or_default();
        *count += 1;
        *ns += wait.to_ns - wait.from_ns;
    }
    let mut places: Vec<WaitPlace> = Vec::new();
    for ((cause, block), (waits, ns)) in groups {
        let (place, callee) = block.map_or_else(Default::default, |block| {
            let info = graph.info();
            Place::of_call(info, block)
                .unwrap_or_else(|| (Place::of_block(info, block), String::new()))
        });
        // Several blocks may end in calls on one line (a header inlined twice, an unrolled loop).
        let same = places
            .iter_mut()
            .find(|known| known.cause == cause && known.place == place && known.callee == callee);
        match same {
            Some(known) => {
                known.waits += waits;
                known.ns += ns;
            }
            None => places.push(WaitPlace {
                cause,
                place,
                callee,
                waits,
                ns,
            }),
        }
    }
    places.sort_by(|a, b| (b.ns, a.cause, &a.place).cmp(&(a.ns, b.cause, &b.place)));
    Ok(places)
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
