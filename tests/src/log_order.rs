//! Whether the order that a program logged is an order of the graph.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use taskgraph::{Mmap, SyncOp, TaskGraph, TaskId, TaskKind};

/// An array whose entries were written in the order in which something happened.
#[derive(Debug)]
pub struct Log {
    /// An atomic counter gave out the entries, and they were written after the counting: the
    /// synchronisation before each entry must come before that of the next. Otherwise the work that
    /// wrote an entry must come before the work that wrote the next.
    pub tickets: bool,
    /// Where the array is: once, or in the memory of each rank, which has some of the entries.
    pub bases: Vec<u64>,
    /// Number of entries.
    pub count: usize,
    /// Bytes of an entry.
    pub size: u64,
}

impl Log {
    /// The entry that is at this address.
    fn entry(&self, addr: u64) -> Option<usize> {
        let entries = self.bases.iter().map(|base| addr.wrapping_sub(*base) / self.size);
        let mut entries = entries.filter_map(|entry| usize::try_from(entry).ok());
        entries.find(|entry| *entry < self.count)
    }
}

/// Checks logs against a graph; returns how often an entry was written by another context than the
/// entry before.
///
/// # Errors
/// When an entry was not written, or the graph has another order.
pub fn check(logs: &[Log], graph: &TaskGraph<Mmap>) -> Result<usize> {
    let mut clocks = Clocks::new(graph);
    let mut writers: Vec<Vec<Option<TaskId>>> =
        logs.iter().map(|log| vec![None; log.count]).collect();
    let mut drawn = HashMap::new();
    for task in graph.tasks() {
        let task = task?;
        clocks.advance(task.id(), &task.dependencies()?);
        if task.op() == SyncOp::AtomicRmw {
            drawn.insert(task.id().context, task.id());
        }
        if task.kind() != TaskKind::Work {
            continue;
        }
        task.for_each_access(|a| {
            for (log, writers) in logs.iter().zip(&mut writers) {
                if a.write
                    && a.size == log.size
                    && let Some(entry) = log.entry(a.addr)
                {
                    // A pause for the writer may stand between the drawing and the writing.
                    writers[entry] = match log.tickets {
                        true => drawn.get(&task.id().context).copied(),
                        false => Some(task.id()),
                    };
                }
            }
        })?;
    }
    let mut changes = 0;
    for (number, writers) in writers.iter().enumerate() {
        let mut last: Option<TaskId> = None;
        for (entry, writer) in writers.iter().enumerate() {
            let task =
                writer.with_context(|| format!("log {number}: nobody wrote entry {entry}"))?;
            if let Some(before) = last {
                if !clocks.ordered(before, task) {
                    bail!(
                        "log {number}, entry {entry}: the graph does not put {before} before {task}"
                    );
                }
                changes += usize::from(before.context != task.context);
            }
            last = Some(task);
        }
    }
    Ok(changes)
}

/// For every task, how many tasks of each context are this task or come before it.
struct Clocks {
    contexts: usize,
    index: HashMap<u32, usize>,
    /// For each context, the tasks that have a direct predecessor in another context, with the
    /// numbers of what comes before them. The tasks that follow in the context have the same
    /// numbers except for their own context.
    of: Vec<Vec<(u32, Vec<u32>)>>,
}

impl Clocks {
    fn new(graph: &TaskGraph<Mmap>) -> Self {
        let index: HashMap<u32, usize> = graph.contexts().map(|c| c.id.get()).zip(0..).collect();
        Clocks { contexts: index.len(), of: vec![Vec::new(); index.len()], index }
    }

    fn before(&self, task: TaskId) -> Option<&[u32]> {
        let list = &self.of[self.index[&task.context.get()]];
        let after = list.partition_point(|(seq, _)| *seq <= task.seq);
        Some(&list[after.checked_sub(1)?].1)
    }

    /// Takes the next task; tasks come in a topological order.
    fn advance(&mut self, task: TaskId, before: &[TaskId]) {
        if before.is_empty() {
            return;
        }
        let own = self.before(task).map(<[u32]>::to_vec);
        let mut clock = own.unwrap_or_else(|| vec![0; self.contexts]);
        for before in before {
            if let Some(theirs) = self.before(*before) {
                for (mine, theirs) in clock.iter_mut().zip(theirs) {
                    *mine = (*mine).max(*theirs);
                }
            }
            let of = &mut clock[self.index[&before.context.get()]];
            *of = (*of).max(before.seq + 1);
        }
        let index = self.index[&task.context.get()];
        self.of[index].push((task.seq, clock));
    }

    fn ordered(&self, before: TaskId, after: TaskId) -> bool {
        if before.context == after.context {
            return before.seq <= after.seq;
        }
        let index = self.index[&before.context.get()];
        self.before(after).is_some_and(|c| c[index] > before.seq)
    }
}
