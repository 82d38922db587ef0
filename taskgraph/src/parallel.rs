//! Runs over all tasks on many threads, each task after those it depends on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::Scope;
use rustc_hash::FxHashMap;

use crate::error::{Error, Result, malformed};
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::task::Task;

/// Which tasks are done and which wait for others. It takes memory for each context, not for each task.
#[derive(Debug, Default)]
struct Progress {
    /// Number of tasks done of each context.
    done: FxHashMap<ContextId, u32>,
    /// The tasks that are next in their contexts, by a task that they must wait for.
    waiting: FxHashMap<TaskId, Vec<TaskId>>,
    total: u64,
    error: Option<Error>,
}

impl Progress {
    fn is_done(&self, id: TaskId) -> bool {
        self.done.get(&id.context).is_some_and(|n| *n > id.seq)
    }
}

struct Run<'g, D, F> {
    graph: &'g TaskGraph<D>,
    f: F,
    progress: Mutex<Progress>,
    failed: AtomicBool,
}

impl<'g, D, F> Run<'g, D, F>
where
    D: AsRef<[u8]> + Sync,
    F: Fn(Task<'g, D>) -> Result<()> + Sync,
{
    /// Whether all predecessors of a task are done. If not, the task is looked at again after one of them.
    fn is_ready(&self, task: &Task<'_, D>) -> bool {
        let mut progress = self.lock();
        let missing = task.stored_dependencies().iter();
        let missing = missing.copied().find(|d| !progress.is_done(*d));
        if let Some(d) = missing {
            progress.waiting.entry(d).or_default().push(task.id());
        }
        missing.is_none()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task if it is ready, then what comes after it.
    fn start<'s>(&'s self, scope: &Scope<'s>, mut id: TaskId) {
        while !self.failed.load(Ordering::Relaxed) {
            match self.step(scope, id) {
                Ok(Some(next)) => id = next,
                Ok(None) => return,
                Err(e) => {
                    self.failed.store(true, Ordering::Relaxed);
                    self.lock().error.get_or_insert(e);
                    return;
                }
            }
        }
    }

    fn step<'s>(&'s self, scope: &Scope<'s>, id: TaskId) -> Result<Option<TaskId>> {
        let task = self.graph.task(id)?;
        if !self.is_ready(&task) {
            return Ok(None);
        }
        (self.f)(task)?;
        let waiters = {
            let mut progress = self.lock();
            progress.total += 1;
            progress.done.insert(id.context, id.seq + 1);
            progress.waiting.remove(&id).unwrap_or_default()
        };
        for waiter in waiters {
            scope.spawn(move |scope| self.start(scope, waiter));
        }
        let tasks = self.graph.task_count(id.context);
        let next = id.seq.checked_add(1).filter(|seq| *seq < tasks);
        Ok(next.map(|seq| TaskId::new(id.context, seq)))
    }
}

impl<D: AsRef<[u8]> + Sync> TaskGraph<D> {
    /// Calls `f` with every task, on rayon's threads, each task after `f` has returned for all its predecessors: a parallel
    /// topological order. What one task leaves for its successors is visible to them.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let main = b.context("main");
    /// # b.work(main, 0, 10, |_| {});
    /// # let graph = b.build()?;
    /// let time = AtomicU64::new(0);
    /// graph.par_topological(|task| {
    ///     time.fetch_add(task.duration_ns(), Ordering::Relaxed);
    ///     Ok(())
    /// })?;
    /// assert_eq!(time.into_inner(), 10);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first of the errors of `f`, after which no more tasks are begun; damage; edges that form a cycle.
    pub fn par_topological<'g, F>(&'g self, f: F) -> Result<()>
    where
        F: Fn(Task<'g, D>) -> Result<()> + Sync,
    {
        let run = Run {
            graph: self,
            f,
            progress: Mutex::default(),
            failed: AtomicBool::new(false),
        };
        let starts = self.contexts().filter(|c| c.task_count > 0).map(|c| c.id);
        let starts: Vec<TaskId> = starts.map(|c| TaskId::new(c, 0)).collect();
        rayon::scope(|scope| {
            for start in starts {
                let run = &run;
                scope.spawn(move |scope| run.start(scope, start));
            }
        });
        let progress = run.progress.into_inner();
        let progress = progress.unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = progress.error {
            return Err(error);
        }
        if progress.total == self.totals.tasks {
            return Ok(());
        }
        let (done, all) = (progress.total, self.totals.tasks);
        let detail = format!("its edges form a cycle: {done} of {all} tasks can be ordered");
        self.in_file(Err(malformed("task graph", detail)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SyncOp;
    use crate::builder::GraphBuilder;

    #[test]
    fn each_task_comes_after_its_predecessors() {
        let mut b = GraphBuilder::new();
        let main = b.context("main");
        let children: Vec<_> = (0..20).map(|_| b.create(main)).collect();
        let all: Vec<_> = children.iter().copied().chain([main]).collect();
        for round in 0..10 {
            for c in &children {
                b.sync(*c, 0x1000 + round % 3, SyncOp::MutexLock);
            }
            b.barrier(&all, 0x2000);
        }
        for c in children {
            b.join(main, c);
        }
        let graph = b.build().unwrap();
        let seen = Mutex::new(Vec::new());
        let run = graph.par_topological(|task| {
            let mut seen = seen.lock().unwrap();
            for before in task.predecessors()? {
                assert!(seen.contains(&before), "{} before {before}", task.id());
            }
            seen.push(task.id());
            Ok(())
        });
        run.unwrap();
        assert_eq!(seen.lock().unwrap().len() as u64, graph.totals.tasks);
        let failing =
            graph.par_topological(|t| graph.task(TaskId::new(t.id().context, 9999)).map(|_| ()));
        assert!(failing.is_err());
    }
}
