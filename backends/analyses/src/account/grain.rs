//! How large the pieces of work are that a run hands out, beside the least that is worth it.

use serde::Serialize;

use super::{Loss, Report};
use crate::view::units::{count, time};

/// Starting so many contexts for each processor may be what a run is slow by. Fewer are needed to
/// use the processors.
pub(super) const SOME: u64 = 32;

/// The pieces of a run: its contexts, and what threads took of loops one by one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Grain {
    /// Number of pieces.
    pub pieces: u64,
    /// Useful time of a piece on average, ns.
    pub ns: u64,
    /// METG(50%), the minimum effective task granularity: with pieces of so many ns, half of the
    /// time would go to making and handing them out (Slaughter et al., Task Bench, SC 2020).
    pub metg_ns: u64,
}

impl Grain {
    /// The grain of a run with so many pieces; `None` if they are few or cost nothing.
    pub(super) fn of(report: &Report, pieces: u64) -> Option<Self> {
        let scheduling = report.losses.iter().find(|row| row.cause == Loss::Scheduling)?;
        (pieces >= SOME * u64::from(report.processors)).then(|| Self {
            pieces,
            ns: report.useful_ns / pieces,
            metg_ns: scheduling.ns / pieces,
        })
    }

    /// The grain in a sentence.
    #[must_use]
    pub fn sentence(self) -> String {
        format!(
            "Grain: {} pieces of {} on average; with pieces of {} (METG), half of the time would go to handing them out.",
            count(self.pieces),
            time(self.ns),
            time(self.metg_ns)
        )
    }
}
