//! The work-span variables on a shadow stack (section 3, Figure 3) with their profiles (section 4), for a serial
//! execution of a fork-join program.
//!
//! The profile of the work variable of every frame ends in that of the outermost one, so there is one table for it
//! instead of a prof in each frame. Local spans are kept beside the spans: the part of the path that is the frame's own.
//! An invocation without a spawn has only one span variable in use, its continuation: no sync moves it.

mod frame;
mod loops;

use self::frame::Frame;
use crate::measure::{Above, Invocation, Measure, Sums};
use crate::prof::Pool;
use crate::stack::Stack;

/// How an invocation runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The caller waits for it.
    #[default]
    Call,
    /// It may run in parallel with what follows, until the caller's next sync.
    Spawn,
}

/// A call site as [`Shadow`] sees it: dense numbers given by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// What is known of a call site.
#[derive(Clone, Copy, Debug, Default)]
struct SiteState {
    on_work: Sums,
    /// [`Above::SITE`] if an invocation is on the stack.
    above: Above,
}

/// The shadow stack and the profiles. The caller may keep a value `T` with each invocation on the stack.
#[derive(Debug)]
pub struct Shadow<T = ()> {
    pool: Profiles,
    /// The stack; its bottom is what the outermost invocation returns to.
    stack: Stack<Frame<T>>,
    now: u64,
    sites: Vec<SiteState>,
    /// By calling function: [`Above::CALLER`] if an invocation is on the stack.
    callers: Vec<Above>,
}

impl<T: Default> Default for Shadow<T> {
    fn default() -> Self {
        Self {
            pool: Profiles::default(),
            stack: Stack::default(),
            now: 0,
            sites: Vec::new(),
            callers: Vec::new(),
        }
    }
}

fn grow<T: Clone + Default>(all: &mut Vec<T>, at: u32) {
    let at = at as usize;
    if all.len() <= at {
        all.resize(at + 1, T::default());
    }
}

impl<T: Copy + Default> Shadow<T> {
    /// Invocations on the stack.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.stack.depth()
    }

    /// Most invocations ever on the stack.
    #[must_use]
    pub fn deepest(&self) -> usize {
        self.stack.deepest()
    }

    /// List elements allocated for profiles: with the arrays, the O(DS) of Theorem 5.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.pool.elements()
    }

    /// The caller's value of the innermost invocation; outside of all, the default.
    #[inline(always)]
    #[must_use]
    pub fn top(&self) -> T {
        self.stack.top().tag
    }

    /// F calls or spawns G (lines 1-4).
    pub fn enter_with(&mut self, site: Site, tag: T) {
        self.prepare(site);
        let entered = self.enter_at(self.now, site, tag);
        debug_assert!(entered, "everything was prepared");
    }

    /// F calls or spawns G at `now`; false, and nothing is done, if memory has to be made first ([`Self::prepare`]).
    #[inline(always)]
    pub fn enter_at(&mut self, now: u64, site: Site, tag: T) -> bool {
        let (Some(state), Some(caller)) = (
            self.sites.get_mut(site.id as usize),
            self.callers.get_mut(site.caller as usize),
        ) else {
            return false;
        };
        let Some(frame) = self.stack.push() else {
            return false;
        };
        let above = state.above.and(*caller);
        (state.above, *caller) = (Above::SITE, Above::CALLER);
        frame.begin(now, site, tag, above);
        true
    }

    /// Whether there is memory for an invocation ([`Self::prepare`]).
    #[inline(always)]
    #[must_use]
    pub fn is_prepared(&self, site: Site) -> bool {
        self.sites.len() > site.id as usize
            && self.callers.len() > site.caller as usize
            && self.stack.has_room()
    }

    /// Makes the memory for an invocation; before the first one, forgets what the last computation left.
    #[cold]
    #[inline(never)]
    pub fn prepare(&mut self, site: Site) {
        self.discover(site);
        self.stack.make_room(Frame::default());
        if self.stack.depth() == 0 {
            self.stack.top_mut().forget(&mut self.pool);
        }
    }

    /// There are this call site and its caller.
    fn discover(&mut self, site: Site) {
        grow(&mut self.sites, site.id);
        grow(&mut self.callers, site.caller);
        self.pool.discover(site.id);
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
        if self.stack.depth() > 0 {
            self.stack.top_mut().sync(self.now, &mut self.pool);
        }
    }

    /// F calls or spawns G, which executes `amount` and returns without invoking anything: `enter`, `advance` and
    /// `leave` in one. Outside of all invocations it is nothing.
    pub fn leaf(&mut self, site: Site, amount: u64) {
        if self.stack.depth() > 0 {
            self.now += amount;
            self.discover(site);
            let told = self.leaf_at(self.now, site, amount);
            debug_assert!(told, "everything was prepared");
        }
    }

    /// The same, inside of an invocation: G returns at `now`. False, and nothing is done, if memory has to be made first
    /// ([`Self::prepare`]).
    #[inline]
    pub fn leaf_at(&mut self, now: u64, site: Site, amount: u64) -> bool {
        self.leaf_as::<false>(now, site, amount)
    }

    /// The same, with profiles that need no work; false, and nothing is done, also if they do.
    #[inline(always)]
    pub fn leaf_at_once(&mut self, now: u64, site: Site, amount: u64) -> bool {
        self.leaf_as::<true>(now, site, amount)
    }

    #[inline(always)]
    fn leaf_as<const AT_ONCE: bool>(&mut self, now: u64, site: Site, amount: u64) -> bool {
        let f = self.stack.top_mut();
        let pool = &mut self.pool;
        let (Some(state), Some(&caller)) = (
            self.sites.get_mut(site.id as usize),
            self.callers.get(site.caller as usize),
        ) else {
            return false;
        };
        let above = state.above.and(caller);
        match site.kind {
            Kind::Call => {
                if !f.called.add(site.id, above, amount) {
                    if AT_ONCE && !f.is_roomy(pool) {
                        return false;
                    }
                    f.close_continuation::<AT_ONCE>(pool);
                    f.called.add(site.id, above, amount);
                }
                f.own_since += amount;
            }
            Kind::Spawn => {
                if AT_ONCE && !f.is_fresh() {
                    return false;
                }
                f.own_since += amount;
                f.path_since += amount;
                if f.spawned::<AT_ONCE>(now, amount, pool) {
                    f.spawned.add(site.id, above, amount);
                }
            }
        }
        state.on_work.add_leaf(amount, above);
        true
    }

    /// G returns to F, called (lines 5-7) or spawned (lines 8-13); a function syncs before it returns. The work and
    /// span of the invocation.
    pub fn leave(&mut self) -> Option<Totals> {
        self.leave_at(self.now, self.now)
    }

    /// The same: G returns at `now`, and synced, perhaps, at `synced`.
    #[inline]
    pub fn leave_at(&mut self, synced: u64, now: u64) -> Option<Totals> {
        self.leave_as::<false>(synced, now)
    }

    /// Whether there are an invocation and one that it returns to, and their profiles are short.
    #[inline(always)]
    #[must_use]
    pub fn is_short(&self) -> bool {
        let two = self.stack.top_two();
        two.is_some_and(|(g, f)| self.pool.are_short(g.size() + f.size()))
    }

    /// [`Self::leave_at`] if [`Self::is_short`].
    #[inline(always)]
    pub fn leave_short(&mut self, synced: u64, now: u64) -> Option<Totals> {
        debug_assert!(self.is_short());
        self.leave_as::<true>(synced, now)
    }

    #[inline(always)]
    fn leave_as<const SHORT: bool>(&mut self, synced: u64, now: u64) -> Option<Totals> {
        let (g, f) = self.stack.pop()?;
        let pool = &mut self.pool;
        let (span, local_span, path) = g.end::<SHORT>(synced, now, pool);
        let (site, work, above) = (g.site, now - g.since, g.above);
        let one = Invocation {
            work,
            local_work: now - g.own_since,
            span,
            local_span,
            count: 1,
            above,
        };
        if let Some(state) = self.sites.get_mut(site.id as usize) {
            state.on_work.add_one(one);
            if above != Above::BOTH {
                state.above = above.only(Above::SITE);
                if let Some(caller) = self.callers.get_mut(site.caller as usize) {
                    *caller = above.only(Above::CALLER);
                }
            }
        }
        f.own_since += work;
        match site.kind {
            Kind::Call => {
                f.path_since += work - span;
                let path = pool.updated::<SHORT>(path, site.id, || one);
                f.continuation = pool.united::<SHORT>(f.continuation.take(), path);
            }
            Kind::Spawn => {
                f.path_since += work;
                if f.spawned::<SHORT>(now, span, pool) {
                    f.longest_prof = pool.updated::<SHORT>(path, site.id, || one);
                } else {
                    pool.free::<SHORT>(path);
                }
            }
        }
        Some(Totals { work, span })
    }

    /// The on-work profile of the invocations of a call site completed so far.
    #[must_use]
    pub fn on_work(&self, site: u32) -> Measure {
        self.sites
            .get(site as usize)
            .map_or_else(Measure::default, |state| state.on_work.measure())
    }

    /// Calls `each` for parts of the on-span profile: of the computation if its outermost invocation has returned, else
    /// of the path to the place reached. Parts of one call site add up.
    pub fn on_span(&self, mut each: impl FnMut(u32, Measure)) {
        if self.depth() == 0 {
            // What the outermost invocation left to nobody.
            let bottom = self.stack.top();
            self.pool.peek(&bottom.continuation, &mut each);
            self.pool.peek(&bottom.longest_prof, &mut each);
            return;
        }
        for (at, frame) in self.stack.above().iter().enumerate() {
            self.pool.peek(&frame.before, &mut each);
            let continues = frame.plain || frame.path_length(self.until(at)) > frame.longest;
            let (last, leaves) = if continues {
                (&frame.continuation, frame.called)
            } else {
                (&frame.longest_prof, frame.spawned)
            };
            self.pool.peek(last, &mut each);
            if leaves.count > 0 {
                let mut measure = Measure::default();
                measure += leaves.logged();
                each(leaves.site, measure);
            }
        }
    }

    /// When the invocation at this depth last invoked something, or now: the work of those above it is not its own yet.
    fn until(&self, at: usize) -> u64 {
        self.stack
            .above()
            .get(at + 1)
            .map_or(self.now, |next| next.since)
    }

    /// Work and span up to now, as if everything running returned here.
    #[must_use]
    pub fn so_far(&self) -> Totals {
        let stack = self.stack.above();
        let span =
            |(at, frame): (usize, &Frame<T>)| frame.path_length(self.until(at)).max(frame.longest);
        Totals {
            work: stack.first().map_or(0, |f| self.now - f.since),
            span: stack.iter().enumerate().map(span).sum(),
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
