//! Small numbers for threads. A lock word has room for such a number, so that a signal handler can tell whether the
//! code it interrupted has taken the lock or was only about to.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub const OWNER_BITS: u32 = 14;
const WORDS: usize = (1 << OWNER_BITS) / 64;

/// The numbers in use.
#[derive(Debug)]
pub struct Owners {
    words: [AtomicU64; WORDS],
}

impl Default for Owners {
    fn default() -> Self {
        Self::new()
    }
}

impl Owners {
    /// No numbers in use.
    #[must_use]
    pub const fn new() -> Self {
        let words = [const { AtomicU64::new(0) }; WORDS];
        Owners { words }
    }

    /// A number that no other thread has; 0 if there are more threads than numbers.
    pub fn draw(&self) -> u64 {
        // No thread gets the number 0, so it is never free.
        self.words[0].fetch_or(1, Relaxed);
        for (at, word) in (0u64..).zip(&self.words) {
            let mut used = word.load(Relaxed);
            while used != u64::MAX {
                let bit = u64::from(used.trailing_ones());
                match word.compare_exchange_weak(used, used | 1 << bit, Relaxed, Relaxed) {
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
        self.words[at].fetch_and(!(1 << (owner % 64)), Relaxed);
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
