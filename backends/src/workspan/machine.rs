//! The walk over the graph: call stacks from blocks, work-span clocks, longest paths and their profiles.
//!
//! Tasks come in breadth-first order, so one pass is enough; what is kept is the state of the contexts that have not
//! been joined and the values on edges whose end is still to come.

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{
    Action, BlockId, ContextId, FunctionId, StaticInfo, Task, TaskId, TaskKind, WaitCause,
};
use workspan::{Measure, Sum};

use super::change::{Change, Effect};
use super::context::{Branch, Frame, Owner, State};
use super::metric::{BlockFacts, Mark, Metric};
use super::paths::{PathId, Paths};
use super::tree::{SiteKey, Tree};
use crate::parallelism::{State as Doing, state_of};

/// Levels of creation an edge is followed up: beyond, it counts for the whole program only.
const MOST_LEVELS: usize = 64;
/// The calling function of what no recorded function called.
const NOBODY: u32 = u32::MAX;

/// How work and span are counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub metric: Metric,
    /// Mutual exclusion orders nobody.
    pub free_locks: bool,
    pub burden: u64,
    pub changes: Vec<Change>,
}

/// What an edge carries.
#[derive(Debug)]
struct Value {
    time: u64,
    ahead: u64,
    length: u64,
    burdened: u64,
    path: PathId,
    /// Ends of the edges to come.
    left: usize,
    /// The task was the last of its context.
    last: bool,
}

/// The walk.
#[derive(Debug)]
pub(super) struct Machine<'g> {
    info: &'g StaticInfo,
    rules: Rules,
    facts: Vec<BlockFacts>,
    states: FxHashMap<ContextId, Box<State>>,
    values: FxHashMap<TaskId, Value>,
    paths: Paths,
    /// What the changes make of each node: factor, grain.
    effects: Vec<(Option<f64>, Option<u64>)>,
    pub tree: Tree,
    /// By node of the tree.
    pub on_work: Vec<Measure>,
    pub least_slack: Vec<u64>,
    pub work: u64,
    pub span: u64,
    pub burdened: u64,
    longest: Option<PathId>,
    pub tasks: u64,
    /// Contexts nobody joined.
    pub unjoined: u64,
}

impl<'g> Machine<'g> {
    pub(super) fn new(info: &'g StaticInfo, rules: Rules) -> Self {
        Self {
            info,
            facts: BlockFacts::of(info, rules.metric),
            rules,
            states: FxHashMap::default(),
            values: FxHashMap::default(),
            paths: Paths::default(),
            effects: Vec::new(),
            tree: Tree::default(),
            on_work: Vec::new(),
            least_slack: Vec::new(),
            work: 0,
            span: 0,
            burdened: 0,
            longest: None,
            tasks: 0,
            unjoined: 0,
        }
    }

    /// Takes the next task of the breadth-first order. `tasks_in_context` is the number of tasks its context has,
    /// `slack` how much longer the task could take, if that is known.
    pub(super) fn task<D: AsRef<[u8]>>(
        &mut self,
        task: &Task<'_, D>,
        tasks_in_context: u32,
        slack: Option<u64>,
    ) -> Result<()> {
        let id = task.id();
        self.tasks += 1;
        let mut state = match self.states.remove(&id.context) {
            Some(state) => state,
            None => self.first_context(),
        };
        let free = self.rules.free_locks && task.op().cause() == Some(WaitCause::Lock);
        for &from in task.stored_dependencies() {
            self.arrive(&mut state, id.context, from, free);
        }
        self.run(&mut state, task, slack)?;
        let dependents = task.dependents()?;
        let mut edges = dependents.len();
        if task.kind() == TaskKind::Create {
            edges -= self.create(&mut state, id, task.object(), &dependents);
        }
        let last = id.seq + 1 >= tasks_in_context;
        if last {
            self.end(&mut state);
        }
        if edges > 0 {
            self.flush(&mut state);
            let path = state.path.get_or_insert_with(|| self.paths.empty());
            let value = Value {
                time: state.time,
                ahead: state.ahead,
                length: state.length,
                burdened: state.burdened,
                path: self.paths.share(path),
                left: edges,
                last,
            };
            self.values.insert(id, value);
        }
        if last {
            self.conclude(&mut state);
        }
        self.states.insert(id.context, state);
        Ok(())
    }

    /// What lies on the longest path, by node of the tree. Call it after the last task.
    pub(super) fn on_span(&mut self) -> Vec<Measure> {
        let mut measures = vec![Measure::default(); self.tree.nodes().len()];
        if let Some(path) = self.longest.take() {
            self.paths
                .print(path, |node, measure| measures[node as usize] = measure);
        }
        self.unjoined = self
            .states
            .values()
            .filter(|state| state.owner.is_some() && !state.joined)
            .count() as u64;
        measures
    }

    /// A context nobody created: the program itself is its caller.
    fn first_context(&mut self) -> Box<State> {
        let mut state = Box::new(State::new(self.paths.empty()));
        let site = self.tree.site(SiteKey::Program);
        self.push_at(&mut state, Tree::ROOT, site, NOBODY, None);
        state
    }

    // Edges.

    fn create(
        &mut self,
        state: &mut State,
        id: TaskId,
        object: u64,
        dependents: &[TaskId],
    ) -> usize {
        let Some(child) = u32::try_from(object).ok().map(ContextId::new) else {
            return 0;
        };
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
        };
        let (node, call, factor) = (frame.node, frame.call, frame.factor);
        let path = state.path.get_or_insert_with(|| self.paths.empty());
        let mut new = Box::new(State::new(self.paths.share(path)));
        new.owner = Some(owner);
        (new.length, new.burdened) = (state.length, state.burdened);
        (new.from, new.spawned_at, new.factor) = (node, call, factor);
        new.above = state.above_children();
        // Cilkview's burden: on the continuation, and on the way back at the join.
        state.burdened += self.rules.burden;
        if let Some(frame) = state.frames.last_mut() {
            frame.children.push(child);
        }
        self.states.insert(child, new);
        usize::from(dependents.contains(&TaskId::new(child, 0)))
    }

    /// An edge ends here.
    fn arrive(&mut self, state: &mut State, context: ContextId, from: TaskId, free: bool) {
        let Some(mut value) = self.values.remove(&from) else {
            return;
        };
        if free {
            return self.keep(from, value);
        }
        let mut level = None;
        if value.last {
            level = self.absorb_work(state, context, from.context);
            value.burdened += self.rules.burden;
        }
        let kept = self.raise(state, context, from.context, &value).or(level);
        if value.length > state.length {
            self.flush(state);
            let path = self.paths.share(&value.path);
            if let Some(old) = state.path.replace(path) {
                self.paths.release(old);
            }
            state.length = value.length;
            let kept = kept.map_or(0, |at| at + 1);
            state.frames[kept..]
                .iter_mut()
                .for_each(|frame| frame.on_path = false);
        }
        state.burdened = state.burdened.max(value.burdened);
        if value.last {
            value.burdened -= self.rules.burden;
        }
        self.keep(from, value);
    }

    fn keep(&mut self, from: TaskId, mut value: Value) {
        value.left -= 1;
        if value.left == 0 {
            self.paths.release(value.path);
            if value.last {
                self.forget(from.context);
            }
        } else {
            self.values.insert(from, value);
        }
    }

    /// A context that was joined is not needed any more: what it created and did not join is its creator's.
    fn forget(&mut self, context: ContextId) {
        if self.states.get(&context).is_some_and(|state| state.joined) {
            self.states.remove(&context);
        }
    }

    /// The work of a context that ended becomes that of the frame that created it. The frame, if it is here.
    fn absorb_work(
        &mut self,
        state: &mut State,
        here: ContextId,
        ended: ContextId,
    ) -> Option<usize> {
        let child = self.states.get_mut(&ended)?;
        let owner = child.owner?;
        if std::mem::replace(&mut child.joined, true) {
            return None;
        }
        let work = child.work;
        let add = |state: &mut State| {
            let at = state.frame_at(owner.serial)?;
            state.work += work;
            state.frames[at + 1..]
                .iter_mut()
                .for_each(|frame| frame.start_work += work);
            let children = &mut state.frames[at].children;
            if let Some(at) = children.iter().rposition(|&child| child == ended) {
                children.swap_remove(at);
            }
            Some(at)
        };
        if owner.context == here {
            add(state)
        } else {
            let creator = self.states.get_mut(&owner.context)?;
            add(creator);
            None
        }
    }

    /// Makes the clocks of `state` as late as the edge from `from` says. The frame whose span that was, if it is here.
    fn raise(
        &mut self,
        state: &mut State,
        context: ContextId,
        from: ContextId,
        value: &Value,
    ) -> Option<usize> {
        let (mut time, mut ahead, mut at) = (value.time, value.ahead, from);
        let mut owner = self.states.get(&from).and_then(|state| state.owner);
        for _ in 0..MOST_LEVELS {
            if let Some(own) = state.owner.filter(|own| own.context == at) {
                // From the creator, or from a sibling by way of it.
                let creator = self.states.get(&at)?;
                let start = creator.frames.get(creator.frame_at(own.serial)?)?.start;
                let reached = time.checked_sub(start)?;
                let here = own.since + state.ahead + state.time;
                state.ahead += reached.saturating_sub(here);
                return None;
            }
            let up = owner?;
            let since = up.since + ahead + time;
            if up.context == context {
                let frame = state.frame_at(up.serial)?;
                let here = state.time - state.frames[frame].start;
                let more = since.saturating_sub(here);
                if more > 0 {
                    self.flush(state);
                    state.time += more;
                    state.frames[frame + 1..]
                        .iter_mut()
                        .for_each(|frame| frame.start += more);
                    state.frames[frame].local_span = up.local;
                }
                return Some(frame);
            }
            let creator = self.states.get(&up.context)?;
            let start = creator.frames.get(creator.frame_at(up.serial)?)?.start;
            (time, ahead, at) = (start + since, creator.ahead, up.context);
            owner = creator.owner;
        }
        None
    }

    // Blocks.

    fn run<D: AsRef<[u8]>>(
        &mut self,
        state: &mut State,
        task: &Task<'_, D>,
        slack: Option<u64>,
    ) -> Result<()> {
        let running = state_of(task.kind(), task.op()) == Doing::Running;
        let ns = match self.rules.metric {
            Metric::Time if running => task.duration_ns(),
            _ => 0,
        };
        if task.kind() != TaskKind::Work || task.block_count() == 0 {
            if ns > 0 {
                self.first_frame(state, None);
                self.advance(state, ns, slack);
            }
            return Ok(());
        }
        let mut total = 0u64;
        if self.rules.metric == Metric::Time {
            task.for_each_block(|block| {
                total += self
                    .facts
                    .get(block.id().index())
                    .map_or(0, |facts| facts.weight(block));
            })?;
        }
        let mut cut = Cut {
            ns,
            total,
            passed: 0,
            given: 0,
            open: 0,
            time: self.rules.metric == Metric::Time,
        };
        task.for_each_action(|action| {
            if let Action::Block(block) = action {
                let Some(&facts) = self.facts.get(block.id().index()) else {
                    return;
                };
                let stays = !facts.entry
                    && state
                        .frames
                        .last()
                        .is_some_and(|top| top.function == Some(facts.function) && !top.leaving);
                if !stays {
                    let before = cut.take();
                    self.advance(state, before, slack);
                    // The first block of a created context is that of its first invocation.
                    let first = self.first_frame(state, Some(facts.function));
                    if !(first && facts.entry) {
                        self.place(state, &facts);
                    }
                }
                cut.open += facts.weight(&block);
                if let Some(top) = state.frames.last_mut() {
                    top.call = facts.calls.then(|| block.id());
                    top.leaving = facts.calls && facts.returns;
                    if facts.calls {
                        top.spawns = std::mem::replace(&mut top.marked, false);
                    }
                    match facts.mark {
                        Some(Mark::Spawn) => top.marked = true,
                        Some(Mark::Sync) => {
                            let before = cut.take();
                            self.advance(state, before, slack);
                            self.sync(state);
                        }
                        None => {}
                    }
                }
                if facts.returns && !facts.calls {
                    let before = cut.take();
                    self.advance(state, before, slack);
                    self.returned(state);
                }
            }
        })?;
        let rest = cut.take();
        self.advance(state, rest, slack);
        Ok(())
    }

    /// Makes the frame that a block belongs to the innermost one.
    fn place(&mut self, state: &mut State, facts: &BlockFacts) {
        if facts.entry {
            self.push(state, Some(facts.function));
            return;
        }
        let belongs = |frame: &Frame| frame.function == Some(facts.function) && !frame.leaving;
        if state.frames.last().is_some_and(belongs) {
            return;
        }
        match state.frames.iter().rposition(belongs) {
            Some(at) => {
                while state.frames.len() > at + 1 {
                    self.pop(state);
                }
            }
            // Its entry was not recorded.
            None => {
                while state.frames.len() > 1 && state.frames.last().is_some_and(|top| top.leaving) {
                    self.pop(state);
                }
                if let Some(top) = state.frames.last_mut() {
                    top.call = None;
                }
                self.push(state, Some(facts.function));
            }
        }
    }

    /// The innermost frame returns; the first of a context stays for what runs in it without a recorded caller.
    fn returned(&mut self, state: &mut State) {
        if state.frames.len() > 1 {
            self.pop(state);
        }
    }

    /// The first invocation of a created context, unless it is there; whether it was not.
    fn first_frame(&mut self, state: &mut State, function: Option<u32>) -> bool {
        if !state.frames.is_empty() {
            return false;
        }
        let (key, caller) = match state
            .spawned_at
            .and_then(|at| self.info.block(at).map(|b| (at, b)))
        {
            Some((at, block)) => (SiteKey::Spawn(at), block.function.get()),
            None => (SiteKey::SpawnOutside, NOBODY),
        };
        let site = self.tree.site(key);
        let node = self
            .tree
            .child(state.from, site, function.map(FunctionId::new));
        self.push_at(state, node, site, caller, function);
        true
    }

    fn push(&mut self, state: &mut State, function: Option<u32>) {
        let top = state.frames.last();
        let (from, call) = top.map_or((Tree::ROOT, None), |top| (top.node, top.call));
        let spawns = top.is_some_and(|top| top.spawns);
        let block = call.and_then(|at: BlockId| self.info.block(at).map(|block| (at, block)));
        let (key, caller) = match (block, function) {
            (Some((at, block)), _) if spawns => (SiteKey::Spawn(at), block.function.get()),
            (Some((at, block)), _) => (SiteKey::Call(at), block.function.get()),
            (None, Some(function)) => (SiteKey::Outside(FunctionId::new(function)), NOBODY),
            (None, None) => (SiteKey::Program, NOBODY),
        };
        let site = self.tree.site(key);
        let node = self.tree.child(from, site, function.map(FunctionId::new));
        self.push_at(state, node, site, caller, function);
        if spawns {
            self.fork(state);
        }
    }

    /// The frame just pushed is a spawn that is executed before its continuation.
    fn fork(&mut self, state: &mut State) {
        let path = state.path.get_or_insert_with(|| self.paths.empty());
        let path = self.paths.share(path);
        let local = state.frames.len().checked_sub(2).map(|at| {
            let caller = &mut state.frames[at];
            caller.spawns = false;
            caller.local_span
        });
        if let Some(frame) = state.frames.last_mut() {
            frame.continuation = Some(Branch {
                time: state.time,
                length: state.length,
                burdened: state.burdened + self.rules.burden,
                local: local.unwrap_or_default(),
                path,
            });
        }
    }

    /// A spawned frame has been popped: the caller goes on from the spawn (Figure 3, lines 10-13).
    fn back(&mut self, state: &mut State, continuation: Branch) {
        let path = state.path.replace(continuation.path);
        let child = Branch {
            time: state.time,
            length: state.length,
            burdened: state.burdened + self.rules.burden,
            local: continuation.local,
            path: path.unwrap_or_else(|| self.paths.empty()),
        };
        state.time = continuation.time;
        state.length = continuation.length;
        state.burdened = continuation.burdened;
        let longest = state.frames.last_mut().map(|frame| &mut frame.longest);
        match longest {
            Some(Some(longest)) if longest.length >= child.length => {
                longest.burdened = longest.burdened.max(child.burdened);
                self.paths.release(child.path);
            }
            Some(slot) => {
                let burdened = slot.as_ref().map_or(0, |old| old.burdened);
                if let Some(old) = slot.replace(child) {
                    self.paths.release(old.path);
                }
                if let Some(new) = slot {
                    new.burdened = new.burdened.max(burdened);
                }
            }
            None => self.paths.release(child.path),
        }
    }

    /// The innermost frame waits for its serially executed spawns (Figure 3, lines 14-19).
    fn sync(&mut self, state: &mut State) {
        let Some(child) = state
            .frames
            .last_mut()
            .and_then(|frame| frame.longest.take())
        else {
            return;
        };
        self.flush(state);
        state.burdened = state.burdened.max(child.burdened);
        // Of two as long the child's (Figure 3, line 17).
        if child.length < state.length {
            return self.paths.release(child.path);
        }
        (state.time, state.length) = (child.time, child.length);
        if let Some(frame) = state.frames.last_mut() {
            frame.local_span = child.local;
        }
        if let Some(old) = state.path.replace(child.path) {
            self.paths.release(old);
        }
    }

    fn push_at(
        &mut self,
        state: &mut State,
        node: u32,
        site: u32,
        caller: u32,
        function: Option<u32>,
    ) {
        self.flush(state);
        // What no recorded function called is never recursive through its caller.
        let (top_call_site, top_caller) = state.enter(site, caller);
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
            top_call_site,
            top_caller: top_caller || caller == NOBODY,
            start: state.time,
            start_work: state.work,
            local_work: 0,
            local_span: 0,
            pending: 0,
            on_path: true,
            call: None,
            leaving: false,
            marked: false,
            spawns: false,
            continuation: None,
            longest: None,
            factor,
            grain,
            children: Vec::new(),
        };
        state.next_serial += 1;
        state.frames.push(frame);
    }

    fn effect(&mut self, node: u32) -> (Option<f64>, Option<u64>) {
        if self.rules.changes.is_empty() {
            return (None, None);
        }
        while self.effects.len() < self.tree.nodes().len() {
            let new = &self.tree.nodes()[self.effects.len()];
            let key = self.tree.sites()[new.site as usize];
            let mut effect = (None, None);
            for change in &self.rules.changes {
                if change.selector.matches(self.info, key, new.function) {
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

    fn pop(&mut self, state: &mut State) {
        self.sync(state);
        let Some(mut frame) = state.frames.pop() else {
            return;
        };
        let continuation = frame.continuation.take();
        state.leave(&frame);
        let (work, span) = (state.work - frame.start_work, state.time - frame.start);
        let sum = |counts: bool| {
            if counts {
                Sum::one(work, span)
            } else {
                Sum::default()
            }
        };
        let mut measure = Measure {
            top_call_site: sum(frame.top_call_site),
            top_caller: sum(frame.top_caller),
            local: Sum::one(frame.local_work, frame.local_span),
        };
        let at = frame.node as usize;
        if self.on_work.len() <= at {
            self.on_work.resize(at + 1, Measure::default());
        }
        self.on_work[at] += measure;
        measure.local.span = frame.pending;
        if !frame.on_path {
            measure = Measure {
                local: Sum {
                    count: 0,
                    work: 0,
                    span: frame.pending,
                },
                ..Measure::default()
            };
        }
        if frame.on_path || frame.pending > 0 {
            let path = state.path.get_or_insert_with(|| self.paths.empty());
            self.paths.add(path, frame.node, measure);
        }
        if let Some(f) = state.frames.last_mut() {
            let (since, local) = (frame.start - f.start, f.local_span);
            let serial = f.serial;
            f.children.extend_from_slice(&frame.children);
            for child in &frame.children {
                if let Some(owner) = self.states.get_mut(child).and_then(|s| s.owner.as_mut()) {
                    (owner.serial, owner.since, owner.local) = (serial, owner.since + since, local);
                }
            }
        } else {
            self.lift(state, &frame.children);
        }
        if let Some(continuation) = continuation {
            self.back(state, continuation);
        }
    }

    /// What a context created and did not join belongs to the frame that created the context.
    fn lift(&mut self, state: &State, children: &[ContextId]) {
        let Some(own) = state.owner else {
            return;
        };
        for child in children {
            if let Some(owner) = self.states.get_mut(child).and_then(|s| s.owner.as_mut()) {
                *owner = Owner {
                    since: own.since + state.ahead + owner.since,
                    ..own
                };
            }
        }
        if let Some(creator) = self.states.get_mut(&own.context)
            && let Some(at) = creator.frame_at(own.serial)
        {
            creator.frames[at].children.extend_from_slice(children);
        }
    }

    /// The innermost frame executes code.
    fn advance(&mut self, state: &mut State, amount: u64, slack: Option<u64>) {
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
        let amount = top
            .factor
            .map_or(amount, |factor| (amount as f64 * factor) as u64);
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
        if let Some(slack) = slack {
            let at = top.node as usize;
            if self.least_slack.len() <= at {
                self.least_slack.resize(at + 1, u64::MAX);
            }
            self.least_slack[at] = self.least_slack[at].min(slack);
        }
    }

    /// Puts what the innermost frame executed on the path.
    fn flush(&mut self, state: &mut State) {
        if let Some(top) = state.frames.last_mut()
            && top.pending > 0
        {
            let strand = Measure {
                local: Sum {
                    count: 0,
                    work: 0,
                    span: std::mem::take(&mut top.pending),
                },
                ..Measure::default()
            };
            let path = state.path.get_or_insert_with(|| self.paths.empty());
            self.paths.add(path, top.node, strand);
        }
    }

    fn end(&mut self, state: &mut State) {
        self.first_frame(state, None);
        while !state.frames.is_empty() {
            self.pop(state);
        }
        state.for_children = None;
    }

    /// The path of a context that ended is the longest of all, or nobody's.
    fn conclude(&mut self, state: &mut State) {
        self.burdened = self.burdened.max(state.burdened);
        let Some(path) = state.path.take() else {
            return;
        };
        if self.longest.is_none() || state.length >= self.span {
            self.span = state.length;
            if let Some(old) = self.longest.replace(path) {
                self.paths.release(old);
            }
        } else {
            self.paths.release(path);
        }
        (state.sites, state.callers, state.frames) = Default::default();
    }
}

/// The weight of a task, handed out piece by piece: the pieces add up to its time exactly.
#[derive(Debug)]
struct Cut {
    ns: u64,
    total: u64,
    passed: u64,
    given: u64,
    open: u64,
    time: bool,
}

impl Cut {
    fn take(&mut self) -> u64 {
        let open = std::mem::take(&mut self.open);
        if !self.time {
            return open;
        }
        if self.total == 0 {
            return 0;
        }
        self.passed += open;
        let until = u128::from(self.ns) * u128::from(self.passed) / u128::from(self.total);
        let until = u64::try_from(until).unwrap_or(self.ns);
        let piece = until - self.given;
        self.given = until;
        piece
    }
}
