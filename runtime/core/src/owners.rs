//! Small numbers for threads. A lock word has room for such a number, so that a signal handler can
//! tell whether the code it interrupted has taken the lock or was only about to. What a thread owns
//! ([`crate::bias`]) is its number's: the next thread that gets the number owns it.

use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

use crate::bias::{ALLOWED, Line, Me, OWNER_BITS};

const WORDS: usize = (1 << OWNER_BITS) / 64;

/// The numbers in use, and what their threads use just now.
#[derive(Debug)]
pub struct Owners {
    words: [AtomicU64; WORDS],
    lines: [Line; 1 << OWNER_BITS],
    allowed: AtomicU64,
}

impl Owners {
    /// No numbers in use.
    #[must_use]
    #[allow(unsafe_code, reason = "zero is a value")]
    pub const fn new() -> Self {
        // SAFETY: it is made of atomics, which may be zero.
        unsafe { std::mem::zeroed() }
    }

    /// Notes whether threads can be owners, because the barrier in all threads works.
    pub fn set_fenced(&self, fenced: bool) {
        self.allowed.store(if fenced { ALLOWED } else { 0 }, Relaxed);
    }

    /// The thread with this number.
    #[inline(always)]
    pub fn thread(&self, number: u64) -> Me<'_> {
        #[allow(clippy::cast_possible_truncation, reason = "a small number")]
        let line = &self.lines[number as usize % (1 << OWNER_BITS)];
        Me { number, line, lines: &self.lines, allowed: &self.allowed }
    }

    /// A number that no other thread has; 0 if there are more threads than numbers.
    pub fn draw(&self) -> u64 {
        // No thread gets the number 0, so it is never free.
        self.words[0].fetch_or(1, Relaxed);
        for (at, word) in (0u64..).zip(&self.words) {
            let mut used = word.load(Relaxed);
            while used != u64::MAX {
                let bit = u64::from(used.trailing_ones());
                match word.compare_exchange_weak(used, used | 1 << bit, Acquire, Relaxed) {
                    Ok(_) => return at * 64 + bit,
                    Err(now) => used = now,
                }
            }
        }
        0
    }

    /// Makes this number free again.
    pub fn put_back(&self, owner: u64) {
        if owner == 0 {
            return;
        }
        let at = usize::try_from(owner / 64).unwrap_or(0) % WORDS;
        self.words[at].fetch_and(!(1 << (owner % 64)), Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_drawn_once_until_they_are_put_back() {
        let owners = Owners::new();
        let most = (1 << OWNER_BITS) - 1;
        let mut drawn: Vec<u64> = (0..most).map(|_| owners.draw()).collect();
        assert_eq!(owners.draw(), 0, "there are no more");
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!((drawn.len(), drawn[0]), (most, 1));
        owners.put_back(77);
        owners.put_back(0);
        assert_eq!((owners.draw(), owners.draw()), (77, 0));
    }
}
