//! Tickets give the order in which each synchronisation object was really acquired and released.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of counters. Objects whose addresses hash alike share one, which only makes their tickets sparse.
const COUNTERS: usize = 4096;

#[repr(align(64))]
#[derive(Debug)]
struct Counter(AtomicU64);

/// Counters by object, each in a cache line of its own. Only the users of a counter's objects touch it, so tickets cost
/// no more than the object itself.
#[derive(Debug)]
pub struct Tickets([Counter; COUNTERS]);

impl Default for Tickets {
    fn default() -> Self {
        Self::new()
    }
}

impl Tickets {
    /// All counters at zero.
    #[must_use]
    pub const fn new() -> Self {
        Tickets([const { Counter(AtomicU64::new(0)) }; COUNTERS])
    }

    #[inline]
    fn counter(&self, object: usize) -> &AtomicU64 {
        // This is multiplicative hashing by the golden ratio, which mixes the top bits best.
        let hash = (object as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 12);
        #[allow(clippy::cast_possible_truncation, reason = "12 bits")]
        let index = hash as usize;
        &self.0[index].0
    }

    /// The next ticket of the object at this address. Relaxed suffices, because the object's own ordering puts one draw
    /// before the next, and draws of one counter are totally ordered anyway.
    #[inline]
    pub fn next(&self, object: usize) -> u64 {
        self.counter(object).fetch_add(1, Relaxed) + 1
    }

    /// The last ticket drawn for the object, 0 for none.
    #[inline]
    pub fn last(&self, object: usize) -> u64 {
        self.counter(object).load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_of_one_object_ascend_from_every_thread() {
        static TICKETS: Tickets = Tickets::new();
        let drawn: Vec<Vec<u64>> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..4)
                .map(|_| s.spawn(|| (0..1000).map(|_| TICKETS.next(0x1000)).collect()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(drawn.iter().all(|d| d.is_sorted()));
        let mut all: Vec<u64> = drawn.concat();
        all.sort_unstable();
        assert_eq!(all, (1..=4000).collect::<Vec<u64>>());
        assert_eq!(TICKETS.last(0x1000), 4000);
    }
}
