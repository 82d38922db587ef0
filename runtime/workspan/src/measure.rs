//! What a profile holds for a call site (section 6).

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Work and span of a number of invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    /// Number of invocations.
    pub count: u64,
    /// Sum of their work.
    pub work: u64,
    /// Sum of their spans.
    pub span: u64,
}

impl Sum {
    /// The sum of one invocation.
    #[must_use]
    pub fn one(work: u64, span: u64) -> Self {
        Self { count: 1, work, span }
    }

    /// Work over span; 0 without a span.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a ratio")]
    pub fn parallelism(&self) -> f64 {
        match self.span {
            0 => 0.0,
            span => self.work as f64 / span as f64,
        }
    }

    /// The sum with each amount converted.
    #[must_use]
    pub fn map(self, amount: impl Fn(u64) -> u64) -> Self {
        Self { count: self.count, work: amount(self.work), span: amount(self.span) }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// Invocations with no invocation of the same call site above them in the invocation tree.
    pub top_call_site: Sum,
    /// Invocations with no invocation from the same calling function above them.
    pub top_caller: Sum,
    /// All invocations, without the invocations that they make.
    pub local: Sum,
}

impl Measure {
    /// The measurements with each amount converted.
    #[must_use]
    pub fn map(self, amount: impl Fn(u64) -> u64) -> Self {
        Self {
            top_call_site: self.top_call_site.map(&amount),
            top_caller: self.top_caller.map(&amount),
            local: self.local.map(&amount),
        }
    }
}

impl AddAssign for Measure {
    fn add_assign(&mut self, other: Self) {
        self.top_call_site += other.top_call_site;
        self.top_caller += other.top_caller;
        self.local += other.local;
    }
}

/// What is above an invocation on the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Above {
    /// An invocation of the same call site.
    pub site: bool,
    /// An invocation from the same calling function.
    pub caller: bool,
}

impl Above {
    /// Number of different values.
    pub(crate) const KINDS: usize = 4;
}

/// Invocations of a call site that have returned, all with the same above them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Sum of their work.
    pub work: u64,
    /// Sum of their work without that of the invocations they made.
    pub local_work: u64,
    /// Sum of their spans.
    pub span: u64,
    /// Sum of the parts of their spans that are their own.
    pub local_span: u64,
    /// Number of invocations.
    pub count: u64,
    /// Their call site.
    pub site: u32,
    /// What was above them.
    pub above: Above,
}

impl Invocation {
    /// One invocation that made no invocations: work is all that it has.
    #[inline(always)]
    pub(crate) fn leaf(site: u32, work: u64, above: Above) -> Self {
        Self { work, local_work: work, span: work, local_span: work, count: 1, site, above }
    }

    /// A number that tells those which can be added up.
    #[inline(always)]
    pub(crate) fn key(&self) -> usize {
        let above = usize::from(self.above.site) + 2 * usize::from(self.above.caller);
        self.site as usize * Above::KINDS + above
    }

    /// Adds others of the same call site, with the same above them.
    #[inline(always)]
    pub(crate) fn add(&mut self, other: Self) {
        self.work = self.work.saturating_add(other.work);
        self.local_work = self.local_work.saturating_add(other.local_work);
        self.span = self.span.saturating_add(other.span);
        self.local_span = self.local_span.saturating_add(other.local_span);
        self.count += other.count;
    }
}

impl AddAssign<Invocation> for Measure {
    #[inline(always)]
    fn add_assign(&mut self, one: Invocation) {
        let count = one.count;
        let of = |work, span| Sum { count, work, span };
        self.local += of(one.local_work, one.local_span);
        if !one.above.site {
            self.top_call_site += of(one.work, one.span);
        }
        if !one.above.caller {
            self.top_caller += of(one.work, one.span);
        }
    }
}
