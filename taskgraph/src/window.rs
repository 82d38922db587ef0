//! Time windows: the tasks that run at some time in a window, found without reading those outside.

use std::ops::Range;

use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{ContextId, TaskId};
use crate::task::Task;

impl<D: AsRef<[u8]>> Task<'_, D> {
    /// Whether it runs at some time of a window in nanoseconds since the start of the run; a task of no duration does when it
    /// starts in it.
    ///
    /// ```
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let main = b.context("main");
    /// # b.work(main, 10, 20, |_| {});
    /// # let graph = b.build()?;
    /// let task = graph.tasks().next().unwrap()?; // from 10 to 20
    /// assert!(task.runs_within(&(19..30)) && !task.runs_within(&(20..30)));
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    #[must_use]
    pub fn runs_within(&self, window: &Range<u64>) -> bool {
        self.start_ns() < window.end
            && (self.end_ns() > window.start || self.start_ns() >= window.start)
    }
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// The tasks of a context that run at some time of a window (nanoseconds since the start of the run), in program order. The
    /// first is found by binary search: tasks of a context follow each other in time.
    ///
    /// ```
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let main = b.context("main");
    /// # b.work(main, 0, 10, |_| {});
    /// # b.work(main, 10, 20, |_| {});
    /// # b.work(main, 20, 30, |_| {});
    /// # let graph = b.build()?;
    /// let starts: Result<Vec<_>, _> = graph.tasks_of_within(main, 5..20).map(|t| t.map(|t| t.start_ns())).collect();
    /// assert_eq!(starts?, [0, 10]);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    pub fn tasks_of_within(
        &self,
        context: ContextId,
        window: Range<u64>,
    ) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        let tasks = self.context(context).map_or(0, |c| c.task_count);
        let (first, failed) = match self.first_within(context, tasks, &window) {
            Ok(seq) => (seq, None),
            Err(e) => (tasks, Some(Err(e))),
        };
        let found = (first..tasks).map(move |seq| self.task(TaskId::new(context, seq)));
        let end = window.end;
        let found = found.take_while(move |t| t.as_ref().map_or(true, |t| t.start_ns() < end));
        let within =
            move |t: &Result<Task<'_, D>>| t.as_ref().map_or(true, |t| t.runs_within(&window));
        failed.into_iter().chain(found.filter(within))
    }

    /// The tasks of all contexts that run at some time of a window, by context; contexts that do not run then are not looked at.
    /// Use it with [`RunMeta::regions`](crate::RunMeta::regions) for the region of interest the program marked.
    ///
    /// ```
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let main = b.context("main");
    /// # b.work(main, 0, 10, |_| {});
    /// # b.work(main, 10, 20, |_| {});
    /// # b.meta_mut().regions.push((5, 10));
    /// # let graph = b.build()?;
    /// for &(from, to) in &graph.meta().regions {
    ///     for task in graph.tasks_within(from..to) {
    ///         println!("{}", task?.id());
    ///     }
    /// }
    /// assert_eq!(graph.tasks_within(5..10).count(), 1);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    pub fn tasks_within(
        &self,
        window: Range<u64>,
    ) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        let whole = window.clone();
        self.contexts()
            .filter(move |c| c.first_ns < whole.end && c.last_ns >= whole.start)
            .flat_map(move |c| self.tasks_of_within(c.id, window.clone()))
    }

    /// Sequence number of the first task that ends after the window begins, or starts in it.
    fn first_within(&self, context: ContextId, tasks: u32, window: &Range<u64>) -> Result<u32> {
        let (mut low, mut high) = (0, tasks);
        while low < high {
            let middle = low + (high - low) / 2;
            let task = self.task(TaskId::new(context, middle))?;
            if task.end_ns() > window.start || task.start_ns() >= window.start {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}
