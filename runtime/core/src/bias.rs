//! Lets one thread draw the tickets of some objects with plain instructions, as long as no other
//! thread wants to.
//!
//! A [`Bias`] names the thread that owns what it guards. Before the owner uses that, it says so in
//! its own [`Line`], and then looks whether it still is the owner. A thread that wants to use it
//! instead revokes the ownership first, makes a barrier in all threads (`membarrier`), and then
//! reads the owner's line: either the owner's look comes after the barrier and finds itself
//! revoked, or the line says that it is in use, and the thread waits until it is not. After some
//! changes of the owner, nobody owns it any more: it is shared for good, and users need
//! instructions that lock. It is shared at once where the kernel has no such barrier, or a filter
//! of the program forbids it.
//!
//! A signal handler may come at any instruction of its thread. What the interrupted code uses stays
//! in the line, and anything else that the handler uses is shared from then on. If the handler
//! wants the very same while another thread waits for the interrupted code, the handler takes the
//! revocation back, or both would wait for each other.
//!
//! Threads that end leave what they own to the next thread that gets their number. `tests/model`
//! tries every interleaving of this file.

use crate::patience::Patience;
use crate::primitive::atomic::{
    AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use crate::primitive::{heavy_fence, light_fence};

/// Bits of the number of a thread.
pub const OWNER_BITS: u32 = 14;
/// The number of the owner; 0 if there is none.
const OWNER: u64 = (1 << OWNER_BITS) - 1;
/// Another thread waits for the owner.
const REVOKED: u64 = 1 << 30;
/// There is no owner, and there will be none.
const SHARED: u64 = 1 << 31;
const STATE: u64 = (1 << 32) - 1;
/// From here on the word counts revocations, so that no thread takes one for another.
const ONE: u64 = 1 << 32;
/// A revocation takes microseconds, as long as so many uses that share. After fewer uses it did not
/// pay.
const PAYS: u64 = 1000;
/// After so many revocations that did not pay, it is shared.
const MOST: u64 = 3;
/// After so many revocations that did not pay, nothing gets another owner in the whole process.
pub(crate) const ALLOWED: u64 = 500;

/// The place of what a thread with a number uses just now; 0 for nothing. Only the thread itself
/// writes it.
#[derive(Debug)]
#[repr(align(64))]
pub struct Line(pub(crate) AtomicU64);

/// The calling thread.
#[derive(Debug, Clone, Copy)]
pub struct Me<'a> {
    /// Its number; 0 if it has none.
    pub number: u64,
    /// Its line, which means nothing without a number.
    pub line: &'a Line,
    /// The lines of all numbers.
    pub lines: &'a [Line],
    /// How many more revocations need not pay. Without one nobody becomes an owner.
    pub allowed: &'a AtomicU64,
}

/// How a place came into the line of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It is new there, and [`Me::leave`] takes it out.
    New = 1,
    /// The code that this handler interrupted has put it there.
    Within = 2,
    /// The thread has no line, or a handler interrupted the use of something else.
    None = 3,
    /// The code that this handler interrupted uses it, and so does the handler.
    Before = 4,
}

impl Me<'_> {
    #[cold]
    fn line_of(&self, number: u64) -> &AtomicU64 {
        let number = usize::try_from(number).unwrap_or(0);
        &self.lines[number % self.lines.len()].0
    }

    /// Says that the thread uses `place`, which is not 0.
    #[inline]
    pub fn enter(&self, place: u64) -> Entry {
        if self.number == 0 {
            Entry::None
        } else if self.enter_alone(place) {
            Entry::New
        } else if self.line.0.load(Relaxed) == place {
            Entry::Within
        } else {
            Entry::None
        }
    }

    /// Says that the thread, which has a number, uses `place` and nothing else. Returns whether
    /// that is so.
    #[inline(always)]
    pub fn enter_alone(&self, place: u64) -> bool {
        let line = &self.line.0;
        let alone = line.load(Relaxed) == 0;
        if alone {
            line.store(place, Release);
            light_fence();
        }
        alone
    }

    /// Takes the place that was entered out of the line.
    #[inline(always)]
    pub fn leave(&self) {
        self.line.0.store(0, Release);
    }

    /// What the thread uses.
    #[must_use]
    pub fn place(&self) -> Option<u64> {
        let place = if self.number == 0 { 0 } else { self.line.0.load(Relaxed) };
        (place != 0).then_some(place)
    }

    /// Forgets what the thread uses, because it does not go on with it.
    pub fn clear(&self) {
        if self.number != 0 {
            self.line.0.store(0, Release);
        }
    }
}

/// Who may use something with plain instructions.
#[derive(Debug, Default)]
pub struct Bias {
    pub(crate) word: AtomicU64,
    /// What was counted when the owner got it, and how many revocations did not pay. Only who
    /// changes the owner uses them.
    pub(crate) since: AtomicU64,
    pub(crate) unpaid: AtomicU64,
    /// How often a thread did not wait any longer for the owner, who may then use it at the same
    /// time.
    pub(crate) given_up: AtomicU64,
}

impl Bias {
    /// Decides whether the thread, which has entered `place`, is the owner until it leaves. If not,
    /// it shares the use with others. `uses` tells how often it was used so far.
    #[inline]
    pub fn is_own(&self, me: &Me, place: u64, entry: Entry, uses: impl Fn() -> u64) -> bool {
        let state = self.word.load(Acquire) & STATE;
        if state == me.number && entry != Entry::None {
            return true;
        }
        state != SHARED && self.get(me, place, entry, uses)
    }

    /// Whether the thread is the owner at this moment. It must have entered the place to stay it.
    #[inline(always)]
    pub fn names(&self, me: &Me) -> bool {
        self.word.load(Relaxed) & STATE == me.number
    }

    /// The owner, be it revoked or not; 0 if there is none.
    #[inline]
    pub(crate) fn owner(&self) -> u64 {
        self.word.load(Relaxed) & OWNER
    }

    /// Whether a thread waits for the owner.
    #[cfg(test)]
    pub(crate) fn is_revoked(&self) -> bool {
        self.word.load(Relaxed) & REVOKED != 0
    }

    /// Makes it shared.
    pub fn share(&self, me: &Me, place: u64) {
        while self.word.load(Acquire) & STATE != SHARED {
            self.get(me, place, Entry::None, || 0);
        }
    }

    /// Forgets the owner, in a process that has only the calling thread.
    pub(crate) fn free(&self) {
        self.word.store(0, Relaxed);
    }

    fn replace(&self, seen: u64, state: u64) -> bool {
        let new = seen & !STATE | state;
        let word = &self.word;
        word.compare_exchange(seen, new, AcqRel, Relaxed).is_ok()
    }

    #[cold]
    fn get(&self, me: &Me, place: u64, entry: Entry, uses: impl Fn() -> u64) -> bool {
        let mine = match entry {
            Entry::None => SHARED,
            _ => me.number,
        };
        loop {
            let seen = self.word.load(Acquire);
            match (seen & OWNER, seen & REVOKED != 0) {
                _ if seen & SHARED != 0 => return false,
                (0, _) => {
                    let allowed = me.allowed.load(Relaxed) > 0;
                    self.replace(seen, if allowed { mine } else { SHARED });
                }
                (owner, false) if owner == me.number => {
                    if entry != Entry::None {
                        return true;
                    }
                    self.replace(seen, SHARED);
                }
                (owner, true) if owner == me.number => {
                    // Whoever revoked it waits until the place is not in this thread's line.
                    let keeps = entry == Entry::Within || self.let_go(me, place, seen, entry);
                    if keeps {
                        self.replace(seen, owner);
                    }
                }
                (owner, revoked) => {
                    let mark = if revoked {
                        seen
                    } else if self.revoke(seen, owner) {
                        (seen | REVOKED).wrapping_add(ONE)
                    } else {
                        continue;
                    };
                    self.take_from(me, place, mark, mine, &uses);
                }
            }
        }
    }

    /// Waits, not using it, while another thread takes it from this one. Returns whether that does
    /// not end.
    fn let_go(&self, me: &Me, place: u64, seen: u64, entry: Entry) -> bool {
        if entry == Entry::New {
            me.leave();
        }
        let mut patience = Patience::new();
        let mut over = false;
        while !over && self.word.load(Relaxed) == seen {
            over = patience.is_over(seen);
        }
        if entry == Entry::New {
            me.enter(place);
        }
        over
    }

    fn revoke(&self, seen: u64, owner: u64) -> bool {
        let mark = seen.wrapping_add(ONE) & !STATE | owner | REVOKED;
        let word = &self.word;
        word.compare_exchange(seen, mark, AcqRel, Relaxed).is_ok()
    }

    /// Waits until the owner, from whom it was revoked with `mark`, does not use it, and gives it
    /// to `mine`.
    fn take_from(&self, me: &Me, place: u64, mark: u64, mine: u64, uses: &impl Fn() -> u64) {
        let line = me.line_of(mark & OWNER);
        let mut patience = Patience::new();
        let mut safe = heavy_fence();
        while safe && line.load(Acquire) == place {
            if self.word.load(Relaxed) != mark {
                return;
            }
            safe = !patience.is_over(mark);
        }
        let (now, since) = (uses(), self.since.load(Relaxed));
        let pays = now.wrapping_sub(since) >= PAYS;
        let unpaid = self.unpaid.load(Relaxed) + u64::from(!pays);
        let again = safe && unpaid < MOST && me.allowed.load(Relaxed) > 0;
        if !self.replace(mark, if again { mine } else { SHARED }) {
            return;
        }
        self.since.store(now, Relaxed);
        self.unpaid.store(unpaid, Relaxed);
        if !pays {
            let less = |allowed: u64| allowed.checked_sub(1);
            let _ = me.allowed.fetch_update(Relaxed, Relaxed, less);
        }
        if !safe {
            self.given_up.fetch_add(1, Relaxed);
        }
    }
}
