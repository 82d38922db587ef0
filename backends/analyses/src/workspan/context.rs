//! One context on its way through its tasks: its call stack and its clocks.
//!
//! `time` is the longest path from the start of the context to its present task, along its own
//! tasks and the contexts that it created and joined. The span of an invocation is the difference
//! between the times of its end and its start. An edge from outside an invocation (from a sibling
//! at a barrier) moves `ahead` and not `time`: it makes only the spans of the invocations around
//! both longer.
//!
//! An edge from a child makes the spans of the invocation that created it, and of those around that
//! one, longer, but not the spans of what the invocation calls meanwhile. So how far apart the
//! starts of two nested invocations are changes, and each invocation keeps what held
//! [before](Past), for children that were created then.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use taskgraph::{BlockId, ContextId, FunctionId, Invocation};

use super::paths::PathId;

/// An invocation on the stack.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// A number that increases from frame to frame of a stack.
    pub serial: u64,
    pub function: Option<u32>,
    pub node: u32,
    pub site: u32,
    /// The function that contains the call site.
    pub caller: u32,
    /// The context's clocks at the start.
    pub start: u64,
    pub start_work: u64,
    pub local_work: u64,
    /// The part of its longest path that is its own.
    pub local_span: u64,
    /// The part of `local_span` not yet on the context's path.
    pub pending: u64,
    /// Whether its first instruction is on the context's path, and how much of its own is there
    /// already.
    pub on_path: bool,
    pub own_on_path: u64,
    /// What was different before edges that did not concern all invocations alike.
    pub past: Vec<Past>,
    /// The block whose call is under way.
    pub call: Option<BlockId>,
    /// Whether it returns when that call does.
    pub leaving: bool,
    /// Whether the next call is a spawn, and whether the call under way is one.
    pub marked: bool,
    pub spawns: bool,
    /// Where the caller goes on, if this is a spawn that is executed serially.
    pub continuation: Option<Branch>,
    /// The longest of the serially executed spawns since the last sync.
    pub longest: Option<Branch>,
    /// What-if: the factor of everything below, and the size of the pieces that its own code is cut
    /// into.
    pub factor: Option<f64>,
    pub grain: Option<u64>,
    /// Contexts that it, or what it called, created and that nobody has joined.
    pub children: FxHashSet<ContextId>,
}

impl Invocation for Frame {
    fn function(&self) -> Option<FunctionId> {
        self.function.map(FunctionId::new)
    }

    fn leaves(&self) -> bool {
        self.leaving
    }
}

/// What held for an invocation that had called something, until an edge changed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// The number of such edges before ([`State::edges`]).
    pub until: u64,
    /// From the start of the invocation below it on the stack to its own.
    pub since: u64,
    pub local_span: u64,
    pub on_path: bool,
    pub own_on_path: u64,
}

/// One side of a fork that is executed serially (Figure 3): the continuation, or the end of the
/// longest child.
#[derive(Debug)]
pub(super) struct Branch {
    pub time: u64,
    pub length: u64,
    pub burdened: u64,
    /// The spawning frame's own part of its longest path, and of the context's path, up to the
    /// spawn.
    pub local: u64,
    pub on_path: u64,
    pub path: PathId,
}

/// Numbers that invocations on the stack of a context have, and those above it.
#[derive(Debug, Default)]
pub(super) struct OnStack {
    /// How often each number is on the own stack.
    own: Vec<(u32, u32)>,
    /// Sorted.
    above: Arc<[u32]>,
    /// `above` for contexts created now, as long as the stack has the same numbers.
    below: Option<Arc<[u32]>>,
}

impl OnStack {
    /// Below others.
    pub(super) fn new(above: Arc<[u32]>) -> Self {
        Self { above, ..Self::default() }
    }

    /// Notes an invocation.
    pub(super) fn enter(&mut self, number: u32) {
        // The innermost invocations are looked up most, and they are at the end.
        match self.own.iter_mut().rfind(|known| known.0 == number) {
            Some(known) => known.1 += 1,
            None => {
                self.own.push((number, 1));
                self.below = None;
            }
        }
    }

    /// Forgets an invocation; returns whether no other one has its number.
    pub(super) fn leave(&mut self, number: u32) -> bool {
        let Some(at) = self.own.iter().rposition(|known| known.0 == number) else {
            return false;
        };
        self.own[at].1 -= 1;
        if self.own[at].1 > 0 {
            return false;
        }
        self.own.swap_remove(at);
        self.below = None;
        self.above.binary_search(&number).is_err()
    }

    /// Whether no invocation has this number.
    pub(super) fn is_new(&self, number: u32) -> bool {
        !self.own.iter().any(|known| known.0 == number)
            && self.above.binary_search(&number).is_err()
    }

    /// What is above a context that is created now.
    pub(super) fn below(&mut self) -> Arc<[u32]> {
        let Self { own, above, below } = self;
        let all = below.get_or_insert_with(|| {
            let own = own.iter().map(|known| known.0);
            let new: Vec<u32> = own.filter(|number| above.binary_search(number).is_err()).collect();
            if new.is_empty() {
                return Arc::clone(above);
            }
            let mut all = [&above[..], &new[..]].concat();
            all.sort_unstable();
            all.into()
        });
        Arc::clone(all)
    }
}

/// Where a context was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub context: ContextId,
    /// The innermost of its frames that still exists.
    pub serial: u64,
    /// Longest path from the start of that frame to the creation.
    pub since: u64,
    /// The frame's own part of that path, and of the context's path.
    pub local: u64,
    pub on_path: u64,
    /// The [`State::edges`] at the creation.
    pub edges: u64,
}

/// A context that has ended, and is not joined or awaited any more by all that do so.
#[derive(Debug)]
pub(super) struct Ended {
    pub owner: Option<Owner>,
    pub work: u64,
    /// Whether its work has been added to the frame that created it.
    pub joined: bool,
}

/// What an edge carries.
#[derive(Debug)]
pub(super) struct Value {
    pub time: u64,
    pub edges: u64,
    pub ahead: u64,
    pub length: u64,
    pub burdened: u64,
    pub path: PathId,
    /// Number of edges whose end is still to come.
    pub left: u32,
    /// Whether the task was the last of its context.
    pub last: bool,
}

/// A context that runs, or will when it begins.
#[derive(Debug, Default)]
pub(super) struct State {
    pub owner: Option<Owner>,
    pub time: u64,
    pub work: u64,
    /// How much later it is at its present task than by its own tasks alone, as seen from its
    /// owner.
    pub ahead: u64,
    /// Longest path from the start of the program, and the same with burdens.
    pub length: u64,
    pub burdened: u64,
    pub path: PathId,
    /// Number of edges that did not concern all frames alike.
    pub edges: u64,
    /// Whether the edge that is arriving is one of these.
    pub(super) kept: bool,
    pub frames: Vec<Frame>,
    pub next_serial: u64,
    /// Call sites, and calling functions.
    pub sites: OnStack,
    pub callers: OnStack,
    /// The node of the tree below which its first invocation hangs, and the call that creates it.
    pub from: u32,
    pub spawned_at: Option<BlockId>,
    pub factor: Option<f64>,
}

impl State {
    /// Of a context that nobody created.
    pub(super) fn new(path: PathId) -> Self {
        Self { path, from: super::tree::Tree::ROOT, ..Self::default() }
    }

    /// The frame with this serial number, or the innermost one before it.
    pub(super) fn frame_at(&self, serial: u64) -> Option<usize> {
        self.frames.partition_point(|frame| frame.serial <= serial).checked_sub(1)
    }
}
