//! What a profile holds for a call site (section 6).

use std::ops::AddAssign;

/// Work and span of a number of invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Invocations.
    pub count: u64,
    /// Sum of their work.
    pub work: u64,
    /// Sum of their spans.
    pub span: u64,
}

impl Sum {
    /// One invocation.
    #[must_use]
    pub fn one(work: u64, span: u64) -> Self {
        Self {
            count: 1,
            work,
            span,
        }
    }
}

impl AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.work = self.work.saturating_add(other.work);
        self.span = self.span.saturating_add(other.span);
    }
}

/// The three measurements of a call site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Invocations with no invocation of the same call site above them in the invocation tree.
    pub top_call_site: Sum,
    /// Invocations with no invocation from the same calling function above them.
    pub top_caller: Sum,
    /// All invocations, without what they invoke.
    pub local: Sum,
}

impl AddAssign for Measure {
    fn add_assign(&mut self, other: Self) {
        self.top_call_site += other.top_call_site;
        self.top_caller += other.top_caller;
        self.local += other.local;
    }
}

/// What is above an invocation on the stack: bits [`Above::SITE`] and [`Above::CALLER`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Above(u8);

impl Above {
    /// Nothing that matters.
    pub const NOTHING: Self = Self(0);
    /// An invocation of the same call site.
    pub const SITE: Self = Self(1);
    /// An invocation from the same calling function.
    pub const CALLER: Self = Self(2);

    /// Both of them.
    pub const BOTH: Self = Self(3);

    /// What is in either.
    #[inline(always)]
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What there is of `only`.
    #[inline(always)]
    #[must_use]
    pub fn only(self, only: Self) -> Self {
        Self(self.0 & only.0)
    }

    /// Whether there is any of `of`.
    #[inline(always)]
    #[must_use]
    pub fn has(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }
}

/// Invocations that have returned, all with the same above them: what is logged for their call site until the log is
/// added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Their work, and that without what they invoked.
    pub work: u64,
    /// See `work`.
    pub local_work: u64,
    /// Their spans, and the parts of them that are their own.
    pub span: u64,
    /// See `span`.
    pub local_span: u64,
    /// How many: one but for leaves.
    pub count: u32,
    /// What was above them.
    pub above: Above,
}

impl AddAssign<Invocation> for Measure {
    fn add_assign(&mut self, one: Invocation) {
        let count = u64::from(one.count);
        let of = |work, span| Sum { count, work, span };
        self.local += of(one.local_work, one.local_span);
        if !one.above.has(Above::SITE) {
            self.top_call_site += of(one.work, one.span);
        }
        if !one.above.has(Above::CALLER) {
            self.top_caller += of(one.work, one.span);
        }
    }
}

/// Leaves of one call site with the same above them: all they have is their work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leaves {
    /// None: the rest means nothing.
    pub(crate) count: u32,
    pub(crate) site: u32,
    pub(crate) above: Above,
    pub(crate) work: u64,
}

impl Leaves {
    /// Adds a leaf; false if it is not like the others, or they are too many.
    #[inline(always)]
    pub(crate) fn add(&mut self, site: u32, above: Above, work: u64) -> bool {
        if self.count == 0 {
            *self = Self {
                count: 1,
                site,
                above,
                work,
            };
            return true;
        }
        let is_like = self.site == site && self.above == above && self.count < u32::MAX;
        if is_like {
            self.count += 1;
            self.work += work;
        }
        is_like
    }

    /// As what is logged.
    #[inline(always)]
    pub(crate) fn logged(&self) -> Invocation {
        Invocation {
            work: self.work,
            local_work: self.work,
            span: self.work,
            local_span: self.work,
            count: self.count,
            above: self.above,
        }
    }
}

/// Sums of a call site, as [`Measure`] has them: those of a kind side by side. Written at every return of the program, one
/// by one, which takes a processor fewer instructions than pairs of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    counts: [u64; 3],
    works: [u64; 3],
    spans: [u64; 3],
}

const LOCAL: usize = 0;
const TOP_CALL_SITE: usize = 1;
const TOP_CALLER: usize = 2;

impl Sums {
    #[inline(always)]
    fn add(&mut self, which: usize, work: u64, span: u64) {
        // What the invocations above a place took is less than the run: it fits.
        self.counts[which] += 1;
        self.works[which] = self.works[which].wrapping_add(work);
        self.spans[which] = self.spans[which].wrapping_add(span);
    }

    /// One more invocation.
    #[inline(always)]
    pub(crate) fn add_one(&mut self, one: Invocation) {
        debug_assert_eq!(one.count, 1);
        self.add(LOCAL, one.local_work, one.local_span);
        if one.above != Above::BOTH {
            self.add_to_tops(one);
        }
    }

    #[inline(always)]
    fn add_to_tops(&mut self, one: Invocation) {
        if !one.above.has(Above::SITE) {
            self.add(TOP_CALL_SITE, one.work, one.span);
        }
        if !one.above.has(Above::CALLER) {
            self.add(TOP_CALLER, one.work, one.span);
        }
    }

    /// One more invocation, which invoked nothing.
    #[inline(always)]
    pub(crate) fn add_leaf(&mut self, work: u64, above: Above) {
        self.add(LOCAL, work, work);
        if above != Above::BOTH {
            if !above.has(Above::SITE) {
                self.add(TOP_CALL_SITE, work, work);
            }
            if !above.has(Above::CALLER) {
                self.add(TOP_CALLER, work, work);
            }
        }
    }

    /// `count` invocations more, all with the same above them, which invoked nothing and together took `work`.
    pub(crate) fn add_alike(&mut self, count: u64, work: u64, above: Above) {
        let of = [true, !above.has(Above::SITE), !above.has(Above::CALLER)];
        for which in (0..).zip(of).filter_map(|(which, is)| is.then_some(which)) {
            let which: usize = which;
            self.counts[which] += count;
            self.works[which] = self.works[which].wrapping_add(work);
            self.spans[which] = self.spans[which].wrapping_add(work);
        }
    }

    /// Two that were added were one, with this above it.
    pub(crate) fn join_two(&mut self, above: Above) {
        self.counts[LOCAL] -= 1;
        self.counts[TOP_CALL_SITE] -= u64::from(!above.has(Above::SITE));
        self.counts[TOP_CALLER] -= u64::from(!above.has(Above::CALLER));
    }

    /// All of them.
    pub(crate) fn measure(&self) -> Measure {
        let of = |which: usize| Sum {
            count: self.counts[which],
            work: self.works[which],
            span: self.spans[which],
        };
        Measure {
            top_call_site: of(TOP_CALL_SITE),
            top_caller: of(TOP_CALLER),
            local: of(LOCAL),
        }
    }
}
