//! The rules that a writer must keep: the tables it is given must be in order and agree.

use rustc_hash::FxHashMap as HashMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::context::Context;
use crate::error::{Error, Result, misuse};
use crate::executor::Executor;
use crate::id::{ContextId, ExecutorId, TaskId};
use crate::record::TaskRecord;

/// A sum over a set of edges that does not depend on their order. It is equal for equal sets, and
/// different for other sets except with probability 2^-64. It compares incoming with outgoing edges
/// in constant memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EdgeSum {
    pub(crate) edges: u64,
    sum: u64,
}

impl EdgeSum {
    pub(crate) fn add(&mut self, from: TaskId, to: TaskId) {
        let mut key = [0; 16];
        let numbers = [from.context.get(), from.seq, to.context.get(), to.seq];
        for (bytes, n) in key.chunks_exact_mut(4).zip(numbers) {
            bytes.copy_from_slice(&n.to_le_bytes());
        }
        self.edges += 1;
        self.sum = self.sum.wrapping_add(xxh3_64(&key));
    }
}

/// The state of the checks of a writer.
#[derive(Debug, Default)]
pub(crate) struct WriteRules {
    /// Whether the rules are off, for tests that write broken graphs.
    #[cfg(test)]
    pub(crate) off: bool,
    /// Number of tasks of each context so far, in the order in which the contexts came.
    counts: Vec<(ContextId, u32)>,
    /// Number of them that are known to be contexts of the file, and the last context.
    declared: usize,
    last_context: Option<ContextId>,
    last_from: Option<TaskId>,
    incoming: EdgeSum,
    outgoing: EdgeSum,
    /// Next sequence number of each context in the order.
    next: HashMap<ContextId, u32>,
    ordered: u64,
    tasks: u64,
    /// The executor with the greatest number, and a task that has it.
    executor: Option<(ExecutorId, TaskId)>,
}

impl WriteRules {
    fn off(&self) -> bool {
        #[cfg(test)]
        if self.off {
            return true;
        }
        false
    }

    /// Checks a task before it is written.
    pub(crate) fn task(&mut self, task: &TaskRecord, dependencies: &[TaskId]) -> Result<()> {
        if self.executor.is_none_or(|(most, _)| most < task.executor) {
            self.executor = Some((task.executor, task.id));
        }
        if self.off() {
            return Ok(());
        }
        let id = task.id;
        match self.counts.last_mut() {
            Some((context, n)) if *context == id.context && *n == id.seq => *n += 1,
            Some((context, _)) if *context >= id.context || id.seq != 0 => {
                return Err(misuse(format!("task {id} does not follow the tasks before it")));
            }
            None if id.seq != 0 => {
                return Err(misuse(format!("task {id} is the first, not {}:0", id.context)));
            }
            _ => self.counts.push((id.context, 1)),
        }
        if id.seq == u32::MAX {
            return Err(misuse(format!("context {} has 2^32 tasks", id.context)));
        }
        if task.end_ns < task.start_ns {
            return Err(misuse(format!(
                "task {id} ends at {} before it starts at {}",
                task.end_ns, task.start_ns
            )));
        }
        ascending(id, dependencies, "dependencies")?;
        if let Some(d) = dependencies.iter().find(|d| d.context == id.context && d.seq >= id.seq) {
            return Err(misuse(format!(
                "task {id} depends on {d}, which is not before it in program order"
            )));
        }
        dependencies.iter().for_each(|&d| self.incoming.add(d, id));
        self.tasks += 1;
        Ok(())
    }

    /// Checks the successors of a task before they are written.
    pub(crate) fn dependents(&mut self, from: TaskId, to: &[TaskId]) -> Result<()> {
        if self.off() {
            return Ok(());
        }
        if let Some(last) = self.last_from.filter(|&last| last >= from) {
            return Err(misuse(format!("the dependents of {from} come after those of {last}")));
        }
        ascending(from, to, "dependents")?;
        self.last_from = Some(from);
        to.iter().for_each(|&t| self.outgoing.add(from, t));
        Ok(())
    }

    /// Checks a task of the order before it is written.
    pub(crate) fn order(&mut self, id: TaskId) -> Result<()> {
        if self.off() {
            return Ok(());
        }
        let next = self.next.entry(id.context).or_default();
        if *next != id.seq {
            return Err(misuse(format!(
                "the order has {id} where {}:{next} is the next of its context",
                id.context
            )));
        }
        *next += 1;
        self.ordered += 1;
        Ok(())
    }

    /// Checks the executors; if none are given, those that tasks have are returned.
    pub(crate) fn executors(&self, given: Vec<Executor>) -> Result<Vec<Executor>> {
        let Some((most, task)) = self.executor else {
            return Ok(given);
        };
        if given.is_empty() {
            let unknown = |number| Executor { id: ExecutorId::new(number), ..Executor::default() };
            return Ok((0..=most.get()).map(unknown).collect());
        }
        let numbered = (0..).zip(&given).all(|(at, e)| e.id.get() == at);
        if !numbered && !self.off() {
            return Err(misuse("the executors are not numbered 0, 1, 2, ..."));
        }
        if most.index() >= given.len() && !self.off() {
            return Err(misuse(format!(
                "task {task} has executor {most}, and there are {}",
                given.len()
            )));
        }
        Ok(given)
    }

    /// Checks a context, after all tasks.
    pub(crate) fn context(&mut self, context: &Context) -> Result<()> {
        if self.off() {
            return Ok(());
        }
        if self.last_context.replace(context.id) >= Some(context.id) {
            return Err(misuse("the contexts are not sorted by id"));
        }
        let own = (context.id, context.task_count);
        if context.task_count == 0 {
            return Ok(());
        }
        if self.counts.get(self.declared) != Some(&own) {
            return Err(disagree(match self.counts.contains(&own) {
                true => "a context is missing".into(),
                false => format!("context {} has not {} tasks", own.0, own.1),
            }));
        }
        self.declared += 1;
        Ok(())
    }

    /// Checks everything together before the file is completed.
    pub(crate) fn complete(&self) -> Result<()> {
        if self.off() {
            return Ok(());
        }
        if self.declared != self.counts.len() {
            return Err(disagree("a context is missing".into()));
        }
        if self.incoming != self.outgoing {
            let (i, o) = (self.incoming.edges, self.outgoing.edges);
            return Err(misuse(format!(
                "{i} dependencies and {o} dependents were put, and they are not each other's reverse"
            )));
        }
        if self.ordered != self.tasks {
            return Err(misuse(format!(
                "{} of {} tasks are in the order",
                self.ordered, self.tasks
            )));
        }
        Ok(())
    }
}

fn disagree(which: String) -> Error {
    misuse(format!("the contexts do not agree with the tasks put: {which}"))
}

fn ascending(of: TaskId, ids: &[TaskId], what: &str) -> Result<()> {
    if ids.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(misuse(format!("the {what} of task {of} are not sorted, or repeat one")))
}
