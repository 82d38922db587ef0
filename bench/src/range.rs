//! The least and the most of several numbers.

#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub least: f64,
    pub most: f64,
}

impl Range {
    /// The range of some numbers.
    #[must_use]
    pub fn of(all: &[f64]) -> Self {
        Self {
            least: all.iter().copied().fold(f64::INFINITY, f64::min),
            most: all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    #[must_use]
    pub fn width(self) -> f64 {
        self.most - self.least
    }
}
