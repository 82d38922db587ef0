//! The account in the words of [POP](https://pop-coe.eu/node/69): why the processors' time did not
//! all run the program, as a product of efficiencies.

use serde::Serialize;

use super::Run;
use crate::view::units::share;

/// The efficiencies of a run, each between 0 and 1. The processors are those of the account, and
/// the times are those of its replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pop {
    /// Useful time by all processor time: `load_balance` times `communication_efficiency`.
    pub parallel_efficiency: f64,
    /// The average useful time of a processor by the longest one of an executor.
    pub load_balance: f64,
    /// The longest useful time of an executor by the length of the run: `serialisation_efficiency`
    /// times `transfer_efficiency`.
    pub communication_efficiency: f64,
    /// The same by the length that the run would have if contexts that wait went on at once.
    pub serialisation_efficiency: f64,
    /// That length by the length of the run.
    pub transfer_efficiency: f64,
}

impl Pop {
    /// `useful_ns` is the useful time of all executors, of which the busiest has the share
    /// `busiest`. It is `None` where nothing ran, or where the run is too long to be replayed.
    pub(super) fn of(run: &Run, processors: u32, useful_ns: f64, busiest: f64) -> Option<Self> {
        let (run_ns, ideal_ns) = (run.ns, run.ideal_ns);
        if useful_ns <= 0.0 || run_ns <= 0.0 || run.too_long {
            return None;
        }
        let average = useful_ns / f64::from(processors);
        let ideal_ns = ideal_ns.clamp(average.min(run_ns), run_ns);
        // With more executors than processors, the busiest one may have less than a processor's
        // part, and one that executes contexts which the replay executes side by side may have more
        // than fits into the run.
        let longest = (useful_ns * busiest).max(average).min(ideal_ns);
        Some(Self {
            parallel_efficiency: average / run_ns,
            load_balance: average / longest,
            communication_efficiency: longest / run_ns,
            serialisation_efficiency: longest / ideal_ns,
            transfer_efficiency: ideal_ns / run_ns,
        })
    }

    /// The efficiencies in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!(
            "POP: parallel efficiency {} = load balance {} x serialisation {} x transfer {}.",
            share(self.parallel_efficiency),
            share(self.load_balance),
            share(self.serialisation_efficiency),
            share(self.transfer_efficiency)
        )
    }
}
