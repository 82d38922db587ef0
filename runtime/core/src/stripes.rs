//! The order of atomic operations: addresses of equal hash share one stripe ([`crate::stripe`]).

use std::ops::Index;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::stripe::{COUNTERS, LOCKED, Stripe};

const STRIPES: usize = 4096;

#[derive(Debug)]
pub struct Stripes([Stripe; STRIPES]);

impl Default for Stripes {
    fn default() -> Self {
        Self::new()
    }
}

impl Index<usize> for Stripes {
    type Output = Stripe;

    #[inline]
    fn index(&self, stripe: usize) -> &Stripe {
        &self.0[stripe % STRIPES]
    }
}

impl Stripes {
    /// No thread operates, and no tickets were drawn.
    #[must_use]
    pub const fn new() -> Self {
        Stripes(
            [const {
                Stripe {
                    word: AtomicU64::new(0),
                    taken_over: AtomicU64::new(0),
                    counters: [const { AtomicUsize::new(0) }; COUNTERS],
                }
            }; STRIPES],
        )
    }

    /// The stripe of an address. All addresses within an aligned 16 bytes, the widest operation there is, share one, so
    /// that overlapping operations of different widths do.
    #[inline]
    #[must_use]
    pub fn of(address: usize) -> usize {
        let hash = (address as u64 >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - 12);
        #[allow(clippy::cast_possible_truncation, reason = "12 bits")]
        let index = hash as usize;
        index
    }

    /// How often a stripe was taken over. That many operations may stand in a wrong order.
    pub fn taken_over(&self) -> u64 {
        let taken_over = self.0.iter().map(|stripe| stripe.taken_over.load(Relaxed));
        taken_over.sum()
    }

    /// Frees all stripes in a forked child, where their holders do not exist.
    pub fn free_all(&self) {
        for stripe in &self.0 {
            stripe.word.fetch_and(!LOCKED, Relaxed);
            // No thread of a scope exists here, either.
            stripe.counters.iter().for_each(|c| c.store(0, Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64 as Variable, Ordering::Relaxed};

    use super::*;
    use crate::stripe::{COUNTERS, STEP, TICKET};

    static STRIPES_UNDER_TEST: Stripes = Stripes::new();

    #[test]
    fn tickets_of_writes_are_the_order_of_their_values() {
        static VARIABLE: Variable = Variable::new(0);
        let stripe = Stripes::of((&raw const VARIABLE).addr());
        let first = STRIPES_UNDER_TEST[stripe].word.load(Relaxed) & TICKET;
        let work = move |owner: u64| {
            let pairs = (0..2000).map(|_| {
                STRIPES_UNDER_TEST[stripe].take(owner);
                let value = VARIABLE.fetch_add(1, Relaxed);
                let ticket = STRIPES_UNDER_TEST[stripe].draw(true);
                STRIPES_UNDER_TEST[stripe].give(owner);
                (ticket, value)
            });
            pairs.collect::<Vec<_>>()
        };
        let all: Vec<_> = std::thread::scope(|s| {
            let threads: Vec<_> = (1..5).map(|owner| s.spawn(move || work(owner))).collect();
            threads
                .into_iter()
                .flat_map(|t| t.join().unwrap())
                .collect()
        });
        for (ticket, value) in all {
            assert_eq!(ticket, first + STEP * (value + 1));
        }
    }

    #[test]
    fn a_load_stands_between_two_writes() {
        let stripes = Stripes::new();
        let drawn = [true, false, false, true].map(|writes| {
            stripes[5].take(1);
            let ticket = stripes[5].draw(writes);
            stripes[5].give(1);
            ticket
        });
        assert_eq!(drawn, [2, 3, 3, 4]);
    }

    #[test]
    fn a_load_without_the_lock_finds_the_value_of_its_ticket() {
        static STRIPES: Stripes = Stripes::new();
        static VARIABLE: Variable = Variable::new(0);
        let write = |owner: u64| {
            for _ in 0..20_000 {
                STRIPES[7].take(owner);
                VARIABLE.fetch_add(1, Relaxed);
                STRIPES[7].draw(true);
                STRIPES[7].give(owner);
            }
        };
        let look = |owner: u64| {
            for _ in 0..20_000 {
                let (ticket, value) = STRIPES[7].look(owner, || VARIABLE.load(Relaxed), |_| ());
                assert_eq!(ticket, STEP * value + 1);
            }
        };
        std::thread::scope(|s| {
            (1..3).for_each(|owner| drop(s.spawn(move || write(owner))));
            (3..5).for_each(|owner| drop(s.spawn(move || look(owner))));
        });
    }

    #[test]
    fn a_load_waits_for_the_thread_that_operates_and_not_for_itself() {
        let stripes = Stripes::new();
        stripes[5].take(1);
        assert_eq!(stripes[5].draw(true), 2);
        assert_eq!(stripes[5].look(1, || 8, |_| panic!("it is held")), (3, 8));
        let told = std::cell::Cell::new(0);
        let held = |begins: bool| told.set(told.get() * 2 + 1 + u32::from(begins));
        assert_eq!(stripes[5].look(2, || 9, held), (3, 9));
        assert_eq!((stripes.taken_over(), told.get()), (1, 2 * 2 + 1));
    }

    #[test]
    fn a_handler_draws_within_the_operation_it_interrupted() {
        let stripes = Stripes::new();
        stripes[5].take(1);
        assert!(!stripes[5].try_take(2));
        // A handler that comes before the ticket of a load is drawn, and one that comes after it.
        assert_eq!(stripes[5].draw(true), 2);
        assert_eq!(stripes[5].draw(false), 3);
        assert_eq!(stripes[5].draw(true), 4);
        stripes[5].give(1);
        assert!(stripes[5].try_take(2));
        assert_eq!(stripes[5].draw(false), 5, "no write was forgotten");
    }

    #[test]
    fn a_thread_knows_whether_it_holds_a_stripe_whatever_the_ticket() {
        let stripes = Stripes::new();
        for round in 0..1000 {
            let owner = 1 + round % 7 * 2340;
            assert!(!stripes[5].is_held_by(owner), "given back, or never taken");
            stripes[5].take(owner);
            assert!(stripes[5].is_held_by(owner) && !stripes[5].is_held_by(owner + 1));
            assert_eq!(stripes[5].draw(true), 2 * (round + 1));
            stripes[5].give(owner);
        }
        stripes[5].take(0);
        assert!(!stripes[5].is_held_by(0), "0 is nobody's number");
        stripes[5].give(0);
        assert!(
            stripes[5].try_take(1),
            "a thread without a number gives back, too"
        );
    }

    #[test]
    fn a_stripe_whose_holder_is_gone_is_taken_over() {
        let stripes = Stripes::new();
        stripes[5].take(1);
        stripes[5].take(2);
        assert_eq!(stripes.taken_over(), 1);
        assert!(stripes[5].is_held_by(2) && !stripes[5].is_held_by(1));
        stripes[5].give(1);
        assert!(
            stripes[5].is_held_by(2),
            "a holder that comes back late gives nothing back"
        );
        stripes[5].give(2);
        assert!(stripes[5].try_take(1));
    }

    #[test]
    fn counters_of_threads_are_known_by_address_until_they_are_0() {
        let stripes = Stripes::new();
        let same = |i: &usize| Stripes::of(*i) == Stripes::of(16);
        let addresses: Vec<_> = (16..).step_by(16).filter(same).take(COUNTERS + 1).collect();
        let (last, first) = (addresses[COUNTERS], addresses[0]);
        for address in &addresses {
            stripes[Stripes::of(16)].set_counts(*address, true);
            stripes[Stripes::of(16)].set_counts(*address, true);
        }
        let counts = |address| stripes[Stripes::of(16)].counts(address);
        assert!(counts(first) && !counts(last) && !counts(first + 8));
        stripes[Stripes::of(16)].set_counts(first, false);
        stripes[Stripes::of(16)].set_counts(last, true);
        assert!(!counts(first) && counts(last));
    }

    #[test]
    fn overlapping_addresses_share_a_stripe() {
        for offset in 0..16 {
            assert_eq!(Stripes::of(0x7000 + offset), Stripes::of(0x7000));
        }
        assert!((0..64).any(|i| Stripes::of(0x7000 + 16 * i) != Stripes::of(0x7000)));
    }
}
