//! The work-span variables on a shadow stack (section 3, Figure 3) with their profiles (section 4),
//! for a serial execution of a fork-join program.
//!
//! The profile of every frame's work variable ends in that of the outermost frame, so there is one
//! table for it instead of a profile in each frame. The profiles of the span variables lie in one
//! list (`prof`). Local spans, which are the frame's own parts of the paths, are kept beside the
//! spans. An invocation without a spawn uses only one span variable, its continuation, and no sync
//! moves it.

mod frame;

use serde::{Deserialize, Serialize};

use self::frame::Frame;
use crate::measure::{Above, Invocation, Measure, Sum};
use crate::prof::Log;

/// How an invocation runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The caller waits for it.
    #[default]
    Call,
    /// It may run in parallel with what follows, until the caller's next sync, or until the caller
    /// returns.
    Spawn,
}

impl Kind {
    /// The word for it in the file and in texts.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Spawn => "spawn",
        }
    }
}

/// A call site as [`Shadow`] sees it, with dense numbers given by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// The call site.
    pub id: u32,
    /// The function that contains the call site.
    pub caller: u32,
    /// Whether it is a call or a spawn.
    pub kind: Kind,
}

/// What is known of a call site.
#[derive(Clone, Copy, Debug, Default)]
struct SiteState {
    on_work: Measure,
    /// Whether an invocation is on the stack.
    on_stack: bool,
}

/// The shadow stack and the profiles. The caller may keep a value `T` with each invocation on the
/// stack.
#[derive(Debug, Default)]
pub struct Shadow<T = ()> {
    log: Log,
    /// The stack; its bottom is the frame that the outermost invocation returns to, once there is
    /// one.
    stack: Vec<Frame<T>>,
    deepest: usize,
    now: u64,
    sites: Vec<SiteState>,
    /// For each calling function: whether an invocation is on the stack.
    callers: Vec<bool>,
}

fn grow<T: Clone + Default>(all: &mut Vec<T>, at: u32) {
    let at = at as usize;
    if all.len() <= at {
        all.resize(at + 1, T::default());
    }
}

impl<T: Copy + Default> Shadow<T> {
    /// Number of invocations on the stack.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.above().len()
    }

    /// The invocations on the stack, the outermost first.
    fn above(&self) -> &[Frame<T>] {
        self.stack.get(1..).unwrap_or_default()
    }

    /// The largest number of invocations that were on the stack.
    #[must_use]
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// Number of list elements allocated for profiles, the O(DS) of Theorem 5.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.log.room()
    }

    /// The caller's value for the innermost invocation; outside of all invocations, the default.
    #[inline(always)]
    #[must_use]
    pub fn top(&self) -> T {
        self.stack.last().map(|frame| frame.tag).unwrap_or_default()
    }

    /// F calls or spawns G (lines 1-4).
    pub fn enter(&mut self, site: Site, tag: T) {
        self.prepare(site);
        let entered = self.enter_at(self.now, site, tag);
        debug_assert!(entered, "everything was prepared");
    }

    /// F calls or spawns G at `now`. If memory must be made first ([`Self::prepare`]), it does
    /// nothing and returns false.
    #[inline(always)]
    pub fn enter_at(&mut self, now: u64, site: Site, tag: T) -> bool {
        let (Some(state), Some(caller)) =
            (self.sites.get_mut(site.id as usize), self.callers.get_mut(site.caller as usize))
        else {
            return false;
        };
        if self.stack.len() == self.stack.capacity() {
            return false;
        }
        let above = Above { site: state.on_stack, caller: *caller };
        (state.on_stack, *caller) = (true, true);
        self.deepest = self.deepest.max(self.stack.len());
        self.stack.push(Frame::new(now, site, tag, above, self.log.end()));
        true
    }

    /// Makes the memory for an invocation; before the first one, forgets what the last computation
    /// left.
    #[cold]
    #[inline(never)]
    pub fn prepare(&mut self, site: Site) {
        grow(&mut self.sites, site.id);
        grow(&mut self.callers, site.caller);
        self.log.discover(site.id);
        if self.depth() == 0 {
            self.stack.clear();
            self.stack.push(Frame::default());
            self.log.drop_from(0);
        }
        self.stack.reserve(1);
    }

    /// F executes instructions (lines 20-21) until `now`, which never decreases.
    #[inline(always)]
    pub fn advance_to(&mut self, now: u64) {
        self.now = now;
    }

    /// F executes instructions (lines 20-21).
    #[inline]
    pub fn advance(&mut self, amount: u64) {
        self.now += amount;
    }

    /// F syncs (lines 14-19).
    #[inline]
    pub fn sync(&mut self) {
        if let [_, .., f] = self.stack.as_mut_slice() {
            f.sync(self.now, &mut self.log);
        }
    }

    /// Within an invocation, F calls or spawns G, which executes `amount` and returns at `now`
    /// without invoking anything. If memory must be made first ([`Self::prepare`]), it does nothing
    /// and returns false.
    #[inline(always)]
    pub fn leaf_at(&mut self, now: u64, site: Site, amount: u64) -> bool {
        let (Some(state), Some(&caller), Some(f)) = (
            self.sites.get_mut(site.id as usize),
            self.callers.get(site.caller as usize),
            self.stack.last_mut(),
        ) else {
            return false;
        };
        let log = &mut self.log;
        let above = Above { site: state.on_stack, caller };
        let one = Invocation::leaf(site.id, amount, above);
        f.own_since += amount;
        match site.kind {
            Kind::Call => log.add(f.continuation, one),
            Kind::Spawn => {
                f.path_since += amount;
                let from = log.end();
                log.add(from, one);
                f.spawned(now, amount, from, log);
            }
        }
        state.on_work += one;
        true
    }

    /// G returns to F, which called it (lines 5-7) or spawned it (lines 8-13); a function syncs
    /// before it returns. Returns the work and span of the invocation.
    pub fn leave(&mut self) -> Option<Sum> {
        self.leave_at(self.now, self.now)
    }

    /// The same, where G returns at `now`, and synced at `synced` if it spawned.
    #[inline(always)]
    pub fn leave_at(&mut self, synced: u64, now: u64) -> Option<Sum> {
        let [.., f, g] = self.stack.as_mut_slice() else {
            return None;
        };
        let log = &mut self.log;
        let (span, local_span) = g.end(synced, now, log);
        let (site, work, above) = (g.site, now - g.since, g.above);
        let one = Invocation {
            work,
            local_work: now - g.own_since,
            span,
            local_span,
            count: 1,
            site: site.id,
            above,
        };
        if let Some(state) = self.sites.get_mut(site.id as usize) {
            state.on_work += one;
            state.on_stack = above.site;
            if !above.caller
                && let Some(caller) = self.callers.get_mut(site.caller as usize)
            {
                *caller = false;
            }
        }
        f.own_since += work;
        match site.kind {
            Kind::Call => {
                f.path_since += work - span;
                log.add(f.continuation, one);
            }
            Kind::Spawn => {
                f.path_since += work;
                log.add(g.prefix, one);
                f.spawned(now, span, g.prefix, log);
            }
        }
        self.stack.pop();
        Some(Sum::one(work, span))
    }

    /// The on-work profile of the invocations of a call site completed so far.
    #[must_use]
    pub fn on_work(&self, site: u32) -> Measure {
        self.sites.get(site as usize).map_or_else(Measure::default, |state| state.on_work)
    }

    /// Calls `each` for parts of the on-span profile: that of the whole computation if its
    /// outermost invocation has returned, otherwise that of the path up to now. The parts of one
    /// call site add up.
    pub fn on_span(&self, mut each: impl FnMut(u32, Measure)) {
        let stack = self.above();
        if stack.is_empty() {
            return self.log.print(0..self.log.end(), each);
        }
        let (mut end, mut until) = (self.log.end(), self.now);
        for frame in stack.iter().rev() {
            self.log.print(frame.prefix..frame.child, &mut each);
            // The work of those above does not count as its own yet.
            let continues = frame.plain || frame.path_length(until) > frame.longest;
            let child = frame.child..frame.continuation;
            self.log.print(if continues { frame.continuation..end } else { child }, &mut each);
            (end, until) = (frame.prefix, frame.since);
        }
    }

    /// Work and span up to now, as if every running invocation returned now.
    #[must_use]
    pub fn so_far(&self) -> Sum {
        let stack = self.above();
        let (mut span, mut until) = (0, self.now);
        for frame in stack.iter().rev() {
            span = frame.longest.max(frame.path_length(until) + span);
            until = frame.since;
        }
        Sum::one(stack.first().map_or(0, |f| self.now - f.since), span)
    }
}
