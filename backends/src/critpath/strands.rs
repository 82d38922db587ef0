//! The table of strands: what each context does between two edges, and how early and how late that may be.
//!
//! Tasks of a context between which no edge begins or ends are a *strand*: every path through one of them goes through
//! all of them, so they share their slack and their place on a path. A storm of locks that nobody else wants is one
//! strand, and a table takes 48 bytes for each strand and 8 for each edge between contexts. Only [`Strands::new`]
//! reads the graph (critical-path method: Kelley and Walker, 1959).
//!
//! A child runs, and a waiting context goes on, before the call that lets it has returned. So who depends on an
//! operation may begin where that operation begins, and who depends on a Work task where that one ends. No chain of
//! strands is then longer than the run it is from.

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId, TaskKind};

use crate::analysis::{Graph, State, Task, state_of};

/// Nanoseconds of a task that count as work: all of a running task, none of a waiting one, as in `parallelism`.
#[must_use]
pub fn weight(task: &Task<'_>) -> u64 {
    match state_of(task) {
        State::Running => task.duration_ns(),
        State::Waiting(_) => 0,
    }
}

/// The number of a strand. A strand comes after all strands that it depends on.
pub(super) type At = u32;

/// Tasks of a context that follow one another: only the first of them may depend on other contexts, and only the last
/// one may be waited for there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    /// The first task.
    pub(super) first: TaskId,
    /// Number of tasks.
    pub(super) tasks: u32,
    /// The strand before it in its context.
    previous: Option<At>,
    /// Weight of its tasks, ns.
    pub(super) weight: u64,
    /// The part of the weight that comes after what other contexts wait for, ns.
    pub(super) late: u64,
}

impl Strand {
    /// The last task.
    pub(super) fn last(&self) -> TaskId {
        TaskId::new(self.first.context, self.end() - 1)
    }

    /// The number of the task behind the last one.
    fn end(&self) -> u32 {
        self.first.seq.saturating_add(self.tasks)
    }

    pub(super) fn contains(&self, id: TaskId) -> bool {
        id.context == self.first.context && (self.first.seq..self.end()).contains(&id.seq)
    }
}

/// The strands of a context.
#[derive(Debug, Default)]
struct Context {
    strands: Vec<At>,
    /// Whether the last strand goes on: nobody waits for what it has done so far.
    open: bool,
}

/// The strands of a graph, each as early as its edges allow.
#[derive(Debug, Default)]
pub struct Strands {
    place: FxHashMap<ContextId, usize>,
    contexts: Vec<Context>,
    /// They grow with the tasks that are read, not with the number that a file claims.
    all: Vec<Strand>,
    /// Stored edges in the order of their ends: the end, the start.
    edges: Vec<(At, At)>,
    /// Length of the longest path to the end of each strand, ns.
    finish: Vec<u64>,
    /// Length of the longest path from there, ns.
    after: Vec<u64>,
}

impl Strands {
    /// Schedules every task of `graph` as early and as late as its edges allow.
    ///
    /// # Errors
    /// When the graph cannot be read, or its order and edges contradict each other.
    pub fn new(graph: &Graph) -> Result<Self> {
        let mut strands = Self::default();
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            strands.add(task)?;
        }
        strands.finish = strands.finish(&strands.weights());
        strands.after = strands.after();
        Ok(strands)
    }

    /// Longest path of the graph, nanoseconds.
    #[must_use]
    pub fn span_ns(&self) -> u64 {
        self.finish.iter().copied().max().unwrap_or(0)
    }

    /// Work of all tasks, nanoseconds.
    #[must_use]
    pub fn work_ns(&self) -> u64 {
        let weights = self.all.iter().map(|strand| strand.weight);
        weights.fold(0, u64::saturating_add)
    }

    /// When each strand begins and ends if it begins as soon as it can, nanoseconds.
    pub fn schedule(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let ends = self.all.iter().zip(&self.finish);
        ends.map(|(strand, &finish)| (finish - strand.weight, finish))
    }

    /// How much longer a task could take without a longer span, nanoseconds.
    #[must_use]
    pub fn slack(&self, id: TaskId) -> u64 {
        let span = self.span_ns();
        self.of(id).map_or(span, |at| self.slack_of(at, span))
    }

    /// How much longer each task of a strand could take without a longer span than this one.
    pub(super) fn slack_of(&self, at: At, span: u64) -> u64 {
        let at = at as usize;
        span.saturating_sub(self.finish[at].saturating_add(self.after[at]))
    }

    /// The last strand of the longest path; `None` in a graph without tasks. The last of several equal ones has no
    /// successors, so the path goes on to an end of the graph.
    pub(super) fn last(&self) -> Option<At> {
        let ends = (0..).zip(&self.finish);
        ends.max_by_key(|&(_, finish)| finish).map(|(at, _)| at)
    }

    /// Number of strands.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn strand(&self, at: At) -> &Strand {
        &self.all[at as usize]
    }

    /// The strand of a task.
    pub(super) fn of(&self, id: TaskId) -> Option<At> {
        let strands = &self.contexts[*self.place.get(&id.context)?].strands;
        let begun = strands.partition_point(|&at| self.strand(at).first.seq <= id.seq);
        let at = *strands.get(begun.checked_sub(1)?)?;
        self.strand(at).contains(id).then_some(at)
    }

    /// The strand that decides when a strand can begin; if several do, the one in the same context.
    pub(super) fn critical_predecessor(&self, at: At) -> Option<At> {
        let strand = self.strand(at);
        let start = self.finish[at as usize] - strand.weight;
        let own = strand.previous;
        let own = own.filter(|&before| self.finish[before as usize] == start);
        let first = self.edges.partition_point(|edge| edge.0 < at);
        let mut others = self.edges[first..].iter().take_while(|edge| edge.0 == at);
        let handed = |before: At| self.finish[before as usize] - self.strand(before).late;
        own.or_else(|| Some(others.find(|edge| handed(edge.1) == start)?.1))
    }

    /// The weights of all strands, ns.
    pub(super) fn weights(&self) -> Vec<u64> {
        self.all.iter().map(|strand| strand.weight).collect()
    }

    /// The length of the longest path to the end of each strand, if strands had these weights.
    pub(super) fn finish(&self, weights: &[u64]) -> Vec<u64> {
        let mut finish: Vec<u64> = Vec::with_capacity(self.all.len());
        let mut edges = self.edges.iter().peekable();
        for ((at, strand), weight) in (0..).zip(&self.all).zip(weights) {
            let mut start = strand.previous.map_or(0, |at| finish[at as usize]);
            while let Some((_, before)) = edges.next_if(|edge| edge.0 == at) {
                start = start.max(finish[*before as usize] - self.strand(*before).late);
            }
            finish.push(start.saturating_add(*weight));
        }
        finish
    }

    /// The length of the longest path from the end of each strand: from the last strand to the first, so that each comes
    /// after all that depend on it.
    fn after(&self) -> Vec<u64> {
        let mut after = vec![0_u64; self.all.len()];
        let mut edges = self.edges.iter().rev().peekable();
        for (at, strand) in self.all.iter().enumerate().rev() {
            let rest = after[at].saturating_add(strand.weight);
            if let Some(before) = strand.previous {
                let after = &mut after[before as usize];
                *after = rest.max(*after);
            }
            while let Some((_, before)) = edges.next_if(|edge| edge.0 as usize == at) {
                let rest = rest.saturating_sub(self.strand(*before).late);
                let after = &mut after[*before as usize];
                *after = rest.max(*after);
            }
        }
        after
    }

    fn add(&mut self, task: &Task<'_>) -> Result<()> {
        let id = task.id();
        let next = self.contexts.len();
        let place = *self.place.entry(id.context).or_insert(next);
        if place == next {
            self.contexts.push(Context::default());
        }
        let previous = self.contexts[place].strands.last().copied();
        if id.seq != previous.map_or(0, |at| self.strand(at).end()) {
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
        let awaited = task.is_awaited()?;
        let strand = &mut self.all[at as usize];
        strand.tasks += 1;
        strand.weight = strand.weight.saturating_add(weight);
        if awaited && task.kind() != TaskKind::Work {
            strand.late = weight;
        }
        self.contexts[place].open = !awaited;
        Ok(())
    }

    /// Begins a strand with a task that depends on others.
    fn begin(
        &mut self,
        first: TaskId,
        place: usize,
        previous: Option<At>,
        needs: &[TaskId],
    ) -> Result<At> {
        let Ok(at) = At::try_from(self.all.len()) else {
            bail!("the graph has more than 2^32 strands");
        };
        for &before in needs {
            let Some(ended) = self.ended_by(before) else {
                bail!(
                    "task {first} comes before {before}, which it depends on, or {before} does not know of it; contech-backend verify names the fault"
                );
            };
            self.edges.push((at, ended));
        }
        self.contexts[place].strands.push(at);
        self.all.push(Strand {
            first,
            tasks: 0,
            previous,
            weight: 0,
            late: 0,
        });
        Ok(at)
    }

    /// The strand that a task has ended.
    fn ended_by(&self, id: TaskId) -> Option<At> {
        let at = self.of(id).filter(|&at| self.strand(at).last() == id)?;
        let context = &self.contexts[*self.place.get(&id.context)?];
        (context.strands.last() != Some(&at) || !context.open).then_some(at)
    }
}
