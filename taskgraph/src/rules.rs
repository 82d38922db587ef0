//! What a writer refuses: tasks that the format has no form for, and tables that do not agree when
//! all is written. [`TaskGraph::verify`](crate::TaskGraph::verify) knows the other rules, and finds
//! the place where one is broken.

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Result, misuse};
use crate::id::TaskId;

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
    last: Option<TaskId>,
    incoming: EdgeSum,
    outgoing: EdgeSum,
    /// Numbers of tasks: those that were put, those in the order, and those of the contexts.
    tasks: [u64; 3],
}

impl WriteRules {
    fn off(&self) -> bool {
        #[cfg(test)]
        if self.off {
            return true;
        }
        false
    }

    /// Checks a task before it is written: of a run of tasks the file has only the first id.
    pub(crate) fn task(&mut self, id: TaskId, dependencies: &[TaskId]) -> Result<()> {
        let follows = match self.last.replace(id) {
            Some(last) if last.context >= id.context => id.previous() == Some(last),
            _ => id.seq == 0,
        };
        if !follows && !self.off() {
            return Err(misuse(format!("task {id} does not follow the tasks before it")));
        }
        dependencies.iter().for_each(|&from| self.incoming.add(from, id));
        self.tasks[0] += 1;
        Ok(())
    }

    /// Notes the successors of a task.
    pub(crate) fn dependents(&mut self, from: TaskId, to: &[TaskId]) {
        to.iter().for_each(|&to| self.outgoing.add(from, to));
    }

    /// Notes a task of the order.
    pub(crate) fn order(&mut self) {
        self.tasks[1] += 1;
    }

    /// Notes a context with so many tasks.
    pub(crate) fn context(&mut self, tasks: u32) {
        self.tasks[2] += u64::from(tasks);
    }

    /// Checks everything together before the file is completed.
    pub(crate) fn complete(&self) -> Result<()> {
        let [tasks, ordered, declared] = self.tasks;
        if self.off() || self.incoming == self.outgoing && tasks == ordered && tasks == declared {
            return Ok(());
        }
        let (i, o) = (self.incoming.edges, self.outgoing.edges);
        Err(misuse(format!(
            "{tasks} tasks were put, {ordered} in the order, {declared} by their contexts; and {i} dependencies and {o} dependents, which must be each other's reverse"
        )))
    }
}
