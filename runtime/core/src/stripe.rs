//! The order of the atomic operations of some addresses. A ticket and the operation it is for must not be separable, so
//! both happen under a lock.
//!
//! The lock is the counter. One word holds the number of writes (the ticket), whether a thread operates just now, and
//! which thread. So taking the lock costs one locked instruction, giving it back costs none, and a signal handler knows
//! at any instruction whether its own thread holds it. The lock is held over a few instructions. If its holder never
//! comes back (a jump out of a signal handler in just that moment, a cancelled thread), a thread that waits takes the
//! lock over after [`PATIENCE`], so that the runtime never makes a program hang.
//!
//! A load changes nothing, so it takes no lock: its place is known if the word is the same before and after it, and no
//! thread operates. Threads that spin on a variable therefore never keep the one they wait for from it.
//!
//! `tests/model` tries every interleaving of this file.

use std::time::Duration;

use contech_guest::kernel::Instant;

use crate::owners::OWNER_BITS;
use crate::primitive::atomic::{
    AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};
use crate::primitive::{add_here, spin_loop, yield_now};

/// A thread operates.
pub(crate) const LOCKED: u64 = 1;
/// Tickets of writes count in steps of this.
pub(crate) const STEP: u64 = 2;
/// The lowest bit of the number of the thread that took the lock last, see [`crate::owners`].
const OWNER: u64 = 1 << (COUNT.trailing_zeros() - OWNER_BITS);
/// The lowest bit of the number of times the lock was taken, which tells one holder from the next.
const COUNT: u64 = 1 << 60;
pub(crate) const TICKET: u64 = (OWNER - 1) & !LOCKED;

/// The word after `owner` has taken the lock.
fn taken_by(owner: u64, seen: u64) -> u64 {
    let count = (seen & !(COUNT - 1)).wrapping_add(COUNT);
    count | (owner * OWNER) | (seen & TICKET) | LOCKED
}

/// How long a holder may take. It is a few instructions away from giving the stripe back, but may have
/// been preempted.
pub const PATIENCE: Duration = Duration::from_secs(1);
/// The most that counts of the time between two looks at a holder. The rest is no patience: the whole process may have
/// been stopped meanwhile, holder and all.
const LOOK: Duration = Duration::from_millis(10);
/// Tries before a thread that waits lets others run.
const ROUNDS: u32 = 64;

/// The counter and lock of the addresses of one hash.
#[repr(align(64))]
#[derive(Debug)]
pub struct Stripe {
    pub(crate) word: AtomicU64,
    /// How often the lock was taken over. That many operations may stand in a wrong order.
    pub(crate) taken_over: AtomicU64,
    /// Addresses of counters of threads (`ATOMIC_COUNTS`), 0 where there is none.
    pub(crate) counters: [AtomicUsize; COUNTERS],
}

/// Scopes that are open at one time and whose counters have one stripe. Another one's end is no join.
pub(crate) const COUNTERS: usize = 3;

impl Stripe {
    /// Whether the variable, whose stripe this is, counts threads.
    #[inline]
    pub fn counts(&self, address: usize) -> bool {
        self.counters.iter().any(|c| c.load(Relaxed) == address)
    }

    /// Notes that the variable counts threads from now on, or no more.
    #[cold]
    pub fn set_counts(&self, address: usize, counts: bool) {
        let (old, new) = if counts { (0, address) } else { (address, 0) };
        if self.counts(address) != counts {
            let mut counters = self.counters.iter();
            counters.find(|c| c.compare_exchange(old, new, Relaxed, Relaxed).is_ok());
        }
    }

    /// Takes the stripe for a thread if no thread has it.
    #[inline]
    pub fn try_take(&self, owner: u64) -> bool {
        let seen = self.word.load(Relaxed);
        let mine = taken_by(owner, seen);
        seen & LOCKED == 0 && self.replace(seen, mine)
    }

    /// Takes the lock if the word is still the one that was seen. Whoever sees what the thread does afterwards sees that
    /// it has the lock.
    #[inline]
    fn replace(&self, seen: u64, mine: u64) -> bool {
        let word = &self.word;
        let replaced = word.compare_exchange(seen, mine, Acquire, Relaxed).is_ok();
        fence(Release);
        replaced
    }

    /// Whether this thread has the stripe. A thread without a number never does.
    #[inline]
    pub fn is_held_by(&self, owner: u64) -> bool {
        owner != 0 && self.names(owner)
    }

    /// Whether a thread has the stripe whose number, which may be 0, is this one.
    #[inline]
    fn names(&self, owner: u64) -> bool {
        let seen = self.word.load(Relaxed);
        seen & LOCKED != 0 && seen & (COUNT - OWNER) == owner * OWNER
    }

    /// Takes the stripe for a thread.
    #[inline]
    pub fn take(&self, owner: u64) {
        if !self.try_take(owner) {
            self.wait(owner);
        }
    }

    /// Reads with `read` while no other thread operates, and returns the ticket of that load and what was read. Reads
    /// again while there are writes. If they do not end soon, takes the stripe; `held` is told of that before, and
    /// after it is given back.
    #[inline]
    pub fn look<T>(&self, owner: u64, read: impl Fn() -> T, held: impl Fn(bool)) -> (u64, T) {
        for _ in 0..ROUNDS {
            let before = self.word.load(Acquire);
            // What this very thread holds was interrupted by this load, and will not change meanwhile.
            if before & LOCKED == 0 || self.is_held_by(owner) {
                let found = read();
                fence(Acquire);
                if self.word.load(Relaxed) == before {
                    return ((before & TICKET) + 1, found);
                }
            }
            spin_loop();
        }
        held(true);
        self.take(owner);
        let found = read();
        let ticket = self.draw(false);
        self.give(owner);
        held(false);
        (ticket, found)
    }

    #[cold]
    fn wait(&self, owner: u64) {
        let (mut holder, mut waited, mut looked) = (0, Duration::ZERO, Instant::now());
        for round in 0u32.. {
            if self.try_take(owner) {
                return;
            }
            if round < ROUNDS {
                spin_loop();
                continue;
            }
            let seen = self.word.load(Relaxed);
            let since = looked.elapsed().min(LOOK);
            waited = if seen == holder {
                waited + since
            } else {
                Duration::ZERO
            };
            (holder, looked) = (seen, Instant::now());
            if waited >= PATIENCE && self.take_over(owner, seen) {
                return;
            }
            yield_now();
        }
    }

    /// Takes the stripe from a thread that does not come back, if the word is still the one that was seen.
    pub(crate) fn take_over(&self, owner: u64, seen: u64) -> bool {
        let taken = seen & LOCKED != 0 && self.replace(seen, taken_by(owner, seen));
        if taken {
            self.taken_over.fetch_add(1, Relaxed);
        }
        taken
    }

    /// Draws the ticket of the operation that was made while the stripe is held, a write or not. If a handler of this
    /// thread draws one meanwhile, another must be drawn ([`crate::Recorder::ticket`]).
    #[inline]
    pub fn draw(&self, writes: bool) -> u64 {
        if writes {
            add_here(&self.word, STEP);
        }
        (self.word.load(Relaxed) & TICKET) + u64::from(!writes)
    }

    /// Gives back the stripe that the thread took. What handlers of this thread drew stays drawn.
    #[inline]
    pub fn give(&self, owner: u64) {
        // It may have been taken over. Then it is not this thread's to give.
        if self.names(owner) {
            add_here(&self.word, LOCKED.wrapping_neg());
        }
    }
}
