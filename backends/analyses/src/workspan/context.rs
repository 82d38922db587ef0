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
    pub top_call_site: bool,
    pub top_caller: bool,
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

/// The call sites and the calling functions of the invocations above a context.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Above {
    pub sites: Vec<u32>,
    pub callers: Vec<u32>,
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
    /// Its last task, and what that hands over until all have it.
    pub last: u32,
    pub value: Option<Value>,
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
    /// How often each call site, and each calling function, is on the stack.
    pub sites: Vec<(u32, u32)>,
    pub callers: Vec<(u32, u32)>,
    pub above: Arc<Above>,
    /// `above` for contexts created now, as long as the stack has the same call sites.
    pub for_children: Option<Arc<Above>>,
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

    /// Notes an invocation; returns whether its call site and its calling function are on the stack
    /// for the first time.
    pub(super) fn enter(&mut self, site: u32, caller: u32) -> (bool, bool) {
        let new_site = count_up(&mut self.sites, site);
        let new_caller = count_up(&mut self.callers, caller);
        let top_site = new_site && self.above.sites.binary_search(&site).is_err();
        let top_caller = new_caller && self.above.callers.binary_search(&caller).is_err();
        if top_site || top_caller {
            self.for_children = None;
        }
        (top_site, top_caller)
    }

    /// Whether a call site and a calling function are not on the stack.
    pub(super) fn are_new(&self, site: u32, caller: u32) -> (bool, bool) {
        let new = |own: &[(u32, u32)], above: &[u32], key: u32| {
            !own.iter().any(|entry| entry.0 == key) && above.binary_search(&key).is_err()
        };
        (new(&self.sites, &self.above.sites, site), new(&self.callers, &self.above.callers, caller))
    }

    /// Forgets an invocation.
    pub(super) fn leave(&mut self, frame: &Frame) {
        count_down(&mut self.sites, frame.site);
        count_down(&mut self.callers, frame.caller);
        if frame.top_call_site || frame.top_caller {
            self.for_children = None;
        }
    }

    /// What is above a context that is created now.
    pub(super) fn above_children(&mut self) -> Arc<Above> {
        if let Some(known) = &self.for_children {
            return Arc::clone(known);
        }
        let sites = with(&self.above.sites, &self.sites);
        let callers = with(&self.above.callers, &self.callers);
        let above = match (sites, callers) {
            (None, None) => Arc::clone(&self.above),
            (sites, callers) => Arc::new(Above {
                sites: sites.unwrap_or_else(|| self.above.sites.clone()),
                callers: callers.unwrap_or_else(|| self.above.callers.clone()),
            }),
        };
        self.for_children = Some(Arc::clone(&above));
        above
    }

    /// The frame with this serial number, or the innermost one before it.
    pub(super) fn frame_at(&self, serial: u64) -> Option<usize> {
        self.frames.partition_point(|frame| frame.serial <= serial).checked_sub(1)
    }
}

fn count_up(counts: &mut Vec<(u32, u32)>, key: u32) -> bool {
    // The innermost invocations are looked up most, and they are at the end.
    if let Some(entry) = counts.iter_mut().rev().find(|entry| entry.0 == key) {
        entry.1 += 1;
        return false;
    }
    counts.push((key, 1));
    true
}

fn count_down(counts: &mut Vec<(u32, u32)>, key: u32) {
    if let Some(at) = counts.iter().rposition(|entry| entry.0 == key) {
        counts[at].1 -= 1;
        if counts[at].1 == 0 {
            counts.swap_remove(at);
        }
    }
}

/// `all` and the keys of `own`, sorted; `None` if `all` has them all.
fn with(all: &[u32], own: &[(u32, u32)]) -> Option<Vec<u32>> {
    let new: Vec<u32> =
        own.iter().map(|entry| entry.0).filter(|key| all.binary_search(key).is_err()).collect();
    if new.is_empty() {
        return None;
    }
    let mut all = all.to_vec();
    all.extend(new);
    all.sort_unstable();
    Some(all)
}
