//! Sums by what they are of.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::analysis::source::Place;

/// Sums of time (ns) or of anything else.
pub(super) type Sums<K> = FxHashMap<K, f64>;

/// Adds to sums.
pub(super) fn add_all<K: Eq + Hash>(sums: &mut Sums<K>, more: impl IntoIterator<Item = (K, f64)>) {
    for (key, amount) in more {
        *sums.entry(key).or_default() += amount;
    }
}

/// What the largest sum is of; of equal ones the least.
pub(super) fn largest<K: Ord>(sums: Sums<K>) -> Option<K> {
    let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    most.map(|(key, _)| key)
}

/// A time, ns, and the place that has most of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    pub(super) ns: f64,
    pub(super) place: Option<Place>,
}

impl Spent {
    pub(super) fn at(places: Sums<Place>) -> Self {
        Self { ns: places.values().sum(), place: largest(places) }
    }
}
