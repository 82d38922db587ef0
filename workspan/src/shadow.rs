//! The work-span variables on a shadow stack (section 3, Figure 3) with their profiles (section 4), for a serial
//! execution of a fork-join program.
//!
//! The profile of the work variable of every frame ends in that of the outermost one, so there is one table for it
//! instead of a prof in each frame. Local spans are kept beside the spans: the part of the path that is the frame's own.
//! An invocation without a spawn has only one span variable in use, its continuation: no sync moves it.

mod loops;

use crate::measure::{Invocation, Measure};
use crate::prof::{Pool, Prof};

/// How an invocation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The caller waits for it.
    Call,
    /// It may run in parallel with what follows, until the caller's next sync.
    Spawn,
}

/// A call site as [`Shadow`] sees it: dense numbers given by the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// The call site.
    pub id: u32,
    /// The function it is in.
    pub caller: u32,
    /// Call or spawn.
    pub kind: Kind,
}

/// Work and span of a whole computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Time of everything executed.
    pub work: u64,
    /// Longest path.
    pub span: u64,
}

/// Profs log invocations.
type Profiles = Pool<Measure, Invocation>;

/// A span variable that no strand is being added to: its value, the part of it that is the frame's own (none of a
/// child's), the profile of its trace.
#[derive(Debug, Default)]
struct Span {
    value: u64,
    local: u64,
    prof: Prof<Measure>,
}

/// Times are those of [`Shadow::now`], so that a strand that ends changes nothing: what a variable holds is the time
/// passed since it was zero, and what must not be counted moves that point.
#[derive(Debug)]
struct Frame<T> {
    tag: T,
    site: Site,
    /// No child was spawned: prefix and longest child are empty.
    plain: bool,
    /// Whether an invocation of the same call site, and one from the same caller, is above this one.
    below_site: bool,
    below_caller: bool,
    /// Work is now less this, without what children did now less `own_since`.
    since: u64,
    own_since: u64,
    /// The continuation is now less `continuation_since`; its own part would be now less `own_since`, had it not lost or
    /// moved to the prefix `continuation_own` of that before.
    continuation_since: u64,
    continuation_own: u64,
    continuation: Prof<Measure>,
    longest: u64,
    longest_prof: Prof<Measure>,
    prefix: Span,
}

/// What is known of a call site.
#[derive(Clone, Copy, Debug, Default)]
struct SiteState {
    on_work: Measure,
    /// An invocation is on the stack.
    active: bool,
}

/// The shadow stack and the profiles. The caller may keep a value `T` with each invocation on the stack.
#[derive(Debug, Default)]
pub struct Shadow<T = ()> {
    pool: Profiles,
    /// The stack, and beyond its depth frames left, kept for their memory.
    frames: Vec<Frame<T>>,
    depth: usize,
    now: u64,
    sites: Vec<SiteState>,
    /// By calling function: whether an invocation is on the stack.
    active_callers: Vec<bool>,
}

fn grow<T: Clone + Default>(all: &mut Vec<T>, at: u32) {
    let at = at as usize;
    if all.len() <= at {
        all.resize((at + 1).next_power_of_two(), T::default());
    }
}

impl<T> Frame<T> {
    fn new(site: Site, tag: T) -> Self {
        Self {
            tag,
            site,
            plain: true,
            below_site: false,
            below_caller: false,
            since: 0,
            own_since: 0,
            continuation_since: 0,
            continuation_own: 0,
            continuation: Prof::default(),
            longest: 0,
            longest_prof: Prof::default(),
            prefix: Span::default(),
        }
    }

    /// The continuation at `now`: its value and the frame's own part of it.
    #[inline(always)]
    fn continuation(&self, now: u64) -> (u64, u64) {
        let own = now - self.own_since;
        (now - self.continuation_since, own - self.continuation_own)
    }

    /// The continuation is zero at `now`; its profile is another matter.
    #[inline(always)]
    fn restart(&mut self, now: u64) {
        self.continuation_since = now;
        self.continuation_own = now - self.own_since;
    }

    /// A spawned child of this span returned at `now`. If it makes the longest path (lines 8-13), what is to become of
    /// its profile, which is the longest child's now.
    #[inline(always)]
    fn spawned(
        &mut self,
        now: u64,
        span: u64,
        prof: &mut Prof<Measure>,
        pool: &mut Profiles,
    ) -> Option<&mut Prof<Measure>> {
        self.plain = false;
        let (value, own) = self.continuation(now);
        if value + span <= self.longest {
            return None;
        }
        self.prefix.value += value;
        self.prefix.local += own;
        pool.union(&mut self.prefix.prof, &mut self.continuation);
        self.restart(now);
        self.longest = span;
        pool.assign(&mut self.longest_prof, prof);
        Some(&mut self.longest_prof)
    }

    /// Lines 14-19.
    #[inline(always)]
    fn sync(&mut self, now: u64, pool: &mut Profiles) {
        if self.plain {
            return;
        }
        let (value, own) = self.continuation(now);
        if value > self.longest {
            self.prefix.value += value;
            self.prefix.local += own;
            pool.union(&mut self.prefix.prof, &mut self.continuation);
            pool.init(&mut self.longest_prof);
        } else {
            // What is the frame's own is not the longest child's.
            self.prefix.value += self.longest;
            pool.union(&mut self.prefix.prof, &mut self.longest_prof);
            pool.init(&mut self.continuation);
        }
        self.longest = 0;
        self.restart(now);
    }
}

impl<T: Copy> Shadow<T> {
    /// Invocations on the stack.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Most invocations ever on the stack.
    #[must_use]
    pub fn deepest(&self) -> usize {
        // Frames are kept.
        self.frames.len()
    }

    /// List elements allocated for profiles: with the arrays, the O(DS) of Theorem 5.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.pool.elements()
    }

    /// The caller's value of the innermost invocation.
    #[inline]
    #[must_use]
    pub fn top(&self) -> Option<T> {
        self.stack().last().map(|frame| frame.tag)
    }

    #[inline]
    fn stack(&self) -> &[Frame<T>] {
        &self.frames[..self.depth]
    }

    /// F calls or spawns G (lines 1-4).
    pub fn enter_with(&mut self, site: Site, tag: T) {
        self.prepare(site, tag);
        let entered = self.enter_at(self.now, site, tag);
        debug_assert!(entered, "everything was prepared");
    }

    /// F calls or spawns G at `now`; false, and nothing is done, if memory has to be made first ([`Self::prepare`]).
    #[inline(always)]
    pub fn enter_at(&mut self, now: u64, site: Site, tag: T) -> bool {
        let (Some(state), Some(active_caller), Some(frame)) = (
            self.sites.get_mut(site.id as usize),
            self.active_callers.get_mut(site.caller as usize),
            self.frames.get_mut(self.depth),
        ) else {
            return false;
        };
        self.depth += 1;
        frame.below_site = std::mem::replace(&mut state.active, true);
        frame.below_caller = std::mem::replace(active_caller, true);
        (frame.tag, frame.site, frame.plain) = (tag, site, true);
        (frame.since, frame.own_since) = (now, now);
        (frame.continuation_since, frame.continuation_own) = (now, 0);
        true
    }

    /// Whether there is memory for an invocation ([`Self::prepare`]).
    #[must_use]
    pub fn is_prepared(&self, site: Site) -> bool {
        self.sites.len() > site.id as usize
            && self.active_callers.len() > site.caller as usize
            && self.frames.len() > self.depth
    }

    /// Makes the memory for an invocation; before the first one, forgets what the last computation left.
    #[cold]
    #[inline(never)]
    pub fn prepare(&mut self, site: Site, tag: T) {
        grow(&mut self.sites, site.id);
        grow(&mut self.active_callers, site.caller);
        if self.depth == self.frames.len() {
            self.frames.push(Frame::new(site, tag));
        } else if let (0, Some(frame)) = (self.depth, self.frames.first_mut()) {
            self.pool.init(&mut frame.prefix.prof);
            self.pool.init(&mut frame.continuation);
        }
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
        self.sync_at(self.now);
    }

    /// F syncs at `now`.
    #[inline(always)]
    pub fn sync_at(&mut self, now: u64) {
        if let Some(frame) = self.frames[..self.depth].last_mut() {
            frame.sync(now, &mut self.pool);
        }
    }

    /// F calls or spawns G, which executes `amount` and returns without invoking anything: `enter`, `advance` and
    /// `leave` in one. Outside of all invocations it is nothing.
    pub fn leaf(&mut self, site: Site, amount: u64) {
        if self.depth > 0 {
            self.now += amount;
            grow(&mut self.sites, site.id);
            grow(&mut self.active_callers, site.caller);
            self.leaf_at(self.now, site, amount);
        }
    }

    /// The same: G returns at `now`. False, and nothing is done, if memory has to be made first ([`Self::prepare`]).
    #[inline(always)]
    pub fn leaf_at(&mut self, now: u64, site: Site, amount: u64) -> bool {
        let (Some(state), Some(active_caller), Some(f)) = (
            self.sites.get_mut(site.id as usize),
            self.active_callers.get(site.caller as usize),
            self.frames[..self.depth].last_mut(),
        ) else {
            return false;
        };
        let (top_call_site, top_caller) = (!state.active, !*active_caller);
        let one = || Invocation {
            work: amount,
            local_work: amount,
            span: amount,
            local_span: amount,
            top_call_site,
            top_caller,
        };
        state.on_work += one();
        f.own_since += amount;
        let to = match site.kind {
            Kind::Call => &mut f.continuation,
            Kind::Spawn => {
                f.continuation_since += amount;
                let nothing = &mut Prof::default();
                match f.spawned(now, amount, nothing, &mut self.pool) {
                    Some(longest) => longest,
                    None => return true,
                }
            }
        };
        self.pool.update_with(to, site.id, one);
        true
    }

    /// G returns to F, called (lines 5-7) or spawned (lines 8-13); a function syncs before it returns. The work and
    /// span of the invocation.
    pub fn leave(&mut self) -> Option<Totals> {
        self.leave_at(self.now, self.now)
    }

    /// The same: G returns at `now`, and synced, perhaps, at `synced`.
    #[inline(always)]
    pub fn leave_at(&mut self, synced: u64, now: u64) -> Option<Totals> {
        let at = self.depth.checked_sub(1)?;
        let (callers, rest) = self.frames.split_at_mut_checked(at)?;
        let g = rest.first_mut()?;
        let pool = &mut self.pool;
        self.depth = at;
        let work = now - g.since;
        let local_work = now - g.own_since;
        let (span, local_span, path) = if g.plain {
            // It lost nothing.
            let span = now - g.continuation_since;
            (span, local_work, &mut g.continuation)
        } else {
            // Line 5 and line 8, with a sync before as Cilk has it at the end of every function.
            g.sync(synced, pool);
            // What follows a sync is a continuation without children.
            let Span { value, local, prof } = &mut g.prefix;
            let after = now - synced;
            (
                std::mem::take(value) + after,
                std::mem::take(local) + after,
                prof,
            )
        };
        let (site, top_call_site, top_caller) = (g.site, !g.below_site, !g.below_caller);
        let one = || Invocation {
            work,
            local_work,
            span,
            local_span,
            top_call_site,
            top_caller,
        };
        if let Some(state) = self.sites.get_mut(site.id as usize) {
            state.active = !top_call_site;
            state.on_work += one();
        }
        if let Some(active) = self.active_callers.get_mut(site.caller as usize) {
            *active = !top_caller;
        }
        let totals = Some(Totals { work, span });
        let Some(f) = callers.last_mut() else {
            // The outermost invocation: its profile is the result.
            pool.update_with(path, site.id, one);
            return totals;
        };
        f.own_since += work;
        let to = match site.kind {
            Kind::Call => {
                f.continuation_since += work - span;
                pool.union(&mut f.continuation, path);
                &mut f.continuation
            }
            Kind::Spawn => {
                f.continuation_since += work;
                match f.spawned(now, span, path, pool) {
                    Some(longest) => longest,
                    None => {
                        pool.init(path);
                        return totals;
                    }
                }
            }
        };
        pool.update_with(to, site.id, one);
        totals
    }

    /// The on-work profile of the invocations of a call site completed so far.
    #[must_use]
    pub fn on_work(&self, site: u32) -> Measure {
        self.sites
            .get(site as usize)
            .map_or_else(Measure::default, |state| state.on_work)
    }

    /// Calls `each` for parts of the on-span profile: of the computation if its outermost invocation has returned, else
    /// of the path to the place reached. Parts of one call site add up.
    pub fn on_span(&self, mut each: impl FnMut(u32, Measure)) {
        if self.depth == 0 {
            if let Some(frame) = self.frames.first() {
                self.pool.peek(&frame.prefix.prof, &mut each);
                self.pool.peek(&frame.continuation, &mut each);
            }
            return;
        }
        for (at, frame) in self.stack().iter().enumerate() {
            self.pool.peek(&frame.prefix.prof, &mut each);
            let last = if frame.plain || self.continuation_of(at) > frame.longest {
                &frame.continuation
            } else {
                &frame.longest_prof
            };
            self.pool.peek(last, &mut each);
        }
    }

    /// The continuation of the frame `at`, at the moment it last invoked something.
    fn continuation_of(&self, at: usize) -> u64 {
        // The work of those on the stack above it is not its own yet.
        let until = self.stack().get(at + 1).map_or(self.now, |next| next.since);
        self.frames[at].continuation(until).0
    }

    /// Work and span up to now, as if everything running returned here.
    #[must_use]
    pub fn so_far(&self) -> Totals {
        let span = |(at, frame): (usize, &Frame<T>)| {
            frame.prefix.value + self.continuation_of(at).max(frame.longest)
        };
        Totals {
            work: self.stack().first().map_or(0, |f| self.now - f.since),
            span: self.stack().iter().enumerate().map(span).sum(),
        }
    }
}

impl Shadow {
    /// F calls or spawns G (lines 1-4).
    #[inline]
    pub fn enter(&mut self, site: Site) {
        self.enter_with(site, ());
    }
}
