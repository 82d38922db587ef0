//! The least and the most of several numbers.

/// Least and most of all rounds.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Range {
    /// Of some numbers.
    #[must_use]
    pub fn of(all: &[f64]) -> Self {
        Self {
            least: all.iter().copied().fold(f64::INFINITY, f64::min),
            most: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// From the least to the most.
    #[must_use]
    pub fn width(self) -> f64 {
        self.most - self.least
    }
}
