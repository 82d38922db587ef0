//! The regions of interest that the program marked.

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

    /// Returns starts and ends in nanoseconds, sorted by start; `time` converts a tick of a trace. A begin within a
    /// region is ignored, and a region that does not end ends with the run.
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
