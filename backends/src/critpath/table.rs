//! Earliest finish and longest rest of every task: the two numbers that answer all questions about the critical path.
//!
//! Tasks of a context between which no edge begins or ends are a *link*: every path through one of them goes through
//! all of them, so they share their slack and their place on a path. A storm of locks that nobody else wants is one
//! link, and a table takes 41 bytes for each link and 8 for each edge between contexts. The forward pass streams the
//! breadth-first order, and it is the only one that reads the graph (critical-path method: Kelley and Walker, 1959).

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use crate::analysis::{Graph, State, Task, state_of};

/// Mark of the tasks of the critical path.
pub(super) const CRITICAL: u8 = 1;
/// Mark of the tasks of the observed chain.
pub(super) const OBSERVED: u8 = 2;
/// Detour `i` (from 0) has the mark `(i + 1) << DETOUR_SHIFT`.
pub(super) const DETOUR_SHIFT: u8 = 2;

/// Nanoseconds of a task that count as work: all of a running task, none of a waiting one, as in `parallelism`.
#[must_use]
pub fn weight(task: &Task<'_>) -> u64 {
    match state_of(task) {
        State::Running => task.duration_ns(),
        State::Waiting(_) => 0,
    }
}

/// The number of a link. A link comes after all links that it depends on.
pub(super) type At = u32;

/// Tasks of a context that follow one another: only the first of them may depend on other contexts, and only the last
/// one may be waited for there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    /// The first task.
    pub(super) first: TaskId,
    /// Number of tasks.
    pub(super) tasks: u32,
    /// The link before it in its context.
    previous: Option<At>,
    /// Length of the longest path to the first task, without it, ns.
    start: u64,
    /// Weight of its tasks, ns.
    pub(super) weight: u64,
    /// Length of the longest path from behind the last task, ns.
    after: u64,
}

impl Link {
    /// The last task.
    pub(super) fn last(&self) -> TaskId {
        TaskId::new(self.first.context, self.end() - 1)
    }

    /// Length of the longest path that ends with the link, ns.
    pub(super) fn finish(&self) -> u64 {
        self.start.saturating_add(self.weight)
    }

    /// Length of the longest path that starts with the link, ns.
    pub(super) fn rest(&self) -> u64 {
        self.after.saturating_add(self.weight)
    }

    /// The number of the task behind the last one.
    fn end(&self) -> u32 {
        self.first.seq.saturating_add(self.tasks)
    }

    pub(super) fn contains(&self, id: TaskId) -> bool {
        id.context == self.first.context && (self.first.seq..self.end()).contains(&id.seq)
    }
}

/// The links of a context.
#[derive(Debug, Default)]
struct Context {
    links: Vec<At>,
    /// Whether the last link goes on: nobody waits for what it has done so far.
    open: bool,
}

/// Finish and rest of every task of a graph.
#[derive(Debug, Default)]
pub struct Table {
    place: FxHashMap<ContextId, usize>,
    contexts: Vec<Context>,
    /// They grow with the tasks that are read, not with the number that a file claims.
    links: Vec<Link>,
    marks: Vec<u8>,
    /// Stored edges in the order of their ends: the end, the start.
    edges: Vec<(At, At)>,
    span_ns: u64,
    work_ns: u64,
    /// The last link of the longest path.
    last: Option<At>,
}

impl Table {
    /// Schedules every task of `graph` as early and as late as its edges allow.
    ///
    /// # Errors
    /// When the graph cannot be read, or its order and edges contradict each other.
    pub fn new(graph: &Graph) -> Result<Self> {
        let mut table = Self::default();
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            table.schedule(task)?;
        }
        table.rests();
        Ok(table)
    }

    /// Longest path of the graph, nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        self.span_ns
    }

    /// Work of all tasks, nanoseconds.
    #[must_use]
    pub fn work_ns(&self) -> u64 {
        self.work_ns
    }

    /// How much longer a task could take without a longer span, nanoseconds.
    #[must_use]
    pub fn slack(&self, id: TaskId) -> u64 {
        self.of(id)
            .map_or(self.span_ns, |at| self.slack_of(self.link(at)))
    }

    /// The last link of the longest path; `None` in a graph without tasks.
    pub(super) fn last(&self) -> Option<At> {
        self.last
    }

    /// The last link of every context, and whether nobody waits for it.
    pub(super) fn context_ends(&self) -> impl Iterator<Item = (At, bool)> + '_ {
        let contexts = self.contexts.iter();
        contexts.filter_map(|context| Some((*context.links.last()?, context.open)))
    }

    /// The link of a task.
    pub(super) fn of(&self, id: TaskId) -> Option<At> {
        let links = &self.contexts[*self.place.get(&id.context)?].links;
        let begun = links.partition_point(|&at| self.link(at).first.seq <= id.seq);
        let at = *links.get(begun.checked_sub(1)?)?;
        self.link(at).contains(id).then_some(at)
    }

    pub(super) fn link(&self, at: At) -> &Link {
        &self.links[at as usize]
    }

    /// How much longer each task of a link could take without a longer span.
    pub(super) fn slack_of(&self, link: &Link) -> u64 {
        let through = link.finish().saturating_add(link.after);
        self.span_ns.saturating_sub(through)
    }

    /// The mark of a link: 0 until [`Table::set_mark`].
    pub(super) fn mark(&self, at: At) -> u8 {
        self.marks[at as usize]
    }

    /// Sets bits of the mark of a link.
    pub(super) fn set_mark(&mut self, at: At, bits: u8) {
        self.marks[at as usize] |= bits;
    }

    /// The link that decides when a link can start; if several do, the one in the same context.
    pub(super) fn critical_predecessor(&self, at: At) -> Option<At> {
        let start = self.link(at).start;
        let mut all = self.predecessors(at);
        all.find(|&before| self.link(before).finish() == start)
    }

    /// What a link depends on: the link before it in its context, and those in other contexts.
    pub(super) fn predecessors(&self, at: At) -> impl Iterator<Item = At> + '_ {
        let first = self.edges.partition_point(|edge| edge.0 < at);
        let edges = self.edges[first..].iter();
        let others = edges.take_while(move |edge| edge.0 == at);
        let others = others.map(|edge| edge.1);
        self.link(at).previous.into_iter().chain(others)
    }

    /// All links that depend on other contexts.
    pub(super) fn joins(&self) -> impl Iterator<Item = At> + '_ {
        let chunks = self.edges.chunk_by(|one, other| one.0 == other.0);
        chunks.filter_map(|edges| Some(edges.first()?.0))
    }

    fn schedule(&mut self, task: &Task<'_>) -> Result<()> {
        let id = task.id();
        let next = self.contexts.len();
        let place = *self.place.entry(id.context).or_insert(next);
        if place == next {
            self.contexts.push(Context::default());
        }
        let previous = self.contexts[place].links.last().copied();
        if id.seq != previous.map_or(0, |at| self.link(at).end()) {
            bail!(
                "task {id} is not the next of its context; contech-backend verify names the fault"
            );
        }
        let needs = task.stored_dependencies();
        let at = match previous {
            Some(at) if self.contexts[place].open && needs.is_empty() => at,
            _ => self.begin(id, place, previous, needs)?,
        };
        let weight = weight(task);
        let link = &mut self.links[at as usize];
        link.tasks += 1;
        link.weight = link.weight.saturating_add(weight);
        let finish = link.finish();
        self.contexts[place].open = task.dependents()?.is_empty();
        self.work_ns = self.work_ns.saturating_add(weight);
        // The last of several equal ones has no successors, so the path goes on to an end of the graph.
        if finish >= self.span_ns {
            (self.span_ns, self.last) = (finish, Some(at));
        }
        Ok(())
    }

    /// Begins a link with a task that depends on others.
    fn begin(
        &mut self,
        first: TaskId,
        place: usize,
        previous: Option<At>,
        needs: &[TaskId],
    ) -> Result<At> {
        let Ok(at) = At::try_from(self.links.len()) else {
            bail!("the graph has more than 2^32 groups of tasks");
        };
        let mut start = previous.map_or(0, |at| self.link(at).finish());
        for &before in needs {
            let Some(ended) = self.ended_by(before) else {
                bail!(
                    "task {first} comes before {before}, which it depends on, or {before} does not know of it; contech-backend verify names the fault"
                );
            };
            start = start.max(self.link(ended).finish());
            self.edges.push((at, ended));
        }
        self.contexts[place].links.push(at);
        self.marks.push(0);
        self.links.push(Link {
            first,
            tasks: 0,
            previous,
            start,
            weight: 0,
            after: 0,
        });
        Ok(at)
    }

    /// The link that a task has ended.
    fn ended_by(&self, id: TaskId) -> Option<At> {
        let at = self.of(id).filter(|&at| self.link(at).last() == id)?;
        let context = &self.contexts[*self.place.get(&id.context)?];
        (context.links.last() != Some(&at) || !context.open).then_some(at)
    }

    /// Completes the table: goes through the links from the last to the first, so that each comes after all that depend
    /// on it.
    fn rests(&mut self) {
        let mut edges = self.edges.iter().rev().peekable();
        for at in (0..self.links.len()).rev() {
            let link = self.links[at];
            let rest = link.rest();
            let own = link.previous.into_iter();
            let others = std::iter::from_fn(|| edges.next_if(|edge| edge.0 as usize == at));
            for before in own.chain(others.map(|edge| edge.1)) {
                let after = &mut self.links[before as usize].after;
                *after = rest.max(*after);
            }
        }
    }
}
