//! The table of strands: what each context does between two edges, and how early and how late that
//! may be.
//!
//! Tasks of a context between which no edge begins or ends are a *strand*: every path through one
//! of them goes through all of them, so they share their slack and their place on a path. A storm
//! of locks that nobody else wants is one strand, and a table takes 52 bytes for each strand and 8
//! for each edge between contexts. Only [`Strands::new`] reads the graph (critical-path method:
//! Kelley and Walker, 1959).
//!
//! A child runs, and a waiting context goes on, before the call that lets it has returned. So who
//! depends on an operation may begin where that operation begins, and who depends on a Work task
//! where that one ends. No chain of strands is then longer than the run it is from.

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId, TaskKind};

use crate::analysis::{Graph, State, Task, state_of};

/// Nanoseconds of a task that count as work: all of a running task, none of a waiting one, as in
/// `parallelism`.
#[must_use]
pub fn weight(task: &Task<'_>) -> u64 {
    match state_of(task) {
        State::Running => task.duration_ns(),
        State::Waiting(_) => 0,
    }
}

/// The number of a strand. A strand comes after all strands that it depends on.
pub(super) type At = u32;
/// Stands for no strand.
const NONE: At = At::MAX;

/// Tasks of a context that follow one another: only the first of them may depend on other contexts,
/// and only the last one may be waited for there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    /// The first task.
    pub(super) first: TaskId,
    /// Number of tasks.
    pub(super) tasks: u32,
    /// The strand before it in its context, or [`NONE`].
    previous: At,
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

/// The strands of a graph, each as early as its edges allow.
#[derive(Debug, Default)]
pub struct Strands {
    /// They grow with the tasks that are read, not with the number that a file claims.
    all: Vec<Strand>,
    /// The same strands by context and first task.
    by_task: Vec<At>,
    /// Stored edges in the order of their ends: the end, the start.
    edges: Vec<(At, At)>,
    /// Length of the longest path to the end of each strand, ns.
    finish: Vec<u64>,
    /// Length of the longest path from there, ns.
    after: Vec<u64>,
}

/// What is needed while strands are made.
#[derive(Debug, Default)]
struct Ends {
    /// The last strand of each context that goes on, and whether that strand does: nobody waits for
    /// what it has done so far.
    last: FxHashMap<ContextId, (At, bool)>,
    /// The strands that somebody waits for, by their last task.
    awaited: FxHashMap<TaskId, At>,
}

impl Strands {
    /// Schedules every task of `graph` as early and as late as its edges allow.
    ///
    /// # Errors
    /// When the graph cannot be read, or its order and edges contradict each other.
    pub fn new(graph: &Graph) -> Result<Self> {
        let (mut strands, mut ends) = (Self::default(), Ends::default());
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            strands.add(task, &mut ends)?;
        }
        drop(ends);
        let Self { all, by_task, .. } = &mut strands;
        by_task.extend((0..).take(all.len()));
        by_task.sort_unstable_by_key(|&at| all[at as usize].first);
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
    pub(crate) fn schedule(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let ends = self.all.iter().zip(&self.finish);
        ends.map(|(strand, &finish)| (finish - strand.weight, finish))
    }

    /// How much longer a task could take without a longer span, nanoseconds.
    #[must_use]
    pub fn slack(&self, id: TaskId) -> u64 {
        let span = self.span_ns();
        let at = self.of(id, &mut 0);
        at.map_or(span, |at| self.slack_of(at, span))
    }

    /// How much longer each task of a strand could take without a longer span than this one.
    pub(super) fn slack_of(&self, at: At, span: u64) -> u64 {
        let at = at as usize;
        span.saturating_sub(self.finish[at].saturating_add(self.after[at]))
    }

    /// The last strand of the longest path; `None` in a graph without tasks. The last of several
    /// equal ones has no successors, so the path goes on to an end of the graph.
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

    /// The strand of a task. `place` is where a strand was found last, and is updated: that of the
    /// next task is mostly there, or next to it.
    pub(super) fn of(&self, id: TaskId, place: &mut usize) -> Option<At> {
        let holds = |place: usize| {
            let at = *self.by_task.get(place)?;
            self.strand(at).contains(id).then_some(at)
        };
        for near in [*place, *place + 1] {
            if let Some(at) = holds(near) {
                *place = near;
                return Some(at);
            }
        }
        let begun = |at: &At| self.strand(*at).first <= id;
        *place = self.by_task.partition_point(begun).checked_sub(1)?;
        holds(*place)
    }

    /// The strand that decides when a strand can begin; if several do, the one in the same context.
    pub(super) fn critical_predecessor(&self, at: At) -> Option<At> {
        let strand = self.strand(at);
        let start = self.finish[at as usize] - strand.weight;
        let own = Some(strand.previous).filter(|&before| before != NONE);
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
            let mut start = finish.get(strand.previous as usize).copied().unwrap_or(0);
            while let Some((_, before)) = edges.next_if(|edge| edge.0 == at) {
                start = start.max(finish[*before as usize] - self.strand(*before).late);
            }
            finish.push(start.saturating_add(*weight));
        }
        finish
    }

    /// The length of the longest path from the end of each strand: from the last strand to the
    /// first, so that each comes after all that depend on it.
    fn after(&self) -> Vec<u64> {
        let mut after = vec![0_u64; self.all.len()];
        let mut edges = self.edges.iter().rev().peekable();
        for (at, strand) in self.all.iter().enumerate().rev() {
            let rest = after[at].saturating_add(strand.weight);
            if let Some(after) = after.get_mut(strand.previous as usize) {
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

    fn add(&mut self, task: &Task<'_>, ends: &mut Ends) -> Result<()> {
        let id = task.id();
        let last = ends.last.get(&id.context).copied();
        if id.seq != last.map_or(0, |(at, _)| self.strand(at).end()) {
            bail!(
                "task {id} is not the next of its context; contech-backend verify names the fault"
            );
        }
        let needs = task.stored_dependencies();
        let at = match last {
            Some((at, true)) if needs.is_empty() => at,
            _ => self.begin(id, last.map_or(NONE, |last| last.0), needs, ends)?,
        };
        let weight = weight(task);
        let awaited = task.is_awaited()?;
        let strand = &mut self.all[at as usize];
        strand.tasks += 1;
        strand.weight = strand.weight.saturating_add(weight);
        if awaited {
            if task.kind() != TaskKind::Work {
                strand.late = weight;
            }
            ends.awaited.insert(id, at);
        }
        match task.is_last() {
            true => ends.last.remove(&id.context),
            false => ends.last.insert(id.context, (at, !awaited)),
        };
        Ok(())
    }

    /// Begins a strand with a task that depends on others.
    fn begin(&mut self, first: TaskId, previous: At, needs: &[TaskId], ends: &Ends) -> Result<At> {
        let at = At::try_from(self.all.len()).ok();
        let Some(at) = at.filter(|&at| at != NONE) else {
            bail!("the graph has more than 2^32 strands");
        };
        for before in needs {
            let Some(&ended) = ends.awaited.get(before) else {
                bail!(
                    "task {first} comes before {before}, which it depends on, or {before} does not know of it; contech-backend verify names the fault"
                );
            };
            self.edges.push((at, ended));
        }
        self.all.push(Strand { first, tasks: 0, previous, weight: 0, late: 0 });
        Ok(at)
    }
}
