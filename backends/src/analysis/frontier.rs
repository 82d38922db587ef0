//! One value per task along the edges of the graph, kept only while a later task still needs it.

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use super::Task;

/// Carries values (finish times, clocks) from tasks to their successors during a topological walk. It keeps one value
/// for each context and one for each task that has dependents still to come.
#[derive(Debug)]
pub struct Frontier<V> {
    /// Value of the latest task of each context; that of the context of the latest task of all is apart.
    latest: FxHashMap<ContextId, V>,
    current: Option<(ContextId, V)>,
    /// Value, and number of dependents still to come, of tasks with stored edges out of them.
    pending: FxHashMap<TaskId, (V, usize)>,
}

impl<V> Default for Frontier<V> {
    fn default() -> Self {
        Self {
            latest: FxHashMap::default(),
            current: None,
            pending: FxHashMap::default(),
        }
    }
}

impl<V: Copy> Frontier<V> {
    /// Folds the values of the predecessors of `task` with `merge`, starting from `first`. `own` makes two values of
    /// the result: one for the context's next task and one for the tasks on stored edges. Returns the former. Call it
    /// for every task, predecessors first.
    ///
    /// # Errors
    /// When the task's edges cannot be read.
    pub fn visit(
        &mut self,
        task: &Task<'_>,
        first: V,
        merge: impl Fn(V, V) -> V,
        own: impl FnOnce(V) -> (V, V),
    ) -> Result<V> {
        let id = task.id();
        let before = match self.current {
            Some((context, before)) if context == id.context => Some(before),
            other => {
                self.latest.extend(other);
                self.latest.get(&id.context).copied()
            }
        };
        let mut value = before.map_or(first, |before| merge(first, before));
        for dependency in task.stored_dependencies() {
            if let Some((found, left)) = self.pending.get_mut(dependency) {
                value = merge(value, *found);
                *left -= 1;
                if *left == 0 {
                    self.pending.remove(dependency);
                }
            }
        }
        let (next, others) = own(value);
        self.current = Some((id.context, next));
        let dependents = task.dependents()?.len();
        if dependents > 0 {
            self.pending.insert(id, (others, dependents));
        }
        Ok(next)
    }
}
