//! Which tasks come before the current one: vector clocks over the edges of the graph (Fidge 1988, Mattern 1989).
//!
//! Tasks are visited in topological order. A task's clock says of every context how many of its tasks come before; the
//! order is that of the graph (program order and stored edges), not of the schedule that happened.

use std::sync::Arc;

use anyhow::{Result, bail};
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, TaskId};

use crate::analysis::{Graph, Task};

/// A task, as the shadow memory stores it: number of the context in order of appearance, and the sequence number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(u64);

impl Epoch {
    /// The first task of the first context.
    pub const ZERO: Self = Self(0);

    fn new(context: u32, seq: u32) -> Self {
        Self(u64::from(context) << 32 | u64::from(seq))
    }

    /// Number of the context in order of appearance.
    #[must_use]
    pub fn context(self) -> usize {
        (self.0 >> 32) as usize
    }

    /// Sequence number of the task.
    #[must_use]
    pub fn seq(self) -> u32 {
        u32::try_from(self.0 & u64::from(u32::MAX)).unwrap_or(u32::MAX)
    }
}

/// Tasks known to come before, by number of the context: how many of the first ones.
type Clock = Arc<Vec<u32>>;

/// The clocks of all contexts, and of the tasks whose dependents are still to come.
#[derive(Debug, Default)]
pub struct Clocks {
    number: FxHashMap<ContextId, u32>,
    contexts: Vec<ContextId>,
    latest: Vec<Clock>,
    pending: FxHashMap<TaskId, (Clock, usize)>,
    now: Epoch,
    /// Contexts whose last task has been visited.
    ended: Vec<usize>,
    /// Entries of all clocks, shared ones counted as often as they are shared.
    entries: usize,
}

impl Clocks {
    /// Moves on to `task`; predecessors must have been visited.
    ///
    /// # Errors
    /// When the graph cannot be read or is not in topological order.
    pub fn enter(&mut self, graph: &Graph, task: &Task<'_>) -> Result<()> {
        let id = task.id();
        let number = self.number_of(id.context)?;
        let mut clock = std::mem::take(&mut self.latest[number as usize]);
        let before = clock.len();
        for &dependency in task.stored_dependencies() {
            let Some((found, left)) = self.pending.get_mut(&dependency) else {
                bail!(
                    "task {id} comes before {dependency}, which it depends on; contech-backend verify names the fault"
                );
            };
            let other = self.number[&dependency.context];
            if other != number {
                learn(&mut clock, found, other as usize, dependency.seq);
            }
            *left -= 1;
            if *left == 0 {
                self.entries -= found.len();
                self.pending.remove(&dependency);
            }
        }
        self.now = Epoch::new(number, id.seq);
        let dependents = task.dependents()?.len();
        if dependents > 0 {
            self.entries += clock.len();
            self.pending.insert(id, (Arc::clone(&clock), dependents));
        }
        self.entries = self.entries + clock.len() - before;
        self.latest[number as usize] = clock;
        self.note_end(graph);
        Ok(())
    }

    /// Notes a context whose last task this is. Its clock is still needed for the task itself, and forgotten when the
    /// next one is entered.
    fn note_end(&mut self, graph: &Graph) {
        let context = graph.context(self.contexts[self.now.context()]);
        if context.is_some_and(|context| Some(context.task_count) == self.now.seq().checked_add(1))
        {
            self.ended.push(self.now.context());
        }
    }

    fn number_of(&mut self, context: ContextId) -> Result<u32> {
        for ended in std::mem::take(&mut self.ended) {
            self.entries -= self.latest[ended].len();
            self.latest[ended] = Clock::default();
        }
        if let Some(&number) = self.number.get(&context) {
            return Ok(number);
        }
        let number = u32::try_from(self.contexts.len())?;
        self.number.insert(context, number);
        self.contexts.push(context);
        self.latest.push(Clock::default());
        Ok(number)
    }

    /// The current task.
    #[must_use]
    pub fn now(&self) -> Epoch {
        self.now
    }

    /// Whether the task of `epoch` is the current one or comes before it.
    #[must_use]
    #[inline]
    pub fn ordered(&self, epoch: Epoch) -> bool {
        epoch.context() == self.now.context() || self.known(epoch.context()) > epoch.seq()
    }

    /// How many tasks of the `number`-th context come before the current task.
    #[must_use]
    #[inline]
    pub fn known(&self, number: usize) -> u32 {
        self.latest[self.now.context()]
            .get(number)
            .copied()
            .unwrap_or(0)
    }

    /// The task of an epoch.
    #[must_use]
    pub fn task(&self, epoch: Epoch) -> TaskId {
        TaskId::new(self.contexts[epoch.context()], epoch.seq())
    }

    /// Approximate bytes in use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        4 * self.entries + 64 * (self.pending.len() + self.contexts.len())
    }
}

/// Adds to `clock` that task `seq` of context `other`, whose own clock is `found`, comes before.
fn learn(clock: &mut Clock, found: &Clock, other: usize, seq: u32) {
    if clock.get(other).is_some_and(|&known| known > seq) {
        return;
    }
    let own = Arc::make_mut(clock);
    if own.len() < found.len().max(other + 1) {
        own.resize(found.len().max(other + 1), 0);
    }
    for (known, &theirs) in own.iter_mut().zip(found.iter()) {
        *known = (*known).max(theirs);
    }
    own[other] = own[other].max(seq.saturating_add(1));
}
