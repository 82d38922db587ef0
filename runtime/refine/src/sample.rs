//! The input of a decision, and the state that is reported.

/// The result of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Scheduling overhead, a fraction of P T.
    pub scheduling: f64,
    /// Load imbalance, a fraction of P T.
    pub imbalance: f64,
    /// The duration of the round, T, in any unit. Rounds of one size are assumed to take about equally long.
    pub time: f64,
}

impl Sample {
    /// Whether the sample is a measurement at all.
    pub(crate) fn is_usable(&self) -> bool {
        self.time > 0.0
            && [self.scheduling, self.imbalance, self.time]
                .iter()
                .all(|x| x.is_finite())
    }
}

/// The state of a refinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It follows equation 9.
    Seeking,
    /// It compares sizes near the best one.
    Polishing,
    /// It keeps the size.
    Holding,
}
