//! The breadth-first order of a graph, with ties broken by start time (contech.txt, section 4.2).
//!
//! Every context is a chain, so at most one task of each context can be next. Therefore the order
//! needs memory for the contexts (about 100 bytes each), not for the tasks. It is found before the
//! tasks are written, because edges that a damaged trace contradicts are dropped here.

mod search;
mod skeleton;

use std::sync::Arc;

use taskgraph::TaskId;

use self::search::Search;
pub(crate) use self::skeleton::{ContextTasks, Skeleton};
use crate::error::Result;
use crate::sorter::Sorted;
use crate::spill::Spill;

/// A task that waits for a task that comes after it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stuck {
    pub(crate) task: TaskId,
    pub(crate) needs: TaskId,
}

/// Emits all tasks in order. A contradiction ends the search, unless `drop_contradictions` is set:
/// then the edges that the oldest waiting task waits for are dropped, and returned as `[to, from]`.
pub(crate) fn breadth_first(
    skeleton: &Skeleton,
    spill: &Arc<Spill>,
    budget: usize,
    drop_contradictions: bool,
    emit: impl FnMut(TaskId) -> Result<()>,
) -> Result<std::result::Result<Sorted<2>, Stuck>> {
    let mut search = Search::start(skeleton, spill, budget, emit)?;
    loop {
        search.emit_ready()?;
        let Some(oldest) = search.oldest_waiting()? else {
            return search.finish().map(Ok);
        };
        if !drop_contradictions {
            return Ok(Err(search.stuck(oldest)?));
        }
        search.force(oldest)?;
    }
}
