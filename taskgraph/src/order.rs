//! Iteration over tasks: breadth-first, and by context.

use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::page::OrderPage;
use crate::task::Task;

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// All tasks in breadth-first order from task 0:0: among the tasks that are ready, the one that started first
    /// comes next (contech.txt, section 4.2). It is a topological order: each task comes after all its predecessors.
    ///
    /// An error ends the iteration.
    pub fn tasks(&self) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        copies(self.walk())
    }

    /// The tasks of a context in program order; none when the graph has no such context. An error ends the iteration.
    pub fn tasks_of(&self, context: ContextId) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        copies(self.walk_of(context))
    }

    /// [`TaskGraph::tasks`] for graphs of many short tasks: it lends each task, which takes half the time.
    ///
    /// ```
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let main = b.context("main");
    /// # b.work(main, 0, 10, |_| {});
    /// # let graph = b.build()?;
    /// let mut ns = 0;
    /// let mut walk = graph.walk();
    /// while let Some(task) = walk.next()? {
    ///     ns += task.duration_ns();
    /// }
    /// assert_eq!(ns, 10);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    pub fn walk(&self) -> Walk<'_, D> {
        Walk {
            graph: self,
            ids: Ids::InOrder {
                next_page: 0,
                page: OrderPage::default(),
                at: 0,
            },
            recent: [const { None }; RECENT],
        }
    }

    /// [`TaskGraph::tasks_of`], lent as by [`TaskGraph::walk`].
    pub fn walk_of(&self, context: ContextId) -> Walk<'_, D> {
        let end = self.context(context).map_or(0, |c| c.task_count);
        let next = TaskId::new(context, 0);
        Walk {
            graph: self,
            ids: Ids::Of { next, end },
            recent: [const { None }; RECENT],
        }
    }
}

/// Copies of the tasks of a walk.
fn copies<'g, D: AsRef<[u8]>>(
    mut walk: Walk<'g, D>,
) -> impl Iterator<Item = Result<Task<'g, D>>> + use<'g, D> {
    std::iter::from_fn(move || walk.next().map(|task| task.cloned()).transpose())
}

/// Goes through tasks and lends them one after the other.
#[derive(Debug)]
pub struct Walk<'g, D> {
    graph: &'g TaskGraph<D>,
    ids: Ids,
    /// For each context, modulo their number: the last task.
    recent: [Option<Task<'g, D>>; RECENT],
}

/// Number of contexts whose last task is remembered.
const RECENT: usize = 32;

/// The tasks still to come.
#[derive(Debug)]
enum Ids {
    InOrder {
        next_page: usize,
        page: OrderPage,
        at: usize,
    },
    Of {
        next: TaskId,
        end: u32,
    },
}

impl<'g, D: AsRef<[u8]>> Walk<'g, D> {
    /// The next task; `None` after the last one.
    ///
    /// # Errors
    /// Damage, which ends the walk.
    #[allow(
        clippy::should_implement_trait,
        reason = "it lends, which Iterator cannot"
    )]
    pub fn next(&mut self) -> Result<Option<&Task<'g, D>>> {
        let found = self.find();
        if found.is_err() {
            let (next, end) = (TaskId::new(ContextId::new(0), 0), 0);
            self.ids = Ids::Of { next, end };
        }
        match self.graph.in_file(found)? {
            Some(at) => Ok(self.recent[at].as_ref()),
            None => Ok(None),
        }
    }

    /// Puts the next task in its place among the recent ones.
    #[inline]
    fn find(&mut self) -> Result<Option<usize>> {
        let Some(id) = self.ids.next(self.graph)? else {
            return Ok(None);
        };
        let at = id.context.index() % RECENT;
        let place = &mut self.recent[at];
        if !place.as_mut().is_some_and(|task| task.step_to(id)) {
            // A page that is left makes room before the next one is decoded.
            *place = None;
            let (page, at) = self.graph.place(id)?;
            *place = Some(Task::new(self.graph, page, at));
        }
        Ok(Some(at))
    }
}

impl Ids {
    #[inline]
    fn next<D: AsRef<[u8]>>(&mut self, graph: &TaskGraph<D>) -> Result<Option<TaskId>> {
        match self {
            Self::InOrder {
                next_page,
                page,
                at,
            } => {
                while *at == page.0.len() {
                    if *next_page == graph.order_index()?.len() {
                        return Ok(None);
                    }
                    *page = graph.order_page(*next_page)?;
                    *next_page += 1;
                    *at = 0;
                }
                *at += 1;
                Ok(Some(page.0[*at - 1]))
            }
            Self::Of { next, end } => {
                let id = *next;
                if id.seq >= *end {
                    return Ok(None);
                }
                next.seq += 1;
                Ok(Some(id))
            }
        }
    }
}
