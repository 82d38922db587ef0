//! Regions of interest that the program marked.

use crate::clock::Clock;

/// Marks that are kept; a program that makes more has regions of no interest.
const MOST: usize = 1 << 16;

/// Begins and ends as they were found, in ticks.
#[derive(Debug, Default)]
pub(crate) struct Regions(Vec<(u64, bool)>);

impl Regions {
    pub(crate) fn mark(&mut self, at: u64, begins: bool) {
        if self.0.len() < MOST {
            self.0.push((at, begins));
        }
    }

    /// Starts and ends in nanoseconds, by start. Within a region marks of another begin are none; a region that does not end
    /// ends with the run.
    pub(crate) fn finish(mut self, clock: Clock, run_ns: u64) -> Vec<(u64, u64)> {
        self.0.sort_unstable();
        let mut regions = Vec::new();
        let mut open = None;
        for (at, begins) in self.0 {
            let at = clock.ns(at);
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
        let found = regions.finish(Clock::new(0), 100);
        assert_eq!(found, [(10, 30), (50, 70), (80, 100)]);
    }
}
