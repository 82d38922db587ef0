//! Which sizes parts can have.

/// The sizes from a smallest to a largest one, for a loop over so many items with so many workers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sizes {
    items: u64,
    workers: u64,
    smallest: u64,
    largest: u64,
}

impl Sizes {
    /// The sizes from 1 to items / workers, rounded up, since fewer parts than workers help nobody.
    pub(crate) fn new(items: u64, workers: u32) -> Self {
        let (items, workers) = (items.max(1), u64::from(workers.max(1)));
        Self {
            items,
            workers,
            smallest: 1,
            largest: items.div_ceil(workers),
        }
    }

    /// Sets other limits, which are put in order and limited to the items.
    pub(crate) fn limit(&mut self, smallest: u64, largest: u64) {
        self.smallest = smallest.clamp(1, self.items);
        self.largest = largest.clamp(self.smallest, self.items);
    }

    pub(crate) fn largest(&self) -> u64 {
        self.largest
    }

    /// Whether only one size is possible.
    pub(crate) fn is_one(&self) -> bool {
        self.smallest == self.largest
    }

    /// The nearest possible size.
    pub(crate) fn clamp(&self, size: u64) -> u64 {
        size.clamp(self.smallest, self.largest)
    }

    /// The possible size nearest to a multiple of a size.
    pub(crate) fn by(&self, size: u64, factor: f64) -> u64 {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "sizes beyond 2^53 need no last digit; the cast saturates"
        )]
        let next = (size as f64 * factor).round() as u64;
        self.whole_waves(self.clamp(next))
    }

    /// If each worker has few parts, returns the smallest size that gives no more parts: 5 parts for 4 workers take
    /// as long as 8 smaller ones.
    fn whole_waves(&self, size: u64) -> u64 {
        let parts = self.items.div_ceil(size);
        let waves = parts.div_ceil(self.workers);
        if waves > 8 || parts < self.workers {
            return size;
        }
        let even = self.items.div_ceil(waves * self.workers);
        self.clamp(even).min(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_parts_for_four_workers_become_eight() {
        assert_eq!(Sizes::new(1000, 4).by(100, 2.0), 125);
        assert_eq!(Sizes::new(1000, 4).by(100, 100.0), 250);
        assert_eq!(Sizes::new(1000, 4).by(10, 0.5), 5);
    }

    #[test]
    fn limits_hold_even_when_nonsense() {
        let mut sizes = Sizes::new(1000, 4);
        sizes.limit(300, 200);
        assert_eq!((sizes.by(1, 1.0), sizes.is_one()), (300, true));
        sizes.limit(0, u64::MAX);
        assert_eq!((sizes.clamp(0), sizes.clamp(u64::MAX)), (1, 1000));
        assert_eq!(sizes.by(u64::MAX, f64::INFINITY), 1000);
        assert_eq!(sizes.by(7, f64::NAN), 1);
        assert_eq!(sizes.by(300, 2.0), 600); // the caller set these limits on purpose
    }
}
