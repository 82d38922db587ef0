//! The call stack of a context: frames that are pushed and popped, spawns that are executed before
//! their continuation, and what a frame adds to the profile.

use rustc_hash::FxHashSet;
use taskgraph::{BlockId, ContextId, FunctionId};
use workspan::{Measure, Sum};

use super::super::change::Effect;
use super::super::context::{Branch, Frame, Owner, State};
use super::super::tree::{SiteKey, Tree};
use super::{Machine, NOBODY, strand};

impl Machine {
    /// Makes the first invocation of a created context, unless it exists; returns whether it made
    /// it.
    pub(super) fn first_frame(&mut self, state: &mut State, function: Option<u32>) -> bool {
        if !state.frames.is_empty() {
            return false;
        }
        let (site, caller) = self.site(state.spawned_at, None, true);
        let node = self.tree.child(state.from, site, function.map(FunctionId::new));
        self.push_at(state, node, site, caller, function);
        true
    }

    pub(super) fn push(&mut self, state: &mut State, function: Option<u32>) {
        let top = state.frames.last();
        let (from, call) = top.map_or((Tree::ROOT, None), |top| (top.node, top.call));
        let spawns = top.is_some_and(|top| top.spawns);
        let (site, caller) = self.site(call, function, spawns);
        let node = self.tree.child(from, site, function.map(FunctionId::new));
        self.push_at(state, node, site, caller, function);
        if spawns {
            self.fork(state);
        }
    }

    /// The call site of an invocation, and the function that it is in.
    pub(super) fn site(
        &mut self,
        call: Option<BlockId>,
        function: Option<u32>,
        spawns: bool,
    ) -> (u32, u32) {
        let block = call.and_then(|at| self.info.block(at));
        let call = call.filter(|_| block.is_some());
        let key = SiteKey::of(call, function.map(FunctionId::new), spawns);
        (self.tree.site(key), block.map_or(NOBODY, |block| block.function.get()))
    }

    /// The frame just pushed is a spawn that is executed before its continuation.
    pub(super) fn fork(&mut self, state: &mut State) {
        let path = self.paths.share(&state.path);
        let caller = state.frames.len().checked_sub(2).map(|at| {
            let caller = &mut state.frames[at];
            caller.spawns = false;
            (caller.local_span, caller.own_on_path)
        });
        let (local, on_path) = caller.unwrap_or_default();
        if let Some(frame) = state.frames.last_mut() {
            frame.continuation = Some(Branch {
                time: state.time,
                length: state.length,
                burdened: state.burdened + self.burden,
                local,
                on_path,
                path,
            });
        }
    }

    /// A spawned frame has been popped: the caller goes on from the spawn (Figure 3, lines 10-13).
    pub(super) fn back(&mut self, state: &mut State, continuation: Branch) {
        let path = std::mem::replace(&mut state.path, continuation.path);
        let child = Branch {
            time: state.time,
            length: state.length,
            burdened: state.burdened + self.burden,
            local: continuation.local,
            on_path: continuation.on_path,
            path,
        };
        state.time = continuation.time;
        state.length = continuation.length;
        state.burdened = continuation.burdened;
        let Some(top) = state.frames.last_mut() else {
            return self.paths.release(child.path);
        };
        let longest = match top.longest.take() {
            None => child,
            Some(known) => {
                let burdened = known.burdened.max(child.burdened);
                let known_is = known.length >= child.length;
                let (longest, other) = if known_is { (known, child) } else { (child, known) };
                self.paths.release(other.path);
                Branch { burdened, ..longest }
            }
        };
        top.longest = Some(longest);
    }

    /// The innermost frame waits for its serially executed spawns (Figure 3, lines 14-19).
    pub(super) fn sync(&mut self, state: &mut State) {
        let Some(child) = state.frames.last_mut().and_then(|frame| frame.longest.take()) else {
            return;
        };
        self.flush(state);
        state.burdened = state.burdened.max(child.burdened);
        // If both are equally long, the child's path counts (Figure 3, line 17).
        if child.length < state.length {
            return self.paths.release(child.path);
        }
        (state.time, state.length) = (child.time, child.length);
        if let Some(frame) = state.frames.last_mut() {
            (frame.local_span, frame.own_on_path) = (child.local, child.on_path);
        }
        self.paths.release(std::mem::replace(&mut state.path, child.path));
    }

    pub(super) fn push_at(
        &mut self,
        state: &mut State,
        node: u32,
        site: u32,
        caller: u32,
        function: Option<u32>,
    ) {
        self.flush(state);
        state.sites.enter(site);
        state.callers.enter(caller);
        let (factor, grain) = self.effect(node);
        let inherited = state.frames.last().map_or(state.factor, |top| top.factor);
        let factor = match (inherited, factor) {
            (Some(a), Some(b)) => Some(a * b),
            (a, b) => a.or(b),
        };
        let frame = Frame {
            serial: state.next_serial,
            function,
            node,
            site,
            caller,
            start: state.time,
            start_work: state.work,
            on_path: true,
            factor,
            grain,
            ..Frame::default()
        };
        state.next_serial += 1;
        state.frames.push(frame);
    }

    pub(super) fn effect(&mut self, node: u32) -> (Option<f64>, Option<u64>) {
        if self.changes.is_empty() {
            return (None, None);
        }
        while self.effects.len() < self.tree.nodes().len() {
            let new = &self.tree.nodes()[self.effects.len()];
            let key = self.tree.sites()[new.site as usize];
            let mut effect = (None, None);
            for change in &self.changes {
                if change.selector.matches(&self.info, key, new.function) {
                    match change.effect {
                        Effect::Scale(factor) => effect.0 = Some(effect.0.unwrap_or(1.0) * factor),
                        Effect::Parallel(grain) => effect.1 = Some(grain),
                    }
                }
            }
            self.effects.push(effect);
        }
        self.effects[node as usize]
    }

    pub(super) fn pop(&mut self, state: &mut State) {
        self.sync(state);
        self.hand_down(state);
        let Some(mut frame) = state.frames.pop() else {
            return;
        };
        let continuation = frame.continuation.take();
        let top_call_site = state.sites.leave(frame.site);
        // Code that no recorded function called is never recursive through its caller.
        let top_caller = state.callers.leave(frame.caller) || frame.caller == NOBODY;
        let (work, span) = (state.work - frame.start_work, state.time - frame.start);
        let sum = |counts: bool| {
            if counts { Sum::one(work, span) } else { Sum::default() }
        };
        let mut measure = Measure {
            top_call_site: sum(top_call_site),
            top_caller: sum(top_caller),
            local: Sum::one(frame.local_work, frame.local_span),
        };
        self.over(frame.node, measure);
        measure.local.span = frame.pending;
        measure.local.work -= frame.own_on_path;
        if !frame.on_path {
            measure = strand(frame.pending);
        }
        if frame.on_path || frame.pending > 0 {
            self.paths.add(&mut state.path, frame.node, measure);
        }
        if let Some(continuation) = continuation {
            self.back(state, continuation);
        }
    }

    /// Invocations of a node are over.
    pub(super) fn over(&mut self, node: u32, measure: Measure) {
        let at = node as usize;
        if self.on_work.len() <= at {
            self.on_work.resize(at + 1, Measure::default());
        }
        self.on_work[at] += measure;
    }

    /// The innermost frame's children, which nobody has joined, become those of its caller.
    fn hand_down(&mut self, state: &mut State) {
        let Some(frame) = state.frames.last_mut() else {
            return;
        };
        let children = std::mem::take(&mut frame.children);
        let Some(below) = state.frames.len().checked_sub(2) else {
            return self.lift(state, &children);
        };
        for child in &children {
            if let Some(owner) = self.owner_of(*child) {
                let caller = state.past(below, owner.edges);
                owner.serial = state.frames[below].serial;
                owner.since += state.past(below + 1, owner.edges).since;
                (owner.local, owner.on_path) = (caller.local_span, caller.own_on_path);
            }
        }
        state.frames[below].children.extend(children);
    }

    /// Contexts that a context created and did not join belong to the frame that created the
    /// context.
    fn lift(&mut self, state: &State, children: &FxHashSet<ContextId>) {
        let Some(own) = state.owner else {
            return;
        };
        for child in children {
            if let Some(owner) = self.owner_of(*child) {
                *owner = Owner { since: own.since + state.ahead + owner.since, ..own };
            }
        }
        if let Some(creator) = self.running.get_mut(&own.context)
            && let Some(at) = creator.frame_at(own.serial)
        {
            creator.frames[at].children.extend(children);
        }
    }
}
