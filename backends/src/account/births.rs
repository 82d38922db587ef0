//! Contexts that nothing keeps from beginning: they were created, what they depend on is done, and no thread has a
//! processor to begin them on. While they are ready, no running context has too much of the work.

use anyhow::Result;
use taskgraph::{ContextId, SyncOp, TaskId};

use crate::analysis::Graph;

/// A context that goes on later than this after what it waited for had no processor, because waking takes less, ns.
pub(super) const LATE_NS: u64 = 100_000;

/// A context that begins at some time.
#[derive(Clone, Copy, Debug)]
struct Birth {
    at_ns: u64,
    context: ContextId,
    /// If it was looked up: from when on the context lacks a processor, and whether a thread was made for it.
    ready: Option<(u64, bool)>,
}

/// For how long contexts could have run and had not begun, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Late {
    /// Contexts with a thread of their own.
    pub(super) threads: u64,
    /// Contexts that any thread may run that has nothing else to do.
    pub(super) tasks: u64,
}

/// The contexts that have not begun yet.
#[derive(Debug)]
pub(super) struct Births {
    /// All, in the order in which they begin.
    all: Vec<Birth>,
    /// Number of those that have begun.
    begun: usize,
    /// Number of those to come that are looked at.
    most: usize,
}

impl Births {
    /// The contexts of a graph, of which at most `most` are looked at together.
    pub(super) fn of(graph: &Graph, most: usize) -> Self {
        let contexts = graph.contexts().filter(|context| context.task_count > 0);
        let births = contexts.map(|context| Birth {
            at_ns: context.first_ns,
            context: context.id,
            ready: None,
        });
        let mut all: Vec<Birth> = births.collect();
        all.sort_by_key(|birth| birth.at_ns);
        Self {
            all,
            begun: 0,
            most,
        }
    }

    /// A context begins. Those that begin soon after it are not asked what they wait for, so that storms of short tasks
    /// cost nothing.
    ///
    /// # Errors
    /// When a task cannot be read.
    pub(super) fn begin(&mut self, graph: &Graph, now_ns: u64) -> Result<()> {
        let rest = &self.all[self.begun..];
        self.begun += rest
            .iter()
            .take_while(|birth| birth.at_ns <= now_ns)
            .count();
        let next = self.all[self.begun..].iter_mut().take(self.most);
        for birth in next.filter(|birth| birth.ready.is_none()) {
            if birth.at_ns > now_ns + LATE_NS {
                birth.ready = Some(ready(graph, birth.context)?);
            }
        }
        Ok(())
    }

    /// What was late from one time to another.
    pub(super) fn late(&self, from_ns: u64, until_ns: u64) -> Late {
        let mut late = Late::default();
        let next = self.all[self.begun..].iter().take(self.most);
        for (ready, thread) in next.filter_map(|birth| birth.ready) {
            let ns = until_ns.saturating_sub(ready.max(from_ns));
            match thread {
                true => late.threads += ns,
                false => late.tasks += ns,
            }
        }
        late
    }
}

/// When a context lacks a processor: long after all that its first task depends on is done. And whether it was made
/// with a thread.
fn ready(graph: &Graph, context: ContextId) -> Result<(u64, bool)> {
    let first = graph.task(TaskId::new(context, 0))?;
    let (mut ready, mut thread) = (None, false);
    for &before in first.stored_dependencies() {
        let before = first.other(before)?;
        ready = ready.max(Some(before.end_ns()));
        thread |= matches!(before.op(), SyncOp::ThreadCreate | SyncOp::ParallelBegin);
    }
    let ready = ready.unwrap_or(u64::MAX);
    Ok((ready.saturating_add(LATE_NS), thread))
}
