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

/// A span variable: its value, the part of it that is local, the profile of its trace.
#[derive(Debug, Default)]
struct Span {
    value: u64,
    local: u64,
    prof: Prof<Measure>,
}

#[derive(Debug)]
struct Frame<T> {
    tag: T,
    site: Site,
    /// No child was spawned: prefix and longest child are empty.
    plain: bool,
    top_call_site: bool,
    top_caller: bool,
    work: u64,
    local_work: u64,
    continuation: Span,
    prefix: Span,
    longest: Span,
}

/// What is known of a call site.
#[derive(Clone, Copy, Debug, Default)]
struct SiteState {
    /// Invocations on the stack.
    active: u32,
    on_work: Measure,
}

/// The shadow stack and the profiles. The caller may keep a value `T` with each invocation on the stack.
#[derive(Debug, Default)]
pub struct Shadow<T = ()> {
    pool: Profiles,
    /// The stack, and beyond its depth frames left, kept for their memory.
    frames: Vec<Frame<T>>,
    depth: usize,
    sites: Vec<SiteState>,
    /// By calling function: invocations on the stack.
    active_callers: Vec<u32>,
}

#[inline]
fn slot<T: Clone + Default>(all: &mut Vec<T>, at: u32) -> &mut T {
    let at = at as usize;
    if all.len() <= at {
        grow(all, at);
    }
    &mut all[at]
}

#[cold]
#[inline(never)]
fn grow<T: Clone + Default>(all: &mut Vec<T>, at: usize) {
    all.resize((at + 1).next_power_of_two(), T::default());
}

impl Span {
    #[inline]
    fn clear(&mut self, pool: &mut Profiles) {
        (self.value, self.local) = (0, 0);
        if !self.prof.is_empty() {
            pool.init(&mut self.prof);
        }
    }

    /// `self += other`, `other = 0`.
    #[inline]
    fn add(&mut self, other: &mut Self, pool: &mut Profiles) {
        self.value += other.value;
        self.local += other.local;
        (other.value, other.local) = (0, 0);
        if !other.prof.is_empty() {
            if self.prof.is_empty() {
                std::mem::swap(&mut self.prof, &mut other.prof);
            } else {
                pool.union(&mut self.prof, &mut other.prof);
            }
        }
    }
}

impl<T> Frame<T> {
    fn new(site: Site, tag: T) -> Self {
        Self {
            tag,
            site,
            plain: true,
            top_call_site: true,
            top_caller: true,
            work: 0,
            local_work: 0,
            continuation: Span::default(),
            prefix: Span::default(),
            longest: Span::default(),
        }
    }

    /// Where the span of a spawned child goes, if it makes the longest path (lines 8-13).
    #[inline]
    fn spawned(&mut self, span: u64, pool: &mut Profiles) -> Option<&mut Span> {
        self.plain = false;
        if self.continuation.value + span <= self.longest.value {
            return None;
        }
        self.prefix.add(&mut self.continuation, pool);
        self.longest.clear(pool);
        Some(&mut self.longest)
    }

    /// Lines 14-19.
    #[inline]
    fn sync(&mut self, pool: &mut Profiles) {
        if self.plain {
            return;
        }
        let (win, lose) = if self.continuation.value > self.longest.value {
            (&mut self.continuation, &mut self.longest)
        } else {
            (&mut self.longest, &mut self.continuation)
        };
        self.prefix.add(win, pool);
        lose.clear(pool);
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
    #[inline(always)]
    pub fn enter_with(&mut self, site: Site, tag: T) {
        let sites = &mut slot(&mut self.sites, site.id).active;
        *sites += 1;
        let top_call_site = *sites == 1;
        let callers = slot(&mut self.active_callers, site.caller);
        *callers += 1;
        let top_caller = *callers == 1;
        if self.depth == self.frames.len() {
            self.frames.push(Frame::new(site, tag));
        }
        let frame = &mut self.frames[self.depth];
        if self.depth == 0 {
            // What the last computation left.
            frame.prefix.clear(&mut self.pool);
            frame.continuation.clear(&mut self.pool);
        }
        (frame.tag, frame.site, frame.plain) = (tag, site, true);
        (frame.top_call_site, frame.top_caller) = (top_call_site, top_caller);
        (frame.work, frame.local_work) = (0, 0);
        self.depth += 1;
    }

    /// F executes instructions (lines 20-21).
    #[inline]
    pub fn advance(&mut self, amount: u64) {
        if let Some(frame) = self.frames[..self.depth].last_mut() {
            frame.work += amount;
            frame.local_work += amount;
            frame.continuation.value += amount;
            frame.continuation.local += amount;
        }
    }

    /// F syncs (lines 14-19).
    #[inline]
    pub fn sync(&mut self) {
        if let Some(frame) = self.frames[..self.depth].last_mut() {
            frame.sync(&mut self.pool);
        }
    }

    /// F calls or spawns G, which executes `amount` and returns without invoking anything: `enter`, `advance` and
    /// `leave` in one. Outside of all invocations it is nothing.
    #[inline(always)]
    pub fn leaf(&mut self, site: Site, amount: u64) {
        let Some(f) = self.frames[..self.depth].last_mut() else {
            return;
        };
        let state = slot(&mut self.sites, site.id);
        let callers = self.active_callers.get(site.caller as usize);
        let one = Invocation {
            work: amount,
            local_work: amount,
            span: amount,
            local_span: amount,
            top_call_site: state.active == 0,
            top_caller: callers.is_none_or(|&active| active == 0),
        };
        state.on_work += one;
        f.work += amount;
        let to = match site.kind {
            Kind::Call => &mut f.continuation,
            Kind::Spawn => match f.spawned(amount, &mut self.pool) {
                Some(longest) => longest,
                None => return,
            },
        };
        to.value += amount;
        self.pool.update(&mut to.prof, site.id, one);
    }

    /// G returns to F, called (lines 5-7) or spawned (lines 8-13); a function syncs before it returns. The work and
    /// span of the invocation.
    #[inline(always)]
    pub fn leave(&mut self) -> Option<Totals> {
        let at = self.depth.checked_sub(1)?;
        self.depth = at;
        let (callers, rest) = self.frames.split_at_mut(at);
        let g = rest.first_mut()?;
        let pool = &mut self.pool;
        // Line 5 and line 8, with a sync before as Cilk has it at the end of every function.
        g.sync(pool);
        let path = if g.plain {
            &mut g.continuation
        } else {
            &mut g.prefix
        };
        let totals = Totals {
            work: g.work,
            span: path.value,
        };
        let one = Invocation {
            work: g.work,
            local_work: g.local_work,
            span: path.value,
            local_span: path.local,
            top_call_site: g.top_call_site,
            top_caller: g.top_caller,
        };
        let state = slot(&mut self.sites, g.site.id);
        state.active -= 1;
        state.on_work += one;
        *slot(&mut self.active_callers, g.site.caller) -= 1;
        let Some(f) = callers.last_mut() else {
            // The outermost invocation: its profile is the result.
            pool.update(&mut path.prof, g.site.id, one);
            return Some(totals);
        };
        f.work += g.work;
        // What is G's own is not F's.
        path.local = 0;
        let to = match g.site.kind {
            Kind::Call => &mut f.continuation,
            Kind::Spawn => match f.spawned(path.value, pool) {
                Some(longest) => longest,
                None => {
                    path.clear(pool);
                    return Some(totals);
                }
            },
        };
        to.add(path, pool);
        pool.update(&mut to.prof, g.site.id, one);
        Some(totals)
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
                self.pool.peek(&frame.continuation.prof, &mut each);
            }
            return;
        }
        for frame in self.stack() {
            self.pool.peek(&frame.prefix.prof, &mut each);
            let last = if frame.continuation.value > frame.longest.value {
                &frame.continuation
            } else {
                &frame.longest
            };
            self.pool.peek(&last.prof, &mut each);
        }
    }

    /// Work and span up to now, as if everything running returned here.
    #[must_use]
    pub fn so_far(&self) -> Totals {
        let work = self.stack().iter().map(|frame| frame.work).sum();
        let span = |frame: &Frame<T>| {
            frame.prefix.value + frame.continuation.value.max(frame.longest.value)
        };
        Totals {
            work,
            span: self.stack().iter().map(span).sum(),
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
