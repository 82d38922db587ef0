//! Iteration over tasks: breadth-first, and by context.

use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::page::{OrderPage, Turn};
use crate::task::Task;

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// All tasks in breadth-first order from task 0:0: among the tasks that are ready, the one that
    /// started first comes next (contech.txt, section 4.2). It is a topological order: each task
    /// comes after all its predecessors.
    ///
    /// An error ends the iteration.
    ///
    /// So one pass makes a graph for a library of graph algorithms, such as petgraph:
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use petgraph::graph::DiGraph;
    ///
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let main = b.context("main");
    /// # let child = b.create(main);
    /// # b.work(child, 0, 10, |_| {});
    /// # b.join(main, child);
    /// # let graph = b.build()?;
    /// let (mut dag, mut nodes) = (DiGraph::new(), HashMap::new());
    /// for task in graph.tasks() {
    ///     let task = task?;
    ///     let node = dag.add_node(task.id());
    ///     nodes.insert(task.id(), node);
    ///     for before in task.id().previous().iter().chain(task.stored_dependencies()) {
    ///         dag.add_edge(nodes[before], node, ());
    ///     }
    /// }
    /// assert_eq!((dag.node_count(), dag.edge_count()), (4, 4));
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    pub fn tasks(&self) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        copies(self.walk())
    }

    /// The tasks of a context in program order; none when the graph has no such context. An error
    /// ends the iteration.
    pub fn tasks_of(&self, context: ContextId) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        copies(self.walk_of(context))
    }

    /// [`TaskGraph::tasks`] for graphs of many short tasks: it lends each task, which takes half
    /// the time.
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
            next: TaskId::default(),
            left: 0,
            order: Some(Order::default()),
            last: None,
            recent: vec![None; RECENT],
        }
    }

    /// [`TaskGraph::tasks_of`], lent as by [`TaskGraph::walk`].
    pub fn walk_of(&self, context: ContextId) -> Walk<'_, D> {
        Walk {
            graph: self,
            next: TaskId::new(context, 0),
            left: self.task_count(context),
            order: None,
            last: None,
            recent: Vec::new(),
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
    /// The task that comes next in its context, and the number of tasks that come before those of
    /// the order.
    next: TaskId,
    left: u32,
    order: Option<Order>,
    /// The last task.
    last: Option<Task<'g, D>>,
    /// In the order of the graph: the last task before that of each context, modulo their number.
    recent: Vec<Option<Task<'g, D>>>,
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
    /// Goes on with the tasks of a context, from the first one. It takes no search if that is next
    /// to the last task of the walk, so this is the way to go through many small contexts.
    pub fn go_to(&mut self, context: ContextId) {
        self.next = TaskId::new(context, 0);
        self.left = self.graph.task_count(context);
        self.order = None;
    }

    /// The next task; `None` after the last one.
    ///
    /// # Errors
    /// Damage, which ends the walk.
    #[allow(clippy::should_implement_trait, reason = "it lends, which Iterator cannot")]
    pub fn next(&mut self) -> Result<Option<&Task<'g, D>>> {
        let found = self.find();
        if found.is_err() {
            (self.left, self.order) = (0, None);
        }
        match self.graph.in_file(found)? {
            true => Ok(self.last.as_ref()),
            false => Ok(None),
        }
    }

    /// Finds the next task. Returns false if there is none.
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
        let finds = |task: &mut Option<Task<'g, D>>| {
            let found = task.as_mut();
            found.is_some_and(|task| task.step_to(id) || task.find(id))
        };
        if finds(&mut self.last) {
            return Ok(true);
        }
        if let Some(last) = self.last.take()
            && !self.recent.is_empty()
        {
            let place = last.id().context.index() % RECENT;
            self.recent[place] = Some(last);
            self.last = self.recent[id.context.index() % RECENT].take();
            if finds(&mut self.last) {
                return Ok(true);
            }
        }
        // A page that is left makes room before the next one is decoded.
        self.last = None;
        let (page, at) = self.graph.place(id)?;
        self.last = Some(Task::new(self.graph, page, at));
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
