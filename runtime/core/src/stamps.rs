//! When the time was noted last, and which operations leave their time open.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Stands for the time of an operation that did not wait and did not read the clock.
pub(crate) const OPEN: u64 = u64::MAX;

/// At most so many operations in a row have an open time.
const MOST_OPEN: u32 = 15;
/// Operations so many ticks apart in the mean are dense: to read the clock would take a good part
/// of their time.
const DENSE: u64 = 1500;
/// More bytes than this between two times are work whose time is worth reading.
const MUCH: usize = 512;

/// The last time that a thread noted.
#[derive(Debug, Default)]
pub struct Stamps {
    /// Value of the counter when the last time was noted.
    last: AtomicU64,
    /// The cursor when the last time of an operation was noted.
    mark: AtomicPtr<u8>,
    /// So many operations after the last time may leave their time open, and so many more still
    /// may.
    allowed: AtomicU32,
    open: AtomicU32,
}

impl Stamps {
    /// Notes that a time was taken. Returns the ticks since the one before. The next operation must
    /// read its time.
    #[inline]
    pub(crate) fn note(&self, now: u64) -> u64 {
        let interval = self.interval(now);
        self.last.store(now, Relaxed);
        self.close();
        interval
    }

    /// Makes the next operation read its time.
    #[inline]
    pub(crate) fn close(&self) {
        self.allowed.store(0, Relaxed);
        self.open.store(0, Relaxed);
    }

    /// Whether the operation at `cursor` that does not wait leaves its time open.
    #[inline(always)]
    pub(crate) fn leaves_open(&self, cursor: *mut u8) -> bool {
        let open = self.open.load(Relaxed);
        if open == 0 || cursor.addr().wrapping_sub(self.mark.load(Relaxed).addr()) > MUCH {
            return false;
        }
        self.open.store(open - 1, Relaxed);
        true
    }

    /// Notes the time of the operation at `cursor`, which did not wait. After dense operations some
    /// may leave their time open, more each time.
    #[inline]
    pub(crate) fn note_dense(&self, now: u64, cursor: *mut u8) -> u64 {
        let interval = self.interval(now);
        self.last.store(now, Relaxed);
        let allowed = self.allowed.load(Relaxed);
        // A signal handler may have changed one of the two.
        let operations = allowed.saturating_sub(self.open.load(Relaxed)) + 1;
        let next = if interval < DENSE * u64::from(operations) {
            (2 * allowed + 1).min(MOST_OPEN)
        } else {
            0
        };
        self.mark.store(cursor, Relaxed);
        self.allowed.store(next, Relaxed);
        self.open.store(next, Relaxed);
        interval
    }

    /// Ticks from the last noted time to `now`, a value of the counter.
    #[inline]
    pub(crate) fn interval(&self, now: u64) -> u64 {
        now.saturating_sub(self.last.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_follow_each_other_closely_leave_their_time_open() {
        let stamps = Stamps::default();
        let mut buffer = [0u8; 2 * MUCH];
        let from = buffer.as_mut_ptr();
        let at = |n: usize| from.wrapping_add(n);
        let open = |n: usize| (0..20).take_while(|_| stamps.leaves_open(at(n))).count();
        stamps.note(10_000);
        assert_eq!(open(0), 0, "nothing is known of the next one");
        stamps.note_dense(10_000 + DENSE, at(0));
        assert_eq!(open(0), 0, "it was not soon");
        let mut now = 20_000;
        stamps.note(now);
        for expected in [1, 3, 7, 15, 15] {
            now += DENSE - 1;
            stamps.note_dense(now, at(0));
            assert_eq!(open(MUCH + 1), 0, "there was work in between");
            assert_eq!(open(MUCH), expected);
        }
        now += 16 * DENSE;
        stamps.note_dense(now, at(0));
        assert_eq!(open(0), 0, "sixteen of them were not soon");
    }
}
