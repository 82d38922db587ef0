//! Iteration over tasks: breadth-first, and by context.

use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::page::{OrderPage, Turn};
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
        let order = Some(Order::default());
        Walk::new(self, TaskId::default(), 0, order)
    }

    /// [`TaskGraph::tasks_of`], lent as by [`TaskGraph::walk`].
    pub fn walk_of(&self, context: ContextId) -> Walk<'_, D> {
        let tasks = self.context(context).map_or(0, |c| c.task_count);
        Walk::new(self, TaskId::new(context, 0), tasks, None)
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
    /// The task that comes next in its context, and the number of tasks that come before those of the order.
    next: TaskId,
    left: u32,
    order: Option<Order>,
    /// For each context, modulo their number: the last task; and where the last of all is.
    recent: [Option<Task<'g, D>>; RECENT],
    at: usize,
}

/// Number of contexts whose last task is remembered.
const RECENT: usize = 32;

/// What of the order of the graph is still to come.
#[derive(Debug, Default)]
struct Order {
    next_page: usize,
    page: OrderPage,
    /// The turn in the page.
    at: usize,
}

impl<'g, D: AsRef<[u8]>> Walk<'g, D> {
    fn new(graph: &'g TaskGraph<D>, next: TaskId, left: u32, order: Option<Order>) -> Self {
        Self {
            graph,
            next,
            left,
            order,
            recent: [const { None }; RECENT],
            at: 0,
        }
    }

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
            (self.left, self.order) = (0, None);
        }
        match self.graph.in_file(found)? {
            true => Ok(self.recent[self.at].as_ref()),
            false => Ok(None),
        }
    }

    /// Puts the next task in its place among the recent ones. Returns false if there is none.
    #[inline]
    fn find(&mut self) -> Result<bool> {
        while self.left == 0 {
            let turn = match &mut self.order {
                Some(order) => order.next(self.graph)?,
                None => None,
            };
            let Some(turn) = turn else { return Ok(false) };
            (self.next, self.left) = (turn.first, turn.tasks);
        }
        let id = self.next;
        self.next.seq = id.seq.wrapping_add(1);
        self.left -= 1;
        self.at = id.context.index() % RECENT;
        let place = &mut self.recent[self.at];
        if !place.as_mut().is_some_and(|task| task.step_to(id)) {
            // A page that is left makes room before the next one is decoded.
            *place = None;
            let (page, at) = self.graph.place(id)?;
            *place = Some(Task::new(self.graph, page, at));
        }
        Ok(true)
    }
}

impl Order {
    fn next<D: AsRef<[u8]>>(&mut self, graph: &TaskGraph<D>) -> Result<Option<Turn>> {
        while self.at == self.page.0.len() {
            if self.next_page == graph.order_index()?.len() {
                return Ok(None);
            }
            self.page = graph.order_page(self.next_page)?;
            self.next_page += 1;
            self.at = 0;
        }
        self.at += 1;
        Ok(Some(self.page.0[self.at - 1]))
    }
}
