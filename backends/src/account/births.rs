//! Contexts that nothing keeps from beginning: they were created, what they depend on is done, and no thread has a
//! processor to begin them on. While they are ready, no running context has too much of the work.

use std::cmp::Reverse;

use anyhow::Result;
use taskgraph::{ContextId, SyncOp, TaskId};

use super::context::{Also, Lag};
use crate::analysis::{Graph, Task};

/// A context that goes on later than this after what it waited for had no processor, because waking takes less, ns.
pub(super) const LATE_NS: u64 = 100_000;

/// Number of contexts to come that are looked at.
const AHEAD: usize = 64;

/// A context that is seen first at some time, and begins then or later.
#[derive(Clone, Copy, Debug)]
struct Birth {
    at_ns: u64,
    context: ContextId,
    /// Its place among the contexts.
    place: usize,
    /// From when on the context lacks a processor, if it was looked up and no thread was made for it.
    ready: Option<u64>,
}

/// A thread that was made and has no processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thread {
    /// From when on.
    pub(super) ready_ns: u64,
    /// Its place among the contexts.
    pub(super) place: usize,
    pub(super) first: TaskId,
    /// The work of its first task, if that is work, and what the task does.
    pub(super) lag: Option<Lag>,
    pub(super) also: Also,
}

/// The contexts that have not begun yet.
#[derive(Debug)]
pub(super) struct Births {
    /// All, in the order in which they begin.
    all: Vec<Birth>,
    /// Number of those that were seen, and of those that were looked up.
    begun: usize,
    looked: usize,
    /// Number of those without a thread that could run together.
    most: usize,
    /// The threads among them, the first to lack a processor last.
    threads: Vec<Thread>,
}

impl Births {
    /// The contexts of a graph, of which `most` could run together.
    pub(super) fn of(graph: &Graph, most: usize) -> Self {
        let contexts = graph.contexts().filter(|context| context.task_count > 0);
        let births = contexts.enumerate().map(|(place, context)| Birth {
            at_ns: context.first_ns,
            context: context.id,
            place,
            ready: None,
        });
        let mut all: Vec<Birth> = births.collect();
        all.sort_by_key(|birth| birth.at_ns);
        Self {
            all,
            begun: 0,
            looked: 0,
            most,
            threads: Vec::new(),
        }
    }

    /// A context begins. Those that are seen next are asked what they wait for.
    ///
    /// # Errors
    /// When a task cannot be read.
    pub(super) fn begin(&mut self, graph: &Graph, now_ns: u64) -> Result<()> {
        let rest = &self.all[self.begun..];
        self.begun += rest
            .iter()
            .take_while(|birth| birth.at_ns <= now_ns)
            .count();
        let until = self.all.len().min(self.begun + AHEAD);
        let found = self.threads.len();
        for birth in &mut self.all[self.looked.min(until)..until] {
            let first = graph.task(TaskId::new(birth.context, 0))?;
            let (ready_ns, thread) = ready(&first)?;
            birth.ready = Some(ready_ns).filter(|_| !thread);
            if thread && ready_ns.max(now_ns) < first.start_ns() {
                self.threads.push(Thread {
                    ready_ns,
                    place: birth.place,
                    first: first.id(),
                    lag: Lag::of(&first),
                    also: Also::of(&first),
                });
            }
        }
        self.looked = self.looked.max(until);
        if self.threads.len() > found {
            self.threads.sort_by_key(|thread| Reverse(thread.ready_ns));
        }
        Ok(())
    }

    /// The next thread that lacks a processor at a time.
    pub(super) fn thread(&mut self, now_ns: u64) -> Option<Thread> {
        self.threads.pop_if(|thread| thread.ready_ns <= now_ns)
    }

    /// For how long (ns) contexts without a thread of their own could have run and had not begun, from one time to
    /// another. Any thread may run them that has nothing else to do.
    pub(super) fn late(&self, from_ns: u64, until_ns: u64) -> u64 {
        let next = self.all[self.begun..].iter().take(AHEAD);
        let ready = next.filter_map(|birth| birth.ready.filter(|&ready| ready < until_ns));
        let late = ready.map(|ready| until_ns - ready.max(from_ns));
        late.take(self.most).sum()
    }
}

/// When a context lacks a processor: long after all that its first task depends on is done. And whether it was made
/// with a thread.
fn ready(first: &Task<'_>) -> Result<(u64, bool)> {
    let (mut ready, mut thread) = (None, false);
    for &before in first.stored_dependencies() {
        let before = first.other(before)?;
        ready = ready.max(Some(before.end_ns()));
        thread |= matches!(before.op(), SyncOp::ThreadCreate | SyncOp::ParallelBegin);
    }
    let ready = ready.unwrap_or(u64::MAX);
    Ok((ready.saturating_add(LATE_NS), thread))
}
