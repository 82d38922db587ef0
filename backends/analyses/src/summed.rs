//! Sums by key, in little memory.

use std::ops::AddAssign;

/// A list of fewer entries grows without being added up, which would take longer than it saves.
const FEW: usize = 1 << 16;

/// Sums by key. A key may occur more than once until the list is full: then it is added up, and
/// gets room for as many entries again.
#[derive(Debug)]
pub(crate) struct Summed<K, V>(pub(crate) Vec<(K, V)>);

impl<K, V> Default for Summed<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Ord + Copy, V: AddAssign + Copy> Summed<K, V> {
    pub(crate) fn add(&mut self, key: K, value: V) {
        let all = &mut self.0;
        // Most come for the key of the one before.
        if let Some(last) = all.last_mut().filter(|last| last.0 == key) {
            last.1 += value;
            return;
        }
        if all.len() == all.capacity() && all.len() >= FEW {
            self.settle();
            self.0.reserve_exact(self.0.len().max(1));
        }
        self.0.push((key, value));
    }

    /// Adds up: each key then occurs once, in ascending order.
    pub(crate) fn settle(&mut self) {
        self.0.sort_unstable_by_key(|entry| entry.0);
        self.0.dedup_by(|next, sum| {
            let same = next.0 == sum.0;
            if same {
                sum.1 += next.1;
            }
            same
        });
    }
}
