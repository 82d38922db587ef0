//! The order of atomic operations. A ticket and the operation it is for must not be separable, so both happen under a
//! lock that addresses of equal hash share.
//!
//! The lock is the counter. One word holds the number of writes (the ticket), whether a thread operates just now, and
//! which thread. So taking the lock costs one locked instruction, giving it back costs none, and a signal handler knows
//! at any instruction whether its own thread holds it. The lock is held over a few instructions. If its holder never
//! comes back (a jump out of a signal handler in just that moment, a cancelled thread), a thread that waits takes the
//! lock over after [`PATIENCE`], so that the runtime never makes a program hang.
//!
//! A load changes nothing, so it takes no lock: its place is known if the word is the same before and after it, and no
//! thread operates. Threads that spin on a variable therefore never keep the one they wait for from it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, fence};
use std::time::{Duration, Instant};

use contech_guest::arch;

use crate::owners::OWNER_BITS;

const STRIPES: usize = 4096;
/// A thread operates.
const LOCKED: u64 = 1;
/// Tickets of writes count in steps of this.
const STEP: u64 = 2;
/// The lowest bit of the number of the thread that took the lock last, see [`crate::owners`].
const OWNER: u64 = 1 << (COUNT.trailing_zeros() - OWNER_BITS);
/// The lowest bit of the number of times the lock was taken, which tells one holder from the next.
const COUNT: u64 = 1 << 60;
const TICKET: u64 = (OWNER - 1) & !LOCKED;

/// The word after `owner` has taken the lock.
fn taken_by(owner: u64, seen: u64) -> u64 {
    let count = (seen & !(COUNT - 1)).wrapping_add(COUNT);
    count | (owner * OWNER) | (seen & TICKET) | LOCKED
}

/// How long a holder may take. It is a few instructions away from giving the stripe back, but may have
/// been preempted.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// Tries before a thread that waits lets others run.
const ROUNDS: u32 = 64;

#[repr(align(64))]
#[derive(Debug)]
struct Stripe {
    word: AtomicU64,
    /// Addresses of counters of threads (`ATOMIC_COUNTS`), 0 where there is none.
    counters: [AtomicUsize; COUNTERS],
}

/// Scopes that are open at one time and whose counters have one stripe. Another one's end is no join.
const COUNTERS: usize = 3;

#[derive(Debug)]
pub struct Stripes {
    words: [Stripe; STRIPES],
    taken_over: AtomicU64,
}

impl Default for Stripes {
    fn default() -> Self {
        Self::new()
    }
}

impl Stripes {
    /// No thread operates, and no tickets were drawn.
    #[must_use]
    pub const fn new() -> Self {
        Stripes {
            words: [const {
                Stripe {
                    word: AtomicU64::new(0),
                    counters: [const { AtomicUsize::new(0) }; COUNTERS],
                }
            }; STRIPES],
            taken_over: AtomicU64::new(0),
        }
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

    #[inline]
    fn word(&self, stripe: usize) -> &AtomicU64 {
        &self.words[stripe % STRIPES].word
    }

    /// Whether the variable, whose stripe this is, counts threads.
    #[inline]
    pub fn counts(&self, stripe: usize, address: usize) -> bool {
        let counters = &self.words[stripe % STRIPES].counters;
        counters.iter().any(|c| c.load(Relaxed) == address)
    }

    /// Notes that the variable counts threads from now on, or no more.
    #[cold]
    pub fn set_counts(&self, address: usize, counts: bool) {
        let (old, new) = if counts { (0, address) } else { (address, 0) };
        let stripe = Self::of(address);
        if self.counts(stripe, address) != counts {
            let mut counters = self.words[stripe].counters.iter();
            counters.find(|c| c.compare_exchange(old, new, Relaxed, Relaxed).is_ok());
        }
    }

    /// Takes the stripe for a thread if no thread has it.
    #[inline]
    pub fn try_take(&self, stripe: usize, owner: u64) -> bool {
        let word = self.word(stripe);
        let seen = word.load(Relaxed);
        let mine = taken_by(owner, seen);
        seen & LOCKED == 0 && word.compare_exchange(seen, mine, Acquire, Relaxed).is_ok()
    }

    /// Whether this thread has the stripe. A thread without a number never does.
    #[inline]
    pub fn is_held_by(&self, stripe: usize, owner: u64) -> bool {
        let seen = self.word(stripe).load(Relaxed);
        owner != 0 && seen & LOCKED != 0 && seen & (COUNT - OWNER) == owner * OWNER
    }

    /// Takes the stripe for a thread.
    #[inline]
    pub fn take(&self, stripe: usize, owner: u64) {
        if !self.try_take(stripe, owner) {
            self.wait(stripe, owner);
        }
    }

    /// Reads with `read` while no other thread operates, and returns the ticket of that load and what was read. Reads
    /// again while there are writes. If they do not end soon, takes the stripe; `held` is told of that before, and
    /// after it is given back.
    #[inline]
    pub fn look<T>(
        &self,
        stripe: usize,
        owner: u64,
        read: impl Fn() -> T,
        held: impl Fn(bool),
    ) -> (u64, T) {
        let word = self.word(stripe);
        for _ in 0..ROUNDS {
            let before = word.load(Acquire);
            // What this very thread holds was interrupted by this load, and will not change meanwhile.
            if before & LOCKED == 0 || self.is_held_by(stripe, owner) {
                let found = read();
                fence(Acquire);
                if word.load(Relaxed) == before {
                    return ((before & TICKET) + 1, found);
                }
            }
            std::hint::spin_loop();
        }
        held(true);
        self.take(stripe, owner);
        let found = read();
        let ticket = self.draw(stripe, false);
        self.give(stripe);
        held(false);
        (ticket, found)
    }

    #[cold]
    fn wait(&self, stripe: usize, owner: u64) {
        let word = self.word(stripe);
        let (mut holder, mut since) = (0, None);
        for round in 0u32.. {
            if self.try_take(stripe, owner) {
                return;
            }
            if round < ROUNDS {
                std::hint::spin_loop();
                continue;
            }
            let seen = word.load(Relaxed);
            let waited = match since {
                Some(since) if seen == holder => Instant::duration_since(&Instant::now(), since),
                _ => {
                    (holder, since) = (seen, Some(Instant::now()));
                    Duration::ZERO
                }
            };
            let mine = taken_by(owner, seen);
            if waited >= PATIENCE
                && seen & LOCKED != 0
                && word.compare_exchange(seen, mine, Acquire, Relaxed).is_ok()
            {
                self.taken_over.fetch_add(1, Relaxed);
                return;
            }
            std::thread::yield_now();
        }
    }

    /// Draws the ticket of the operation that was made while the stripe is held, a write or not. If a handler of this
    /// thread draws one meanwhile, another must be drawn ([`crate::Recorder::ticket`]).
    #[inline]
    pub fn draw(&self, stripe: usize, writes: bool) -> u64 {
        let word = self.word(stripe);
        if writes {
            arch::add_here(word, STEP);
        }
        (word.load(Relaxed) & TICKET) + u64::from(!writes)
    }

    /// Gives the stripe back. What handlers of this thread drew stays drawn.
    #[inline]
    pub fn give(&self, stripe: usize) {
        let word = self.word(stripe);
        // It may have been taken over, and given back since.
        if word.load(Relaxed) & LOCKED != 0 {
            arch::add_here(word, LOCKED.wrapping_neg());
        }
    }

    /// How often a stripe was taken over. That many operations may stand in a wrong order.
    pub fn taken_over(&self) -> u64 {
        self.taken_over.load(Relaxed)
    }

    /// Frees all stripes in a forked child, where their holders do not exist.
    pub fn free_all(&self) {
        for stripe in &self.words {
            stripe.word.fetch_and(!LOCKED, Relaxed);
            // No thread of a scope exists here, either.
            stripe.counters.iter().for_each(|c| c.store(0, Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64 as Variable;

    static STRIPES_UNDER_TEST: Stripes = Stripes::new();

    #[test]
    fn tickets_of_writes_are_the_order_of_their_values() {
        static VARIABLE: Variable = Variable::new(0);
        let stripe = Stripes::of((&raw const VARIABLE).addr());
        let first = STRIPES_UNDER_TEST.word(stripe).load(Relaxed) & TICKET;
        let work = move |owner: u64| {
            let pairs = (0..2000).map(|_| {
                STRIPES_UNDER_TEST.take(stripe, owner);
                let value = VARIABLE.fetch_add(1, Relaxed);
                let ticket = STRIPES_UNDER_TEST.draw(stripe, true);
                STRIPES_UNDER_TEST.give(stripe);
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
            stripes.take(5, 1);
            let ticket = stripes.draw(5, writes);
            stripes.give(5);
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
                STRIPES.take(7, owner);
                VARIABLE.fetch_add(1, Relaxed);
                STRIPES.draw(7, true);
                STRIPES.give(7);
            }
        };
        let look = |owner: u64| {
            for _ in 0..20_000 {
                let (ticket, value) = STRIPES.look(7, owner, || VARIABLE.load(Relaxed), |_| ());
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
        stripes.take(5, 1);
        assert_eq!(stripes.draw(5, true), 2);
        assert_eq!(stripes.look(5, 1, || 8, |_| panic!("it is held")), (3, 8));
        let told = std::cell::Cell::new(0);
        let held = |begins: bool| told.set(told.get() * 2 + 1 + u32::from(begins));
        assert_eq!(stripes.look(5, 2, || 9, held), (3, 9));
        assert_eq!((stripes.taken_over(), told.get()), (1, 2 * 2 + 1));
    }

    #[test]
    fn a_handler_draws_within_the_operation_it_interrupted() {
        let stripes = Stripes::new();
        stripes.take(5, 1);
        assert!(!stripes.try_take(5, 2));
        // A handler that comes before the ticket of a load is drawn, and one that comes after it.
        assert_eq!(stripes.draw(5, true), 2);
        assert_eq!(stripes.draw(5, false), 3);
        assert_eq!(stripes.draw(5, true), 4);
        stripes.give(5);
        assert!(stripes.try_take(5, 2));
        assert_eq!(stripes.draw(5, false), 5, "no write was forgotten");
    }

    #[test]
    fn a_thread_knows_whether_it_holds_a_stripe_whatever_the_ticket() {
        let stripes = Stripes::new();
        for round in 0..1000 {
            let owner = 1 + round % 7 * 2340;
            assert!(!stripes.is_held_by(5, owner), "given back, or never taken");
            stripes.take(5, owner);
            assert!(stripes.is_held_by(5, owner) && !stripes.is_held_by(5, owner + 1));
            assert_eq!(stripes.draw(5, true), 2 * (round + 1));
            stripes.give(5);
        }
        stripes.take(5, 0);
        assert!(!stripes.is_held_by(5, 0), "0 is nobody's number");
    }

    #[test]
    fn a_stripe_whose_holder_is_gone_is_taken_over() {
        let stripes = Stripes::new();
        stripes.take(5, 1);
        stripes.take(5, 2);
        assert_eq!(stripes.taken_over(), 1);
        assert!(stripes.is_held_by(5, 2) && !stripes.is_held_by(5, 1));
        stripes.give(5);
        assert!(stripes.try_take(5, 2));
    }

    #[test]
    fn counters_of_threads_are_known_by_address_until_they_are_0() {
        let stripes = Stripes::new();
        let same = |i: &usize| Stripes::of(*i) == Stripes::of(16);
        let addresses: Vec<_> = (16..).step_by(16).filter(same).take(COUNTERS + 1).collect();
        let (last, first) = (addresses[COUNTERS], addresses[0]);
        for address in &addresses {
            stripes.set_counts(*address, true);
            stripes.set_counts(*address, true);
        }
        let counts = |address| stripes.counts(Stripes::of(16), address);
        assert!(counts(first) && !counts(last) && !counts(first + 8));
        stripes.set_counts(first, false);
        stripes.set_counts(last, true);
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
