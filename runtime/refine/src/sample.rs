//! What goes into a decision, and what is said about it.

/// What a round told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Scheduling overhead, a fraction of P T.
    pub scheduling: f64,
    /// Load imbalance, a fraction of P T.
    pub imbalance: f64,
    /// How long the round took, T, in any unit. Rounds of one size are taken to be about equally long.
    pub time: f64,
}

impl Sample {
    /// Whether it is a measurement at all.
    pub(crate) fn is_usable(&self) -> bool {
        self.time > 0.0
            && [self.scheduling, self.imbalance, self.time]
                .iter()
                .all(|x| x.is_finite())
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Following equation 9.
    Seeking,
    /// Comparing sizes near the best one.
    Polishing,
    /// The size stays.
    Holding,
}
