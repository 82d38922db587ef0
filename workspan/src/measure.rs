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

impl Sum {
    #[inline(always)]
    fn add_one(&mut self, work: u64, span: u64) {
        // What the invocations above a place took is less than the run: it fits.
        self.count += 1;
        self.work = self.work.wrapping_add(work);
        self.span = self.span.wrapping_add(span);
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

/// One invocation that has returned: what is logged for its call site until the log is added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Its work, and that without what it invoked.
    pub work: u64,
    /// See `work`.
    pub local_work: u64,
    /// Its span, and the part of it that is its own.
    pub span: u64,
    /// See `span`.
    pub local_span: u64,
    /// No invocation of the same call site was above it.
    pub top_call_site: bool,
    /// No invocation from the same calling function was above it.
    pub top_caller: bool,
}

impl AddAssign<Invocation> for Measure {
    #[inline(always)]
    fn add_assign(&mut self, one: Invocation) {
        self.local.add_one(one.local_work, one.local_span);
        if one.top_call_site {
            self.top_call_site.add_one(one.work, one.span);
        }
        if one.top_caller {
            self.top_caller.add_one(one.work, one.span);
        }
    }
}
