//! The walk over the graph: call stacks from blocks, work-span clocks, longest paths and their
//! profiles.
//!
//! Tasks come in breadth-first order, so one pass is enough. It keeps the state of the contexts
//! that have not been joined, and the values on edges whose end is still to come.

mod edges;
mod execution;
mod stack;

use std::sync::Arc;

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{ContextId, StaticInfo, TaskId, TaskKind, WaitCause};
use workspan::{Measure, Sum};

use super::change::Change;
use super::context::{Ended, Owner, State, Value};
use super::metric::BlockFacts;
use super::paths::{PathId, Paths};
use super::steps::Step;
use super::tree::{SiteKey, Tree};
use super::{Locks, Options};
use crate::analysis::Task;

/// The calling function of code that no recorded function called.
const NOBODY: u32 = u32::MAX;

/// What `span` operations of a frame put on the longest path. A frame whose beginning is on the
/// path puts the rest of its work there when it ends.
fn strand(span: u64) -> Measure {
    Measure { local: Sum { count: 0, work: span, span }, ..Measure::default() }
}

/// The walk.
#[derive(Debug, Default)]
pub(super) struct Machine {
    info: Arc<StaticInfo>,
    facts: Arc<[BlockFacts]>,
    /// Whether mutual exclusion orders nothing.
    free_locks: bool,
    burden: u64,
    changes: Vec<Change>,
    /// Those that have not begun are among them, and that of the current task is not.
    running: FxHashMap<ContextId, Box<State>>,
    ended: FxHashMap<ContextId, Ended>,
    /// What tasks hand over until all have it.
    values: FxHashMap<TaskId, Value>,
    paths: Paths,
    /// The effect of the changes on each node: factor, grain.
    effects: Vec<(Option<f64>, Option<u64>)>,
    pub tree: Tree,
    /// Profiles by node of the tree.
    pub on_work: Vec<Measure>,
    pub work: u64,
    pub span: u64,
    pub burdened: u64,
    longest: Option<PathId>,
    /// Number of contexts that nobody joined.
    pub unjoined: u64,
}

impl Machine {
    pub(super) fn new(
        info: &Arc<StaticInfo>,
        facts: &Arc<[BlockFacts]>,
        options: &Options,
        changes: Vec<Change>,
    ) -> Self {
        Self {
            info: Arc::clone(info),
            facts: Arc::clone(facts),
            free_locks: options.locks == Locks::Free,
            burden: options.burden(),
            changes,
            ..Self::default()
        }
    }

    /// Takes the next task of the breadth-first order.
    pub(super) fn task(&mut self, task: &Task<'_>, steps: &[Step]) -> Result<()> {
        let id = task.id();
        let running = self.running.remove(&id.context);
        let mut state = running.unwrap_or_else(|| self.first_context());
        let free = self.free_locks && task.op().cause() == Some(WaitCause::Lock);
        for &from in task.stored_dependencies() {
            self.arrive(&mut state, id.context, from, free);
        }
        self.take(&mut state, steps);
        let dependents = task.dependents()?;
        let mut edges = dependents.len();
        if task.kind() == TaskKind::Create {
            edges -= self.create(&mut state, id, task.object(), &dependents);
        }
        let last = task.is_last();
        if last {
            self.end(&mut state);
        }
        if edges > 0 {
            self.flush(&mut state);
            let value = Value {
                time: state.time,
                edges: state.edges,
                ahead: state.ahead,
                length: state.length,
                burdened: state.burdened,
                path: self.paths.share(&state.path),
                left: u32::try_from(edges).unwrap_or(u32::MAX),
                last,
            };
            self.values.insert(id, value);
        }
        if last {
            self.conclude(id.context, *state);
        } else {
            self.running.insert(id.context, state);
        }
        Ok(())
    }

    /// What lies on the longest path, by node of the tree; for use after the last task.
    pub(super) fn on_span(&mut self) -> Vec<Measure> {
        let mut measures = vec![Measure::default(); self.tree.nodes().len()];
        if let Some(path) = self.longest.take() {
            self.paths.print(path, |node, measure| measures[node as usize] = measure);
        }
        let running = self.running.values();
        let running = running.filter(|state| state.owner.is_some()).count();
        let ended = self.ended.values();
        let ended = ended.filter(|ended| ended.owner.is_some() && !ended.joined);
        self.unjoined = (running + ended.count()) as u64;
        measures
    }

    /// The state of a context that nobody created: the program itself is its caller.
    fn first_context(&mut self) -> Box<State> {
        let mut state = Box::new(State::new(self.paths.empty()));
        let site = self.tree.site(SiteKey::Program);
        self.push_at(&mut state, Tree::ROOT, site, NOBODY, None);
        state
    }

    /// The innermost frame executes code.
    fn advance(&mut self, state: &mut State, amount: u64) {
        if amount == 0 {
            return;
        }
        let Some(top) = state.frames.last_mut() else {
            return;
        };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a what-if: 53 bits are enough, and the factor is not negative"
        )]
        let amount = top.factor.map_or(amount, |factor| (amount as f64 * factor) as u64);
        let long = match top.grain {
            Some(grain) => amount.min(grain.saturating_sub(top.local_span)),
            None => amount,
        };
        top.local_work += amount;
        top.local_span += long;
        top.pending += long;
        state.work += amount;
        state.time += long;
        state.length += long;
        state.burdened += long;
        self.work += amount;
    }

    /// Puts onto the path what the innermost frame executed.
    fn flush(&mut self, state: &mut State) {
        if let Some(top) = state.frames.last_mut()
            && top.pending > 0
        {
            let span = std::mem::take(&mut top.pending);
            top.own_on_path += span;
            self.paths.add(&mut state.path, top.node, strand(span));
        }
    }

    fn end(&mut self, state: &mut State) {
        self.first_frame(state, None);
        while !state.frames.is_empty() {
            self.pop(state);
        }
    }

    /// The path of an ended context is either the longest of all, or is dropped.
    fn conclude(&mut self, context: ContextId, state: State) {
        self.burdened = self.burdened.max(state.burdened);
        let longest = self.longest.is_none() || state.length >= self.span;
        let mut dropped = Some(state.path);
        if longest {
            self.span = state.length;
            std::mem::swap(&mut dropped, &mut self.longest);
        }
        dropped.into_iter().for_each(|path| self.paths.release(path));
        let ended = Ended { owner: state.owner, work: state.work, joined: false };
        self.ended.insert(context, ended);
    }

    /// Where a context was created that is not the current one.
    fn owner_of(&mut self, context: ContextId) -> Option<&mut Owner> {
        if let Some(ended) = self.ended.get_mut(&context) {
            return ended.owner.as_mut();
        }
        self.running.get_mut(&context)?.owner.as_mut()
    }
}
