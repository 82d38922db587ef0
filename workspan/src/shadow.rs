//! The work-span variables on a shadow stack (section 3, Figure 3) with their profiles (section 4), for a serial
//! execution of a fork-join program.
//!
//! The profile of the work variable of every frame ends in that of the outermost one, so there is one table for it
//! instead of a prof in each frame. Local spans are kept beside the spans: the part of the path that is the frame's own.

use crate::measure::{Measure, Sum};
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

/// A span variable: its value, the part of it that is local, the profile of its trace.
#[derive(Debug, Default)]
struct Span {
    value: u64,
    local: u64,
    prof: Prof<Measure>,
}

#[derive(Debug)]
struct Frame {
    site: Site,
    work: u64,
    local_work: u64,
    prefix: Span,
    longest: Span,
    continuation: Span,
    top_call_site: bool,
    top_caller: bool,
}

/// The shadow stack and the profiles.
#[derive(Debug, Default)]
pub struct Shadow {
    pool: Pool<Measure>,
    /// The stack, and beyond its depth frames left, kept for their memory.
    frames: Vec<Frame>,
    depth: usize,
    /// By call site, by calling function: invocations on the stack.
    active_sites: Vec<u32>,
    active_callers: Vec<u32>,
    on_work: Vec<Measure>,
    deepest: usize,
}

fn slot(counts: &mut Vec<u32>, at: u32) -> &mut u32 {
    let at = at as usize;
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    &mut counts[at]
}

impl Span {
    fn clear(&mut self, pool: &mut Pool<Measure>) {
        (self.value, self.local) = (0, 0);
        if !self.prof.is_empty() {
            pool.init(&mut self.prof);
        }
    }

    /// `self += other`, `other = 0`.
    fn add(&mut self, other: &mut Self, pool: &mut Pool<Measure>) {
        self.value += other.value;
        self.local += other.local;
        (other.value, other.local) = (0, 0);
        if !other.prof.is_empty() {
            pool.union(&mut self.prof, &mut other.prof);
        }
    }
}

impl Shadow {
    /// Invocations on the stack.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Most invocations ever on the stack.
    #[must_use]
    pub fn deepest(&self) -> usize {
        self.deepest
    }

    /// List elements allocated for profiles: with the arrays, the O(DS) of Theorem 5.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.pool.elements()
    }

    /// The call site of the innermost invocation.
    #[must_use]
    pub fn top(&self) -> Option<Site> {
        self.stack().last().map(|frame| frame.site)
    }

    fn stack(&self) -> &[Frame] {
        &self.frames[..self.depth]
    }

    fn stack_mut(&mut self) -> &mut [Frame] {
        &mut self.frames[..self.depth]
    }

    /// F calls or spawns G (lines 1-4).
    pub fn enter(&mut self, site: Site) {
        let sites = slot(&mut self.active_sites, site.id);
        *sites += 1;
        let top_call_site = *sites == 1;
        let callers = slot(&mut self.active_callers, site.caller);
        *callers += 1;
        let top_caller = *callers == 1;
        if self.depth == self.frames.len() {
            self.frames.push(Frame {
                site,
                work: 0,
                local_work: 0,
                prefix: Span::default(),
                longest: Span::default(),
                continuation: Span::default(),
                top_call_site,
                top_caller,
            });
        }
        let frame = &mut self.frames[self.depth];
        if self.depth == 0 {
            // What the last computation left.
            frame.prefix.clear(&mut self.pool);
        }
        (frame.site, frame.top_call_site, frame.top_caller) = (site, top_call_site, top_caller);
        (frame.work, frame.local_work) = (0, 0);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    /// F executes instructions (lines 20-21).
    pub fn advance(&mut self, amount: u64) {
        if let Some(frame) = self.stack_mut().last_mut() {
            frame.work += amount;
            frame.local_work += amount;
            frame.continuation.value += amount;
            frame.continuation.local += amount;
        }
    }

    /// F syncs (lines 14-19).
    pub fn sync(&mut self) {
        if let Some(at) = self.depth.checked_sub(1) {
            sync(&mut self.frames[at], &mut self.pool);
        }
    }

    /// G returns to F, called (lines 5-7) or spawned (lines 8-13); a function syncs before it returns. The work and
    /// span of the invocation.
    pub fn leave(&mut self) -> Option<Totals> {
        let at = self.depth.checked_sub(1)?;
        self.depth = at;
        let (callers, rest) = self.frames.split_at_mut(at);
        let g = rest.first_mut()?;
        let pool = &mut self.pool;
        // Line 5 and line 8, with a sync before as Cilk has it at the end of every function.
        sync(g, pool);
        *slot(&mut self.active_sites, g.site.id) -= 1;
        *slot(&mut self.active_callers, g.site.caller) -= 1;
        let totals = Totals {
            work: g.work,
            span: g.prefix.value,
        };
        let sum = Sum::one(totals.work, totals.span);
        let measure = Measure {
            top_call_site: if g.top_call_site { sum } else { Sum::default() },
            top_caller: if g.top_caller { sum } else { Sum::default() },
            local: Sum::one(g.local_work, g.prefix.local),
        };
        let at = g.site.id as usize;
        if self.on_work.len() <= at {
            self.on_work.resize(at + 1, Measure::default());
        }
        self.on_work[at] += measure;
        let Some(f) = callers.last_mut() else {
            // The outermost invocation: its profile is the result.
            pool.update(&mut g.prefix.prof, g.site.id, measure);
            return Some(totals);
        };
        f.work += g.work;
        // What is G's own is not F's.
        g.prefix.local = 0;
        let to = match g.site.kind {
            Kind::Call => &mut f.continuation,
            Kind::Spawn if f.continuation.value + g.prefix.value > f.longest.value => {
                f.prefix.add(&mut f.continuation, pool);
                f.longest.clear(pool);
                &mut f.longest
            }
            Kind::Spawn => {
                g.prefix.clear(pool);
                return Some(totals);
            }
        };
        to.add(&mut g.prefix, pool);
        pool.update(&mut to.prof, g.site.id, measure);
        Some(totals)
    }

    /// The on-work profile of the invocations completed so far, by call site.
    #[must_use]
    pub fn on_work(&self) -> &[Measure] {
        &self.on_work
    }

    /// Calls `each` for parts of the on-span profile: of the computation if its outermost invocation has returned, else
    /// of the path to the place reached. Parts of one call site add up.
    pub fn on_span(&self, mut each: impl FnMut(u32, Measure)) {
        if self.depth == 0 {
            if let Some(frame) = self.frames.first() {
                self.pool.peek(&frame.prefix.prof, &mut each);
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
        let span =
            |frame: &Frame| frame.prefix.value + frame.continuation.value.max(frame.longest.value);
        Totals {
            work,
            span: self.stack().iter().map(span).sum(),
        }
    }
}

fn sync(frame: &mut Frame, pool: &mut Pool<Measure>) {
    let (win, lose) = if frame.continuation.value > frame.longest.value {
        (&mut frame.continuation, &mut frame.longest)
    } else {
        (&mut frame.longest, &mut frame.continuation)
    };
    frame.prefix.add(win, pool);
    lose.clear(pool);
}
