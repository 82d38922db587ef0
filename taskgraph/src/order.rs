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

/// Tasks of a context that follow one another and are read together: [`Walk::follow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// How many they are.
    pub tasks: usize,
    /// What all of them do.
    pub actions: u64,
    /// The end of the last one, nanoseconds since the start of the run.
    pub end_ns: u64,
    /// Whether that is the last one of its context.
    pub is_last: bool,
}

impl Series {
    /// One task alone.
    #[must_use]
    pub fn of<D: AsRef<[u8]>>(task: &Task<'_, D>) -> Self {
        Self {
            tasks: 1,
            actions: task.action_count(),
            end_ns: task.end_ns(),
            is_last: task.is_last(),
        }
    }
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

    /// The task that was lent last.
    #[must_use]
    pub fn last(&self) -> Option<&Task<'g, D>> {
        self.recent[self.at].as_ref()
    }

    /// Goes on to the tasks that can be read together with the last one ([`Reader::open_series`](crate::Reader)): those
    /// that follow it in its context and in the walk, end at `until_ns` or before, and execute blocks only, if anything.
    /// They are in one page, so there are about a thousand at most. Unless the series may go `across_edges`, only its
    /// first task has stored predecessors, no task of it has stored successors, and it ends before the last task of the
    /// context. Call it once for a task.
    pub fn follow(&mut self, until_ns: u64, across_edges: bool) -> Option<Series> {
        let task = self.recent[self.at].as_ref()?;
        let mut series = Series::of(task);
        let belongs = |task: &Task<'g, D>| {
            let unawaited = || task.dependents().is_ok_and(|after| after.is_empty());
            task.end_ns() <= until_ns
                && task.is_plain()
                && (across_edges || !task.is_last() && unawaited())
        };
        if belongs(task) {
            let last = self.go_on(|next| {
                let waits_for_none = next.stored_dependencies().is_empty();
                let follows = (across_edges || waits_for_none) && belongs(next);
                if follows {
                    series.tasks += 1;
                    series.actions = series.actions.saturating_add(next.action_count());
                }
                follows
            })?;
            (series.end_ns, series.is_last) = (last.end_ns(), last.is_last());
        }
        Some(series)
    }

    /// Goes on to the tasks that follow the last one in its context and in the walk, as long as they are in the same page
    /// and `follows` says yes to them. Returns the last one.
    pub fn go_on(&mut self, mut follows: impl FnMut(&Task<'g, D>) -> bool) -> Option<&Task<'g, D>> {
        let task = self.recent[self.at].as_mut()?;
        while self.left > 0 && task.step_to(self.next) {
            if !follows(task) {
                task.step_back();
                break;
            }
            self.next.seq = self.next.seq.wrapping_add(1);
            self.left -= 1;
        }
        Some(task)
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
