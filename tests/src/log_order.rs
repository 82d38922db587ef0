//! Whether the order that a program logged is an order of the graph.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use taskgraph::{Mmap, SyncOp, TaskGraph, TaskId, TaskKind};

use crate::happens_before::visit;

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
    let mut writers: Vec<Vec<Option<TaskId>>> =
        logs.iter().map(|log| vec![None; log.count]).collect();
    let mut drawn = HashMap::new();
    for task in graph.tasks() {
        let task = task?;
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
    // The entries of each task, in their order.
    let mut entries: HashMap<TaskId, Vec<(usize, u32)>> = HashMap::new();
    let mut changes = 0;
    for (number, writers) in writers.iter().enumerate() {
        let mut last: Option<TaskId> = None;
        for (entry, writer) in (0..).zip(writers) {
            let task =
                writer.with_context(|| format!("log {number}: nobody wrote entry {entry}"))?;
            entries.entry(task).or_default().push((number, entry));
            changes += usize::from(last.is_some_and(|before| before.context != task.context));
            last = Some(task);
        }
    }
    // Of each log it is known how many of its entries come before a task. They are all those before
    // the task's own one if each comes after the one before it.
    visit(graph, logs.len(), |task, known| {
        for (number, entry) in entries.remove(&task.id()).unwrap_or_default() {
            ensure!(
                known[number] == entry,
                "log {number}, entry {entry}: the graph puts {} entries before {}",
                known[number],
                task.id()
            );
            known[number] = entry + 1;
        }
        Ok(())
    })?;
    Ok(changes)
}
