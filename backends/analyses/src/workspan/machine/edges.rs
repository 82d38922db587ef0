//! Creates, joins and all other edges: what a task learns from the tasks before it.

use taskgraph::{ContextId, TaskId};

use super::super::context::{OnStack, Owner, State, Value};
use super::Machine;

/// Number of levels of creation that an edge is followed up; beyond it counts only for the whole
/// program.
const MOST_LEVELS: usize = 64;

impl Machine {
    /// The created contexts begin where their creator is. There is one, or several at once for a
    /// parallel region and for the ranks of a run. Returns how many of the edges lead to them.
    pub(super) fn create(
        &mut self,
        state: &mut State,
        id: TaskId,
        object: u64,
        dependents: &[TaskId],
    ) -> usize {
        let first = u32::try_from(object).ok().map(ContextId::new);
        let begun = |task: &&TaskId| task.seq == 0 && task.context != id.context;
        let mut children: Vec<ContextId> = dependents
            .iter()
            .filter(begun)
            .map(|task| task.context)
            .filter(|child| !self.is_known(*child))
            .collect();
        let edges = children.len();
        let new = |first: &ContextId| {
            !self.is_known(*first) && *first != id.context && !children.contains(first)
        };
        let first = first.filter(new);
        children.extend(first);
        self.first_frame(state, None);
        self.flush(state);
        let Some(frame) = state.frames.last() else {
            return 0;
        };
        let owner = Owner {
            context: id.context,
            serial: frame.serial,
            since: state.time - frame.start,
            local: frame.local_span,
            on_path: frame.own_on_path,
            edges: state.edges,
        };
        let (node, call, factor) = (frame.node, frame.call, frame.factor);
        for &child in &children {
            let path = self.paths.share(&state.path);
            let new = State {
                owner: Some(owner),
                length: state.length,
                burdened: state.burdened,
                sites: OnStack::new(state.sites.below()),
                callers: OnStack::new(state.callers.below()),
                from: node,
                spawned_at: call,
                factor,
                ..State::new(path)
            };
            self.running.insert(child, Box::new(new));
        }
        // This is Cilkview's burden, on the continuation and on the way back at the join.
        state.burdened += self.burden;
        if let Some(frame) = state.frames.last_mut() {
            frame.children.extend(children);
        }
        edges
    }

    /// Whether a context has been created, and not been joined.
    fn is_known(&self, context: ContextId) -> bool {
        self.running.contains_key(&context) || self.ended.contains_key(&context)
    }

    /// An edge ends here.
    pub(super) fn arrive(
        &mut self,
        state: &mut State,
        context: ContextId,
        from: TaskId,
        free: bool,
    ) {
        let Some(mut value) = self.values.remove(&from) else { return };
        if free {
            return self.keep(from, value);
        }
        let mut level = None;
        if value.last {
            level = self.absorb_work(state, context, from.context);
            value.burdened += self.burden;
        }
        let through = self.raise(state, context, from.context, &value).or(level);
        if value.length > state.length {
            self.flush(state);
            let path = self.paths.share(&value.path);
            self.paths.release(std::mem::replace(&mut state.path, path));
            state.length = value.length;
            state.replace_path(through);
        }
        state.arrived();
        state.burdened = state.burdened.max(value.burdened);
        if value.last {
            value.burdened -= self.burden;
        }
        self.keep(from, value);
    }

    /// One edge less is to come. A joined context is forgotten with the last one; what it created
    /// and did not join now belongs to its creator.
    fn keep(&mut self, from: TaskId, mut value: Value) {
        value.left -= 1;
        if value.left > 0 {
            self.values.insert(from, value);
            return;
        }
        self.paths.release(value.path);
        let ended = self.ended.get(&from.context).filter(|_| value.last);
        if ended.is_some_and(|ended| ended.joined) {
            self.ended.remove(&from.context);
        }
    }

    /// Adds the work of an ended context to the frame that created it. Returns the frame, if it is
    /// in this context.
    pub(super) fn absorb_work(
        &mut self,
        state: &mut State,
        here: ContextId,
        ended: ContextId,
    ) -> Option<(usize, Owner)> {
        let child = self.ended.get_mut(&ended)?;
        let owner = child.owner?;
        if std::mem::replace(&mut child.joined, true) {
            return None;
        }
        let work = child.work;
        let add = |state: &mut State| {
            let at = state.frame_at(owner.serial)?;
            state.work += work;
            state.frames[at + 1..].iter_mut().for_each(|frame| frame.start_work += work);
            state.frames[at].children.remove(&ended);
            Some((at, owner))
        };
        if owner.context == here {
            add(state)
        } else {
            let creator = self.running.get_mut(&owner.context)?;
            add(creator);
            None
        }
    }

    /// Makes the clocks of `state` as late as the edge from `from` requires. Returns the frame
    /// whose child it comes from, and what is known of the creation, if it is in this context.
    pub(super) fn raise(
        &mut self,
        state: &mut State,
        context: ContextId,
        from: ContextId,
        value: &Value,
    ) -> Option<(usize, Owner)> {
        let (mut time, mut edges) = (value.time, value.edges);
        let (mut ahead, mut at) = (value.ahead, from);
        let mut owner = self.owner_of(from).copied();
        for _ in 0..MOST_LEVELS {
            if let Some(own) = state.owner.filter(|own| own.context == at) {
                // The edge comes from the creator, or from a sibling by way of the creator.
                let creator = self.running.get(&at)?;
                let start = creator.start(creator.frame_at(own.serial)?, edges);
                let reached = time.checked_sub(start)?;
                let here = own.since + state.ahead + state.time;
                state.ahead += reached.saturating_sub(here);
                return None;
            }
            let up = owner?;
            let since = up.since + ahead + time;
            if up.context == context {
                let frame = state.frame_at(up.serial)?;
                self.flush(state);
                state.raise(frame, since, up);
                return Some((frame, up));
            }
            let creator = self.running.get(&up.context)?;
            let start = creator.start(creator.frame_at(up.serial)?, up.edges);
            (time, edges) = (start + since, up.edges);
            (ahead, at) = (creator.ahead, up.context);
            owner = creator.owner;
        }
        None
    }
}
