//! Times within tasks (`CONTECH_TIMES=1`): now and then, where instrumented code checks its buffer's room, the time is
//! noted. There is no extra check: only the limit is lower than the buffer's, and `__contech_flush` writes an event if
//! the buffer itself is not full. The runtime's `flush` module has that path in assembly, because a thread's registers
//! are saved only where a buffer is handed over.
//!
//! The time is noted at the next check if the last time was long ago ([`APART`]), because then the program records
//! little and every function counts. Otherwise it is noted after [`EVERY`] bytes, so that it does not slow down a
//! program that records much.
//!
//! The time that changing buffers takes is not counted as the program's. A buffer is brought into the caches then, too
//! (`crate::buffer::Buffer::touch`), because page faults and lines in the caches of the writer's processor can make a
//! program that records much twice as slow, and its times would include that.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Bytes between times that follow each other closely.
pub const EVERY: usize = 2048;
/// An interval of this many ticks is long: about half a microsecond.
pub const APART: u64 = 1500;

/// Stands for the time of an operation that did not wait and did not read the clock.
pub const OPEN: u64 = u64::MAX;

/// At most so many operations in a row have an open time.
const MOST_OPEN: u32 = 15;
/// Operations so many ticks apart in the mean are dense: to read the clock would take a good part of their time.
const DENSE: u64 = 1500;
/// More bytes than this between two times are work whose time is worth reading.
const MUCH: usize = 512;

/// What noting a time needs, in a thread's block; all zero if no times are noted.
#[repr(C)]
#[derive(Debug)]
pub struct Stamps {
    /// The buffer in which times are noted: its first byte and its limit.
    from: AtomicPtr<u8>,
    to: AtomicPtr<u8>,
    /// Value of the counter when the last time was noted.
    last: AtomicU64,
    /// Value of the counter at the start of the trace.
    epoch: AtomicU64,
    /// Ticks that noting a time takes.
    taken: AtomicU64,
    /// The cursor when the last time of an operation was noted.
    mark: AtomicPtr<u8>,
    /// So many operations after the last time may leave their time open, and so many more still may.
    allowed: AtomicU32,
    open: AtomicU32,
}

/// Offsets in [`Stamps`].
pub mod offset {
    use super::Stamps;

    pub const FROM: usize = std::mem::offset_of!(Stamps, from);
    pub const TO: usize = std::mem::offset_of!(Stamps, to);
    pub const LAST: usize = std::mem::offset_of!(Stamps, last);
    pub const EPOCH: usize = std::mem::offset_of!(Stamps, epoch);
    pub const TAKEN: usize = std::mem::offset_of!(Stamps, taken);
}

impl Stamps {
    pub(crate) const fn new() -> Self {
        Stamps {
            from: AtomicPtr::new(std::ptr::null_mut()),
            to: AtomicPtr::new(std::ptr::null_mut()),
            last: AtomicU64::new(0),
            epoch: AtomicU64::new(0),
            taken: AtomicU64::new(0),
            mark: AtomicPtr::new(std::ptr::null_mut()),
            allowed: AtomicU32::new(0),
            open: AtomicU32::new(0),
        }
    }

    /// Notes times in this buffer from now on. Returns the limit to begin with.
    pub(crate) fn begin(
        &self,
        (from, to): (*mut u8, *mut u8),
        cursor: *mut u8,
        clock: (u64, u64),
    ) -> *mut u8 {
        self.from.store(from, Relaxed);
        self.to.store(to, Relaxed);
        self.epoch.store(clock.0, Relaxed);
        self.taken.store(clock.1, Relaxed);
        self.last.store(contech_guest::arch::ticks(), Relaxed);
        self.after(cursor)
    }

    /// Notes no times from now on.
    pub(crate) fn off(&self) {
        self.to.store(std::ptr::null_mut(), Relaxed);
    }

    /// The next limit, if the cursor has passed a limit that is not the buffer's. What the runtime records at the
    /// cursor now has a time of its own.
    pub(crate) fn pass(&self, cursor: *mut u8) -> Option<*mut u8> {
        let room = self.from.load(Relaxed) <= cursor && cursor < self.to.load(Relaxed);
        room.then(|| self.after(cursor))
    }

    /// Notes that a time was taken. Returns the ticks since the one before. The next operation must read its time.
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

    /// Notes the time of the operation at `cursor`, which did not wait. After dense operations some may leave their time
    /// open, more each time.
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

    /// The next limit after a time was noted before the cursor because of a long interval.
    pub(crate) fn soon(&self, cursor: *mut u8, now: u64) -> *mut u8 {
        self.last.store(now, Relaxed);
        cursor.wrapping_add(1).min(self.to.load(Relaxed))
    }

    fn after(&self, cursor: *mut u8) -> *mut u8 {
        cursor.wrapping_add(EVERY).min(self.to.load(Relaxed))
    }
}

/// Ticks that a reading of the counter takes, which is most of what noting a time costs. This takes the least mean of a
/// few rounds, because a counter may advance by many ticks at a time.
pub(crate) fn cost() -> u64 {
    const READINGS: u64 = 64;
    let round = || {
        let before = contech_guest::arch::ticks();
        for _ in 1..READINGS {
            std::hint::black_box(contech_guest::arch::ticks());
        }
        contech_guest::arch::ticks().saturating_sub(before) / READINGS
    };
    (0..8).map(|_| round()).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_follow_each_other_closely_leave_their_time_open() {
        let stamps = Stamps::new();
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

    #[test]
    fn a_limit_within_the_buffer_is_passed_and_the_buffers_own_is_not() {
        let mut buffer = [0u8; 8192];
        let from = buffer.as_mut_ptr();
        let at = |n: usize| from.wrapping_add(n);
        let stamps = Stamps::new();
        assert_eq!(stamps.pass(at(0)), None);
        let begin = stamps.begin((from, at(EVERY + 30)), at(20), (0, 0));
        assert_eq!(begin, at(EVERY + 20));
        assert_eq!(stamps.pass(begin), Some(at(EVERY + 30)));
        assert_eq!(stamps.pass(at(EVERY + 30)), None);
        assert_eq!(stamps.pass(std::ptr::null_mut()), None);
        stamps.off();
        assert_eq!(stamps.pass(begin), None);
    }
}
