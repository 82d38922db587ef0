//! Iteration over tasks: breadth-first, and by context.

use std::sync::Arc;

use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::page::{OrderPage, TaskPage};
use crate::task::Task;

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// All tasks in breadth-first order from task 0:0: among the tasks that are ready, the one that started first
    /// comes next (contech.txt, section 4.2). It is a topological order: each task comes after all its predecessors.
    ///
    /// An error ends the iteration.
    pub fn tasks(&self) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        TasksInOrder::new(self)
    }

    /// The tasks of a context in program order; none when the graph has no such context. An error ends the iteration.
    pub fn tasks_of(&self, context: ContextId) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        TasksOf::new(self, context)
    }
}

/// The tasks of a graph in breadth-first order.
#[derive(Debug)]
pub(crate) struct TasksInOrder<'g, D> {
    graph: &'g TaskGraph<D>,
    next_page: usize,
    page: OrderPage,
    at: usize,
    /// For each context, modulo their number: the place of the task after the last one.
    recent: [Option<(Arc<TaskPage>, usize)>; RECENT],
    failed: bool,
}

/// Number of contexts whose place is remembered.
const RECENT: usize = 32;

impl<'g, D: AsRef<[u8]>> TasksInOrder<'g, D> {
    pub(crate) fn new(graph: &'g TaskGraph<D>) -> Self {
        Self {
            graph,
            next_page: 0,
            page: OrderPage::default(),
            at: 0,
            recent: [const { None }; RECENT],
            failed: false,
        }
    }

    fn advance(&mut self) -> Result<Option<Task<'g, D>>> {
        while self.at == self.page.0.len() {
            if self.next_page == self.graph.order_index()?.len() {
                return Ok(None);
            }
            self.page = self.graph.order_page(self.next_page)?;
            self.next_page += 1;
            self.at = 0;
        }
        let id = self.page.0[self.at];
        self.at += 1;
        let place = &mut self.recent[id.context.index() % RECENT];
        if let Some((page, at)) = place
            && page.tasks.get(*at).is_some_and(|task| task.id == id)
        {
            *at += 1;
            return Ok(Some(Task::new(self.graph, Arc::clone(page), *at - 1)));
        }
        let (page, at) = self.graph.place(id)?;
        *place = Some((Arc::clone(&page), at + 1));
        Ok(Some(Task::new(self.graph, page, at)))
    }
}

impl<'g, D: AsRef<[u8]>> Iterator for TasksInOrder<'g, D> {
    type Item = Result<Task<'g, D>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.advance();
        self.failed = next.is_err();
        self.graph.in_file(next).transpose()
    }
}

/// The tasks of a context in program order.
#[derive(Debug)]
pub(crate) struct TasksOf<'g, D> {
    graph: &'g TaskGraph<D>,
    next: TaskId,
    end: u32,
    /// The page of the previous task, and the place after that task.
    page: Option<(Arc<TaskPage>, usize)>,
}

impl<'g, D: AsRef<[u8]>> TasksOf<'g, D> {
    pub(crate) fn new(graph: &'g TaskGraph<D>, context: ContextId) -> Self {
        let end = graph.context(context).map_or(0, |c| c.task_count);
        Self {
            graph,
            next: TaskId::new(context, 0),
            end,
            page: None,
        }
    }

    fn advance(&mut self) -> Result<Task<'g, D>> {
        let id = self.next;
        let here = self
            .page
            .take()
            .filter(|(page, at)| page.tasks.get(*at).is_some_and(|t| t.id == id));
        let (page, at) = match here {
            Some(place) => place,
            None => self.graph.place(id)?,
        };
        self.page = Some((Arc::clone(&page), at + 1));
        self.next.seq += 1;
        Ok(Task::new(self.graph, page, at))
    }
}

impl<'g, D: AsRef<[u8]>> Iterator for TasksOf<'g, D> {
    type Item = Result<Task<'g, D>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.seq >= self.end {
            return None;
        }
        let next = self.advance();
        if next.is_err() {
            self.end = 0;
        }
        Some(self.graph.in_file(next))
    }
}
