//! Nests of loops. As of a run, iterations that a task repeats find nothing new, unless they access an earlier life of their
//! memory.

use taskgraph::{AffineRun, Again, Nest, NestRuns};

use super::detector::Detector;

/// A nest that the task executes.
struct Way<'d> {
    detector: &'d mut Detector,
    /// By loop: what was counted up to its latest iteration.
    before: Vec<(u64, u64)>,
}

impl Detector {
    pub(super) fn nest(&mut self, nest: &Nest<'_>) {
        let mut way = Way {
            detector: self,
            before: Vec::new(),
        };
        way.nest(nest, false);
    }
}

impl NestRuns for Way<'_> {
    fn run(&mut self, run: &AffineRun<'_>, _: u64) {
        self.detector.run(run);
    }

    fn again(&mut self, l: usize, done: u64, left: u64) -> Again {
        if self.before.len() <= l {
            self.before.resize(l + 1, (0, 0));
        }
        let now = (self.detector.accesses, self.detector.unowned);
        let (accesses, unowned) = std::mem::replace(&mut self.before[l], now);
        if done == 0 || unowned != now.1 {
            return Again::Next;
        }
        self.detector.repeat((now.0 - accesses) * left);
        Again::Skip(left)
    }
}
