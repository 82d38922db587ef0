//! The order of the atomic operations of some addresses. A ticket and the operation it is for must
//! not be separable, so both happen under a lock.
//!
//! The lock is the counter. One word holds the number of writes (the ticket), whether a thread
//! operates just now, and which thread. So taking the lock costs one locked instruction, giving it
//! back costs none, and a signal handler knows at any instruction whether its own thread holds it.
//! While one thread alone writes to the addresses, it owns the lock ([`crate::bias`]), and taking
//! it costs no locked instruction either. The lock is held over a few instructions. If its holder
//! never comes back (a jump out of a signal handler in just that moment, a cancelled thread), a
//! thread that waits takes the lock over after a second, so that the runtime never makes a program
//! hang.
//!
//! A load changes nothing, so it takes no lock, and leaves it to its owner: the load's place is
//! known if the word is the same before and after it, and no thread operates. Threads that spin on
//! a variable therefore never keep the one they wait for from it.
//!
//! `tests/model` tries every interleaving of this file.

use crate::bias::{Bias, Entry, Me, OWNER_BITS};
use crate::patience::Patience;
use crate::primitive::atomic::{
    AtomicU64, AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release, fence,
};
use crate::primitive::{ROUNDS, add_here, spin_loop};

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

/// The counter and lock of the addresses of one hash.
#[repr(align(64))]
#[derive(Debug, Default)]
pub struct Stripe {
    pub(crate) word: AtomicU64,
    pub(crate) bias: Bias,
    /// How often the lock was taken over. That many operations may stand in a wrong order.
    pub(crate) taken_over: AtomicU64,
    /// Addresses of counters of threads (`ATOMIC_COUNTS`), 0 where there is none.
    pub(crate) counters: [AtomicUsize; COUNTERS],
}

/// Scopes that are open at one time and whose counters have one stripe. Another one's end is no
/// join.
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

    /// Takes the lock for a thread if no thread has it. Nobody owns it.
    #[inline]
    pub(crate) fn try_take(&self, number: u64) -> bool {
        let seen = self.word.load(Relaxed);
        let mine = taken_by(number, seen);
        seen & LOCKED == 0 && self.replace(seen, mine)
    }

    /// Takes the lock if the word is still the one that was seen. Whoever sees what the thread does
    /// afterwards sees that it has the lock.
    #[inline]
    fn replace(&self, seen: u64, mine: u64) -> bool {
        let word = &self.word;
        let replaced = word.compare_exchange(seen, mine, Acquire, Relaxed).is_ok();
        fence(Release);
        replaced
    }

    /// Whether this thread has the stripe. A thread without a number never does.
    #[inline]
    pub fn is_held_by(&self, number: u64) -> bool {
        number != 0 && self.names(number)
    }

    /// Whether a thread has the stripe whose number, which may be 0, is this one.
    #[inline(always)]
    fn names(&self, number: u64) -> bool {
        // Another owner's lock must not be taken for this thread's, so the owner is read after it.
        let seen = self.word.load(Acquire);
        let holder = match self.bias.owner() {
            0 => (seen & (COUNT - OWNER)) / OWNER,
            owner => owner,
        };
        seen & LOCKED != 0 && holder == number
    }

    /// Takes the stripe for its owner, unless this is a signal handler that interrupted an
    /// operation. Returns whether the thread, which has a number, has it now, by [`Entry::New`].
    #[inline(always)]
    pub fn take_own(&self, me: &Me, place: u64) -> bool {
        if !self.bias.names(me) || !me.enter_alone(place) {
            return false;
        }
        // Another thread may have taken it away before the place was entered.
        if !self.bias.names(me) {
            me.leave();
            return false;
        }
        add_here(&self.word, LOCKED);
        fence(Release);
        true
    }

    /// Takes the stripe, whose place in lines is `place`, for a thread that does not hold it
    /// [before](Entry::Before).
    #[inline]
    pub fn take(&self, me: &Me, place: u64) -> Entry {
        let entry = me.enter(place);
        if entry != Entry::New && self.is_held_by(me.number) {
            return Entry::Before;
        }
        let uses = || (self.word.load(Relaxed) & TICKET) / STEP;
        if self.bias.is_own(me, place, entry, uses) {
            add_here(&self.word, LOCKED);
            fence(Release);
        } else if !self.try_take(me.number) {
            self.wait(me.number);
        }
        entry
    }

    /// Reads with `read` while no other thread operates, and returns the ticket of that load and
    /// what was read. Reads again while there are writes. If they do not end soon, takes the
    /// stripe.
    #[inline]
    pub fn look<T>(&self, me: &Me, place: u64, read: impl Fn() -> T) -> (u64, T) {
        for _ in 0..ROUNDS {
            let before = self.word.load(Acquire);
            // What this very thread holds was interrupted by this load, and will not change
            // meanwhile.
            if before & LOCKED == 0 || self.is_held_by(me.number) {
                let found = read();
                fence(Acquire);
                if self.word.load(Relaxed) == before {
                    return ((before & TICKET) + 1, found);
                }
            }
            spin_loop();
        }
        let taken = self.take(me, place);
        let found = read();
        let ticket = self.draw(false);
        self.give(me, taken);
        (ticket, found)
    }

    #[cold]
    fn wait(&self, number: u64) {
        let mut patience = Patience::new();
        while !self.try_take(number) {
            let seen = self.word.load(Relaxed);
            if patience.is_over(seen) && self.take_over(number, seen) {
                return;
            }
        }
    }

    /// Takes the stripe from a thread that does not come back, if the word is still the one that
    /// was seen.
    pub(crate) fn take_over(&self, number: u64, seen: u64) -> bool {
        let taken = seen & LOCKED != 0 && self.replace(seen, taken_by(number, seen));
        if taken {
            self.taken_over.fetch_add(1, Relaxed);
        }
        taken
    }

    /// Draws the ticket of the operation that was made while the stripe is held, a write or not. If
    /// a handler of this thread draws one meanwhile, another must be drawn
    /// ([`crate::Recorder::ticket`]).
    #[inline(always)]
    pub fn draw(&self, writes: bool) -> u64 {
        if writes {
            add_here(&self.word, STEP);
        }
        (self.word.load(Relaxed) & TICKET) + u64::from(!writes)
    }

    /// Gives back the stripe that the thread took. What handlers of this thread drew stays drawn.
    #[inline(always)]
    pub fn give(&self, me: &Me, taken: Entry) {
        if taken == Entry::Before {
            return;
        }
        self.give_lock(me.number);
        if taken == Entry::New {
            me.leave();
        }
    }

    /// Gives back the lock. It may have been taken over: then it is not this thread's to give.
    #[inline(always)]
    pub fn give_lock(&self, number: u64) {
        if self.names(number) {
            add_here(&self.word, LOCKED.wrapping_neg());
        }
    }
}
