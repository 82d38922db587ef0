//! Why nothing orders the two sides of a race, in one sentence: how much of one side's context comes before the other
//! side, and which locks each side holds.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;
use taskgraph::{Reader, TaskId, TaskKind};

use super::tally::Example;
use crate::analysis::Graph;
use crate::analysis::locks::{Held, Locks, each_synchronisation};

/// Locks held in some tasks.
#[derive(Debug, Default)]
pub(super) struct HeldIn(BTreeMap<TaskId, Vec<Held>>);

impl HeldIn {
    /// Follows the contexts of `tasks` from their starts.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub(super) fn of_tasks(graph: &Graph, tasks: impl Iterator<Item = TaskId>) -> Result<Self> {
        let mut wanted: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
        for id in tasks {
            wanted.entry(id.context).or_default().insert(id.seq);
        }
        let mut found = BTreeMap::new();
        let mut reader = Reader::new(graph, 1).without_accesses();
        for (context, wanted) in wanted {
            let mut held = Locks::default();
            let last = wanted.last().copied().unwrap_or(0);
            let mut tasks = graph.walk_of(context);
            while let Some(task) = tasks.next()? {
                let id = task.id();
                if wanted.contains(&id.seq) {
                    found.insert(id, held.all().to_vec());
                }
                if id.seq == last {
                    break;
                }
                each_synchronisation(&mut reader, task, |op, object| {
                    held.see(op, object);
                    Ok(())
                })?;
            }
        }
        Ok(Self(found))
    }

    fn of(&self, id: TaskId) -> &[Held] {
        self.0.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// The missing order of a race.
///
/// # Errors
/// When the graph cannot be read.
pub(super) fn sentence(
    graph: &Graph,
    locks: &HeldIn,
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
    Ok(format!(
        "{follows}; {}{atomics}.",
        in_words(locks.of(first), locks.of(second), first, second)
    ))
}

fn in_words(first: &[Held], second: &[Held], a: TaskId, b: TaskId) -> String {
    let common = first
        .iter()
        .find(|held| second.iter().any(|other| other.object == held.object));
    let names = |held: &[Held]| {
        let all: Vec<String> = held
            .iter()
            .map(|lock| format!("{:#x}", lock.object))
            .collect();
        all.join(" and ")
    };
    match (first.is_empty(), second.is_empty(), common) {
        (_, _, Some(lock)) if lock.shared => format!(
            "both hold lock {:#x}, but not both exclusively",
            lock.object
        ),
        (_, _, Some(lock)) => format!(
            "both hold lock {:#x}, but no edge orders its holders",
            lock.object
        ),
        (true, true, _) => "neither holds a lock".to_owned(),
        (false, true, _) => format!("{a} holds lock {}, {b} holds none", names(first)),
        (true, false, _) => format!("{b} holds lock {}, {a} holds none", names(second)),
        (false, false, None) => format!(
            "{a} holds lock {}, {b} holds {}: not the same",
            names(first),
            names(second)
        ),
    }
}
