//! The chain of events that decided how long the run took: from the end of the run backwards, always to the
//! predecessor that finished last. Its parts (work, waiting that no work covers, delays between tasks) add up to the
//! run.
//!
//! The longest path of the graph says what an unlimited machine could not avoid. This chain says what held up this
//! run.

use std::collections::BTreeMap;

use anyhow::Result;
use taskgraph::{ContextId, TaskId, TaskKind};

use super::walk::Crossing;
use crate::analysis::{Graph, State, Task, cause_of, state_of};

/// The most pieces of the course; shorter ones are left out.
const PIECES: u64 = 2000;

/// Sums over the observed chain.
#[derive(Debug, Default)]
pub struct Chain {
    /// When the last task ended.
    pub end_ns: u64,
    /// Time in Work tasks.
    pub work_ns: u64,
    /// Time in Create tasks and operations that cannot block.
    pub operations_ns: u64,
    /// Time inside of waiting tasks after the event that they waited for, by cause.
    pub handover_ns: BTreeMap<Crossing, u64>,
    /// Time between the end of a task and the start of the task that depends on it, by cause.
    pub delay_ns: BTreeMap<Crossing, u64>,
    /// Time before the first task.
    pub before_ns: u64,
    /// Where the chain is, in order of time: context, from and until when. Pieces too short to be drawn are left out.
    pub course: Vec<(ContextId, u64, u64)>,
}

/// Walks the chain; calls `each` with every Work task on it and its time there.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn walk(
    graph: &Graph,
    last: Option<TaskId>,
    mut each: impl FnMut(&Task<'_>, u64),
) -> Result<Chain> {
    let mut chain = Chain::default();
    let Some(last) = last else { return Ok(chain) };
    let mut task = graph.task(last)?;
    let mut before = task.clone();
    let mut at = task.end_ns();
    chain.end_ns = at;
    let mut piece = (task.id().context, at, at);
    loop {
        let begins = !latest_predecessor(&task, &mut before)?;
        let arrived = if begins { 0 } else { before.end_ns() };
        let waiting = matches!(state_of(&task), State::Waiting(_));
        let from = if waiting {
            arrived.clamp(task.start_ns().min(at), at)
        } else {
            task.start_ns().min(at)
        };
        let cause = || cause(&before, &task);
        let spent = at - from;
        match task.kind() {
            _ if waiting => {
                let cause = if begins { Crossing::Other } else { cause() };
                *chain.handover_ns.entry(cause).or_default() += spent;
            }
            TaskKind::Work => {
                chain.work_ns += spent;
                each(&task, spent);
            }
            _ => chain.operations_ns += spent,
        }
        if piece.0 != task.id().context {
            chain.pass(piece);
            piece = (task.id().context, from, at);
        }
        piece.1 = from;
        at = from.min(arrived);
        if begins {
            chain.before_ns = from;
            chain.pass(piece);
            chain.course.reverse();
            return Ok(chain);
        }
        if from > at {
            *chain.delay_ns.entry(cause()).or_default() += from - at;
        }
        std::mem::swap(&mut task, &mut before);
    }
}

impl Chain {
    /// Adds a piece of the course, if it can be seen in a picture of the whole.
    fn pass(&mut self, piece: (ContextId, u64, u64)) {
        let least = self.end_ns / PIECES;
        if piece.2.saturating_sub(piece.1) > least {
            self.course.push(piece);
        }
    }
}

fn cause(before: &Task<'_>, task: &Task<'_>) -> Crossing {
    if before.id().context == task.id().context && before.kind() != TaskKind::Barrier {
        // No other task was late, so the rest is the operation's own cost.
        return cause_of(task).map_or(Crossing::Other, Crossing::from);
    }
    Crossing::of(before, task)
}

/// Takes `before` to the predecessor that ended last; if several did, to the one in the same context. Returns false if
/// there is none.
fn latest_predecessor<'g>(task: &Task<'g>, before: &mut Task<'g>) -> Result<bool> {
    let own = task.id().previous();
    if let Some(own) = own {
        before.go_to(own)?;
    }
    let mut found = own.is_some();
    for &id in task.stored_dependencies() {
        let other = task.other(id)?;
        if !found || other.end_ns() > before.end_ns() {
            *before = other;
        }
        found = true;
    }
    Ok(found)
}

/// The task that ends last among the last tasks of contexts.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn last_to_end(
    graph: &Graph,
    ends: impl Iterator<Item = TaskId>,
) -> Result<Option<TaskId>> {
    let mut last: Option<(u64, TaskId)> = None;
    for id in ends {
        let task = graph.task(id)?;
        if last.is_none_or(|(end, _)| task.end_ns() > end) {
            last = Some((task.end_ns(), id));
        }
    }
    Ok(last.map(|(_, id)| id))
}
