//! Samples of what contexts run: each context at regular intervals of its running time.

use rustc_hash::FxHashMap;
use taskgraph::ContextId;

use crate::analysis::{Change, State};

/// What a context ran at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) context: ContextId,
    pub(crate) at_ns: u64,
    pub(crate) node: u32,
}

/// Takes samples: none unless a number is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    most: u64,
    running_ns: u64,
    /// Running time of each context since its last sample.
    since: FxHashMap<ContextId, u64>,
    pub(super) taken: Vec<Sample>,
}

impl Sampler {
    pub(super) fn new(most: u64) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// All changes come before the first sample.
    pub(super) fn change(&mut self, change: &Change<'_>) {
        if change.to == Some(State::Running) {
            self.running_ns = self.running_ns.saturating_add(change.ns);
        }
    }

    /// Running time for which there is one sample: whole microseconds, because that is how the Firefox profiler counts.
    pub(super) fn interval(&self) -> u64 {
        let ns = self.running_ns.div_ceil(self.most.max(1));
        ns.max(1).next_multiple_of(1000)
    }

    /// A context runs from `at_ns` on.
    pub(super) fn runs(&mut self, context: ContextId, node: u32, at_ns: u64, ns: u64) {
        if self.most == 0 {
            return;
        }
        let interval = self.interval();
        let since = self.since.entry(context).or_default();
        let mut passed = interval - *since;
        while passed <= ns {
            self.taken.push(Sample {
                context,
                at_ns: at_ns + passed,
                node,
            });
            passed += interval;
        }
        *since = ns + interval - passed;
    }
}
