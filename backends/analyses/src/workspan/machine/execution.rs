//! The steps of a task: what they add to the frames they belong to.

use std::sync::Arc;

use taskgraph::{BlockId, FunctionId, StackChange};
use workspan::{Measure, Sum};

use super::super::context::State;
use super::super::metric::Mark;
use super::super::steps::{Calls, Step};
use super::super::tree::Tree;
use super::{Machine, NOBODY};

/// Invocations in a row of steps: their node, call site and calling function, and whose callers
/// they are.
type Place = (u32, u32, u32, u32);

impl Machine {
    /// Takes the steps of the current task.
    pub(super) fn take(&mut self, state: &mut State, steps: &[Step]) {
        let mut places: Vec<Place> = Vec::new();
        for step in steps {
            if !matches!(step, Step::Calls(_)) {
                places.clear();
            }
            match *step {
                Step::Run(amount) => {
                    self.first_frame(state, None);
                    self.advance(state, amount);
                }
                Step::Below(amount) => {
                    state.work += amount;
                    state.time += amount;
                    state.length += amount;
                    state.burdened += amount;
                    self.work += amount;
                }
                Step::Enter(block) => self.execute(state, BlockId::new(block)),
                // The first frame of a context stays, for code that runs in it without a recorded
                // caller.
                Step::Return if state.frames.len() > 1 => self.pop(state),
                Step::Return => {}
                Step::Sync => self.sync(state),
                Step::Calls(calls) => self.calls(state, calls, &mut places),
            }
        }
    }

    /// A block is executed.
    fn execute(&mut self, state: &mut State, block: BlockId) {
        let all = Arc::clone(&self.facts);
        let Some(facts) = all.get(block.index()) else {
            return;
        };
        // The first block of a created context is that of its first invocation.
        if !self.first_frame(state, Some(facts.function)) {
            let function = FunctionId::new(facts.function);
            let change = StackChange::of(&state.frames, function, facts.entry);
            while state.frames.len() > change.keep {
                self.pop(state);
            }
            if change.enters {
                if let Some(top) = state.frames.last_mut().filter(|_| !change.called) {
                    top.call = None;
                }
                self.push(state, Some(facts.function));
            }
        }
        if let Some(top) = state.frames.last_mut() {
            top.call = facts.calls.then_some(block);
            top.leaving = facts.calls && facts.returns;
            if facts.calls {
                top.spawns = std::mem::replace(&mut top.marked, false);
            }
            top.marked |= facts.mark == Some(Mark::Spawn);
        }
    }

    /// Counts invocations below the innermost frame that are over.
    fn calls(&mut self, state: &mut State, calls: Calls, places: &mut Vec<Place>) {
        let top = state.frames.last().map_or(Tree::ROOT, |top| top.node);
        let from = places.get(calls.from as usize).map_or(top, |place| place.0);
        let function = Some(calls.function);
        let (site, caller) = self.site(calls.block.map(BlockId::new), function, false);
        let function = function.map(FunctionId::new);
        let node = self.tree.child(from, site, function);
        let mut new_site = state.sites.is_new(site);
        let mut new_caller = state.callers.is_new(caller);
        let mut above = calls.from;
        while let Some(&(_, other_site, other_caller, next)) = places.get(above as usize) {
            new_site &= other_site != site;
            new_caller &= other_caller != caller;
            above = next;
        }
        places.push((node, site, caller, calls.from));
        if calls.count == 0 {
            return;
        }
        let sum = |counts: bool, amount: u64| Sum {
            count: if counts { calls.count } else { 0 },
            work: if counts { amount } else { 0 },
            span: if counts { amount } else { 0 },
        };
        let measure = Measure {
            top_call_site: sum(new_site, calls.all),
            top_caller: sum(new_caller || caller == NOBODY, calls.all),
            local: sum(true, calls.own),
        };
        self.over(node, measure);
        self.paths.add(&mut state.path, node, measure);
    }
}
