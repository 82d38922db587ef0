//! Nests of loops. Where iterations access the same, the machine is soon in a state that it was in before, and what it does
//! from one such state to the next is only counted.

use taskgraph::{AffineRun, Again, Nest, NestRuns};

use super::Watch;
use super::machine::Machine;

/// A nest that a core executes.
struct Way<'w> {
    watch: &'w mut Watch,
    core: usize,
    /// What is known of each loop.
    loops: Vec<Known>,
}

/// The accesses of the core up to a start of an iteration, and the machine then with the number of iterations done.
#[derive(Debug, Default)]
struct Known {
    accesses: u64,
    then: Option<(Machine, u64)>,
}

impl Watch {
    /// A nest of loops.
    pub(super) fn nest(&mut self, core: usize, nest: &Nest<'_>) {
        let mut way = Way {
            watch: self,
            core,
            loops: Vec::new(),
        };
        way.nest(nest, false);
    }
}

impl NestRuns for Way<'_> {
    fn run(&mut self, run: &AffineRun<'_>, _: u64) {
        self.watch.run(self.core, run);
    }

    fn again(&mut self, l: usize, done: u64, left: u64) -> Again {
        let machine = &mut self.watch.machine;
        let accesses = machine.accesses(self.core);
        if self.loops.len() <= l {
            self.loops.resize_with(l + 1, Known::default);
        }
        let known = &mut self.loops[l];
        if done == 0 {
            *known = Known {
                accesses,
                then: None,
            };
        }
        // To keep or compare a machine takes no longer than the accesses since the last time.
        if accesses - known.accesses < machine.size() {
            return Again::Next;
        }
        known.accesses = accesses;
        let then = known.then.as_ref();
        let Some((then, at)) = then.filter(|(then, _)| machine.is_as(then)) else {
            known.then = Some((machine.clone(), done));
            return Again::Next;
        };
        let times = left / (done - at);
        if times == 0 {
            return Again::Next;
        }
        machine.repeat(then, times);
        Again::Skip(times * (done - at))
    }
}
