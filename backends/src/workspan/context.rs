//! One context on its way through its tasks: its call stack and its clocks.
//!
//! `time` is the longest path from the start of the context to where it is, along its own tasks and the contexts it
//! created and joined; the span of an invocation is the difference between its end and its start. An edge from outside
//! an invocation (a sibling at a barrier) moves `ahead`, not `time`: it makes nobody's own span longer but that of the
//! invocations around both.

use std::sync::Arc;

use taskgraph::{BlockId, ContextId};

use super::paths::PathId;

/// An invocation on the stack.
#[derive(Debug)]
pub(super) struct Frame {
    /// Increases from frame to frame of a stack.
    pub serial: u64,
    pub function: Option<u32>,
    pub node: u32,
    pub site: u32,
    /// The function the call site is in.
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
    /// Its first instruction is on the context's path.
    pub on_path: bool,
    /// The block whose call is under way.
    pub call: Option<BlockId>,
    /// It returns when that call does.
    pub leaving: bool,
    /// The next call is a spawn; the call under way is one.
    pub marked: bool,
    pub spawns: bool,
    /// Where the caller goes on, if this is a spawn executed serially.
    pub continuation: Option<Branch>,
    /// The longest of the serially executed spawns since the last sync.
    pub longest: Option<Branch>,
    /// What-if: factor of everything below, and size of the pieces its own code is cut into.
    pub factor: Option<f64>,
    pub grain: Option<u64>,
    /// Contexts created by it, or by what it called, that nobody has joined.
    pub children: Vec<ContextId>,
}

/// One side of a fork that is executed serially (Figure 3): the continuation, or the end of the longest child.
#[derive(Debug)]
pub(super) struct Branch {
    pub time: u64,
    pub length: u64,
    pub burdened: u64,
    /// The spawning frame's own part of its longest path, up to the spawn.
    pub local: u64,
    pub path: PathId,
}

/// Call sites and calling functions of the invocations a context is below.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Above {
    pub sites: Vec<u32>,
    pub callers: Vec<u32>,
}

/// Where a context was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub context: ContextId,
    /// The innermost of its frames that is still there.
    pub serial: u64,
    /// Longest path from the start of that frame to the creation.
    pub since: u64,
    /// The frame's own part of it.
    pub local: u64,
}

/// A context under way, or ended and not yet joined.
#[derive(Debug)]
pub(super) struct State {
    pub owner: Option<Owner>,
    pub time: u64,
    pub work: u64,
    /// How much later than by its own tasks it is here, as seen from its owner.
    pub ahead: u64,
    /// Longest path from the start of the program; the same with burdens.
    pub length: u64,
    pub burdened: u64,
    pub path: Option<PathId>,
    pub frames: Vec<Frame>,
    pub next_serial: u64,
    /// How often a call site, a calling function is on the stack.
    pub sites: Vec<(u32, u32)>,
    pub callers: Vec<(u32, u32)>,
    pub above: Arc<Above>,
    /// `above` for contexts created now, until the stack has another call site on it.
    pub for_children: Option<Arc<Above>>,
    /// Where its first invocation hangs.
    pub from: u32,
    pub spawned_at: Option<BlockId>,
    pub factor: Option<f64>,
    /// Its work has become that of the frame that created it.
    pub joined: bool,
}

impl State {
    pub(super) fn new(path: PathId) -> Self {
        Self {
            owner: None,
            time: 0,
            work: 0,
            ahead: 0,
            length: 0,
            burdened: 0,
            path: Some(path),
            frames: Vec::new(),
            next_serial: 0,
            sites: Vec::new(),
            callers: Vec::new(),
            above: Arc::default(),
            for_children: None,
            from: super::tree::Tree::ROOT,
            spawned_at: None,
            factor: None,
            joined: false,
        }
    }

    /// Notes an invocation; whether its call site and its calling function are there for the first time.
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

    /// Forgets an invocation.
    pub(super) fn leave(&mut self, frame: &Frame) {
        count_down(&mut self.sites, frame.site);
        count_down(&mut self.callers, frame.caller);
        if frame.top_call_site || frame.top_caller {
            self.for_children = None;
        }
    }

    /// What a context created now is below.
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
        self.frames
            .partition_point(|frame| frame.serial <= serial)
            .checked_sub(1)
    }
}

fn count_up(counts: &mut Vec<(u32, u32)>, key: u32) -> bool {
    // The innermost ones are looked for most: they are at the end.
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

/// `all` and the keys of `own`, sorted; `None` when they are all there.
fn with(all: &[u32], own: &[(u32, u32)]) -> Option<Vec<u32>> {
    let new: Vec<u32> = own
        .iter()
        .map(|entry| entry.0)
        .filter(|key| all.binary_search(key).is_err())
        .collect();
    if new.is_empty() {
        return None;
    }
    let mut all = all.to_vec();
    all.extend(new);
    all.sort_unstable();
    Some(all)
}
