//! A deterministic source of choices.

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014). It
/// gives the same numbers from the same seed on every machine.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    #[must_use]
    pub fn of_state(state: u64) -> Self {
        Self(state)
    }

    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Self(seed ^ 0x5851_f42d_4c95_7f2d);
        rng.bits();
        rng
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 for `n` = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn range(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of all cases.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of the items; the list must not be empty.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        let at = usize::try_from(self.below(items.len() as u64)).unwrap_or(0);
        &items[at]
    }

    /// One of several items, if there is one.
    pub(crate) fn one<T>(&mut self, items: impl Iterator<Item = T>) -> Option<T> {
        let mut items: Vec<T> = items.collect();
        (!items.is_empty()).then(|| {
            let at = self.below(items.len() as u64);
            items.swap_remove(usize::try_from(at).unwrap_or(0))
        })
    }

    pub(crate) fn word(&mut self, words: &[&'static str]) -> &'static str {
        self.pick::<&str>(words)
    }

    /// The index of one of the weights, chosen in proportion to them.
    pub(crate) fn weighted(&mut self, weights: &[u64]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (i, w) in weights.iter().enumerate() {
            if at < *w {
                return i;
            }
            at -= w;
        }
        0
    }
}
