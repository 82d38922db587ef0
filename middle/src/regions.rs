//! The regions of interest that the program marked, and the parts of the run whose accesses were
//! recorded.

use std::collections::BTreeMap;

use contech_trace::event::Recorded;
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{AccessesOf, Note, NoteKind, Unrecorded};

/// Number of marks that are kept. The regions of a program that makes more are of no interest.
const MOST: usize = 1 << 16;

/// The begins and ends as they were found, in ticks.
#[derive(Debug, Default)]
pub(crate) struct Regions {
    marks: Vec<(u16, u64, bool)>,
    trace: u16,
}

impl Regions {
    pub(crate) fn mark(&mut self, at: u64, begins: bool) {
        if self.marks.len() < MOST {
            self.marks.push((self.trace, at, begins));
        }
    }

    /// Says that the marks from now on are of this trace, one of several.
    pub(crate) fn set_trace(&mut self, trace: u16) {
        self.trace = trace;
    }

    /// Returns starts and ends in nanoseconds, sorted by start; `time` converts a tick of a trace.
    /// A begin within a region is ignored, and a region that does not end ends with the run.
    pub(crate) fn finish(self, time: impl Fn(u16, u64) -> u64, run_ns: u64) -> Vec<(u64, u64)> {
        let at = |&(trace, at, begins): &(u16, u64, bool)| (time(trace, at), begins);
        let mut marks: Vec<_> = self.marks.iter().map(at).collect();
        marks.sort_unstable();
        let mut regions = Vec::new();
        let mut open = None;
        for (at, begins) in marks {
            if begins {
                open.get_or_insert(at);
            } else if let Some(from) = open.take() {
                regions.push((from, at));
            }
        }
        regions.extend(open.map(|from| (from, run_ns.max(from))));
        regions
    }
}

/// Which streams have blocks where reading stopped, and which times that leaves out.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    /// Streams of the trace at hand that have no blocks where reading stopped.
    closed: FxHashSet<u32>,
    /// A thread was between two windows of a sample.
    between: bool,
    /// For each stream of a sample, the time to which it is counted.
    changed: FxHashMap<u32, u64>,
    /// Ticks in the windows of a sample, and between them.
    sampled: [u64; 2],
    trace: u16,
    /// For each trace, when the first of its threads stopped recording accesses because of the
    /// limit.
    limits: BTreeMap<u16, u64>,
    /// A thread was outside of the region of interest.
    outside: bool,
}

impl Windows {
    /// Takes note that a stream has blocks from here on, or has none.
    pub(crate) fn switch(&mut self, stream: u32, recorded: Recorded, at: u64) {
        self.goes_on(stream, at);
        if recorded == Recorded::Between {
            self.changed.entry(stream).or_insert(at);
            self.between = true;
        }
        if recorded == Recorded::Yes {
            self.closed.remove(&stream);
            return;
        }
        self.closed.insert(stream);
        self.outside |= recorded == Recorded::Outside;
        if recorded == Recorded::Limit {
            let first = self.limits.entry(self.trace).or_insert(at);
            *first = at.min(*first);
        }
    }

    /// Takes note that a stream has come to this time.
    pub(crate) fn goes_on(&mut self, stream: u32, at: u64) {
        if let Some(before) = self.changed.get_mut(&stream) {
            let closed = usize::from(self.closed.contains(&stream));
            self.sampled[closed] += at.saturating_sub(std::mem::replace(before, at));
        }
    }

    pub(crate) fn are_closed_for(&self, stream: u32) -> bool {
        self.closed.contains(&stream)
    }

    /// Says that the streams from now on are of this trace, one of several.
    pub(crate) fn set_trace(&mut self, trace: u16) {
        self.trace = trace;
        self.closed.clear();
        self.changed.clear();
    }

    /// Which accesses are missing, and the sentence that says so; `time` converts a tick of a trace
    /// to nanoseconds.
    pub(crate) fn finish(self, time: impl Fn(u16, u64) -> u64) -> Option<(Unrecorded, Note)> {
        let since_ns = self.limits.iter().map(|(&trace, &at)| time(trace, at)).min();
        let (of, what) = match since_ns {
            #[allow(clippy::cast_precision_loss, reason = "milliseconds are shown")]
            Some(ns) => (
                AccessesOf::Limit,
                format!(
                    "accesses after {:.3} s are missing, because the trace reached its limit (CONTECH_LIMIT): blocks, caches, sharing, races and memory are those of the time before",
                    ns as f64 / 1e9
                ),
            ),
            None if self.between => (
                AccessesOf::Sample,
                format!(
                    "accesses are a sample (CONTECH_SAMPLE), of about {}% of the threads' time: counts of blocks, accesses and misses are those of the sample, and races, sharing and memory are what it shows",
                    percent(self.sampled)
                ),
            ),
            None if self.outside => (
                AccessesOf::Region,
                "accesses outside of the region of interest are missing (CONTECH_ROI): blocks, caches, sharing, races and memory are those of the region".into(),
            ),
            None => return None,
        };
        let text = format!("{what}; order, waits and times are of the whole run");
        Some((Unrecorded { of, since_ns }, Note::new(NoteKind::Accesses, text)))
    }
}

/// The share of the first number in both, in percent, with one digit.
fn percent([part, rest]: [u64; 2]) -> String {
    let tenths = (part.saturating_mul(1000) + (part + rest) / 2) / (part + rest).max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_all_contexts_become_regions_by_time() {
        let mut regions = Regions::default();
        for (at, begins) in [(50, true), (70, false), (10, true), (12, true), (30, false)] {
            regions.mark(at, begins);
        }
        regions.mark(80, true);
        let found = regions.finish(|_, at| at, 100);
        assert_eq!(found, [(10, 30), (50, 70), (80, 100)]);
    }
}
