#![allow(unsafe_code, reason = "compares and takes back what stands in the thread's buffer")]
//! The turns of a spin-wait, as one event. Between two tries of a wait a thread mostly records the
//! same bytes. Once two turns in a row are the same,
//! [`Event::Again`](contech_trace::event::Event::Again) follows them. The bytes of each further
//! turn that is the same are taken back, and the event counts it. The packer takes 64 bytes as nine
//! at best, so a thread that spins would write some 13 MB a second without this, and no more than
//! two kilobytes with it.
//!
//! While accesses are not recorded ([`crate::gate`]), what instrumented code wrote since the last
//! event is taken back, too ([`Turns::drop_back`]).
//!
//! Taking back moves the cursor down, which nothing else does. The thread that closes the trace
//! copies what is below the cursor of a thread that still runs, so it holds the turns meanwhile
//! ([`Turns::hold`]): then nothing is taken back. One word has the count and says who does what
//! just now. `tests/model` tries every interleaving.

use std::mem::offset_of;

use contech_trace::event::raw;

use crate::primitive::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Another thread copies what was recorded.
const HELD: u64 = 1 << 63;
/// The owner takes a turn back just now.
const BUSY: u64 = 1 << 62;
/// There is an event that counts.
const ACTIVE: u64 = 1 << 61;
/// The owner makes the event or completes it.
const OPEN: u64 = 1 << 60;
/// What was recorded behind the place in `kept` may be taken back.
const KEPT: u64 = 1 << 59;
const COUNT: u64 = (1 << 48) - 1;

/// The most bytes of a turn that is compared. More than that is work, not waiting.
pub(crate) const MOST: usize = 1024;

/// Bytes of the event.
const EVENT: usize = size_of::<raw::Again>();

/// The turns of the current wait. Only the owner changes them, but for two bits of `word`.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    /// The number of turns taken back, and the bits above.
    pub(crate) word: AtomicU64,
    /// The event that counts; null if there is none.
    pub(crate) event: AtomicPtr<u8>,
    /// Bytes of the last turn that stands in the buffer; 0 if it is not known.
    pub(crate) length: AtomicU64,
    /// The end of the last event. It says something only together with a bit of `word`.
    pub(crate) kept: AtomicPtr<u8>,
}

impl Turns {
    /// Takes note of a turn whose records stand between `mark` (null: not known) and the cursor in
    /// `slot`: they are taken back if the turns before recorded the same. Returns where the next
    /// turn begins.
    pub(crate) fn end_turn(&self, mark: *mut u8, slot: &AtomicPtr<u8>) -> *mut u8 {
        let cursor = slot.load(Ordering::Relaxed);
        let event = self.event.load(Ordering::Relaxed);
        let bytes = cursor.addr().wrapping_sub(mark.addr());
        if mark.is_null() || bytes == 0 || bytes > MOST {
            self.close(slot);
            return cursor;
        }
        let same = self.length.load(Ordering::Relaxed) == bytes as u64 && {
            let last = if event.is_null() { mark } else { event };
            // SAFETY: both turns stand in the thread's buffer: this one before the cursor, and one
            // of the same length before the mark or the event. `close` is called when the buffer
            // leaves the thread.
            unsafe { equal(last.sub(bytes), mark, bytes) }
        };
        if same && event.is_null() {
            return self.begin(cursor, bytes, slot);
        }
        if same && self.take_back(mark, bytes, slot) {
            return mark;
        }
        self.close(slot);
        self.length.store(bytes as u64, Ordering::Relaxed);
        cursor
    }

    /// Begins to count turns like the last one in an event at the cursor.
    fn begin(&self, cursor: *mut u8, bytes: usize, slot: &AtomicPtr<u8>) -> *mut u8 {
        if !self.exchange(0, ACTIVE | OPEN) {
            return cursor;
        }
        let event = raw::Again {
            bytes: u32::try_from(bytes).unwrap_or(0).to_le_bytes(),
            count: [0; 6],
            id: raw::Again::ID.to_le_bytes(),
        };
        // SAFETY: the slack has room for an event behind the longest unchecked path, and a repeated
        // try has no other.
        unsafe { cursor.cast::<raw::Again>().write_unaligned(event) };
        let end = cursor.wrapping_add(EVENT);
        slot.store(end, Ordering::Release);
        self.event.store(cursor, Ordering::Release);
        if !self.exchange(ACTIVE | OPEN, ACTIVE) {
            // Another thread copies, or a handler came in between. The event stays and counts
            // nothing.
            self.close(slot);
        }
        end
    }

    /// Takes back the turn that stands behind `mark`, unless another thread copies or has copied
    /// the event.
    fn take_back(&self, mark: *mut u8, bytes: usize, slot: &AtomicPtr<u8>) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        if word & !COUNT != ACTIVE || word == ACTIVE | COUNT || !self.exchange(word, word | BUSY) {
            return false;
        }
        slot.store(mark, Ordering::Release);
        // A register may still point behind these records. It must not be taken for a cursor
        // (`ahead`), and zeros are no records. SAFETY: the bytes were recorded by this thread,
        // behind its cursor now.
        unsafe { mark.write_bytes(0, bytes) };
        let done = |word: u64| (word & BUSY != 0).then_some((word & !BUSY) + 1);
        // A handler that came in between has counted the turn and closed the event.
        let _ = self.word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, done);
        true
    }

    fn exchange(&self, from: u64, to: u64) -> bool {
        let exchanged = self.word.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
        exchanged.is_ok()
    }

    /// Takes back what was recorded since the last event, or since the first call if that is not
    /// known. Nothing is taken back that another thread copies or has copied, nor while a turn is
    /// counted. Returns the cursor.
    pub(crate) fn drop_back(&self, slot: &AtomicPtr<u8>) -> *mut u8 {
        let cursor = slot.load(Ordering::Relaxed);
        if self.word.load(Ordering::Relaxed) != KEPT {
            self.keep(cursor);
            return cursor;
        }
        let kept = self.kept.load(Ordering::Relaxed);
        if kept == cursor || !self.exchange(KEPT, KEPT | BUSY) {
            return cursor;
        }
        slot.store(kept, Ordering::Release);
        // A handler that came in between has done the same.
        self.word.fetch_and(!BUSY, Ordering::SeqCst);
        kept
    }

    /// Notes that everything up to the cursor is to be kept.
    pub(crate) fn keep(&self, cursor: *mut u8) {
        self.kept.store(cursor, Ordering::Relaxed);
        self.exchange(0, KEPT);
    }

    /// Writes the count into the event, which counts no more from now on. Call this before the
    /// buffer leaves the thread and before anything else is recorded.
    #[inline]
    pub(crate) fn close(&self, slot: &AtomicPtr<u8>) {
        if !self.event.load(Ordering::Relaxed).is_null() {
            self.complete(slot);
        }
        self.length.store(0, Ordering::Relaxed);
    }

    /// Does what [`Turns::close`] does, whatever the thread was doing here when a handler
    /// interrupted it. Nothing is taken back of what is recorded: it leaves the thread's hands, or
    /// another level records.
    pub(crate) fn interrupt(&self, slot: &AtomicPtr<u8>) {
        self.close(slot);
        if self.word.load(Ordering::Relaxed) & (KEPT | BUSY) == KEPT | BUSY {
            // The interrupted code takes back and will go on with that, or never go on.
            slot.store(self.kept.load(Ordering::Relaxed), Ordering::Release);
        }
        self.word.fetch_and(HELD, Ordering::SeqCst);
    }

    #[cold]
    fn complete(&self, slot: &AtomicPtr<u8>) {
        let event = self.event.load(Ordering::Relaxed);
        let word = self.word.fetch_or(OPEN, Ordering::SeqCst);
        if word & BUSY != 0 {
            // The interrupted code takes a turn back and will go on with that, or never go on.
            slot.store(event.wrapping_add(EVENT), Ordering::Release);
        }
        let count = (word & COUNT) + u64::from(word & BUSY != 0);
        // SAFETY: the event is whole and in the thread's buffer, because `close` is called when
        // that changes.
        unsafe { amend(event, count) };
        self.event.store(std::ptr::null_mut(), Ordering::Release);
        self.word.fetch_and(HELD, Ordering::SeqCst);
    }

    /// Forgets everything, and touches no buffer.
    pub(crate) fn clear(&self) {
        self.word.store(0, Ordering::SeqCst);
        self.event.store(std::ptr::null_mut(), Ordering::SeqCst);
        self.length.store(0, Ordering::Relaxed);
    }

    /// Keeps the owner from taking anything back until the result is dropped, and ends its event:
    /// what the owner has recorded up to its cursor stays as it is. `None` while the owner changes
    /// something.
    pub(crate) fn hold(&self) -> Option<Held<'_>> {
        let word = self.word.fetch_or(HELD, Ordering::SeqCst);
        if word & (BUSY | OPEN) != 0 {
            self.word.fetch_and(!HELD, Ordering::SeqCst);
            return None;
        }
        self.word.fetch_and(!(ACTIVE | KEPT), Ordering::SeqCst);
        Some(Held { event: self.event.load(Ordering::Acquire), count: word & COUNT, turns: self })
    }
}

/// Keeps a thread from taking back what it recorded.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    turns: &'a Turns,
    event: *mut u8,
    count: u64,
}

impl Held<'_> {
    /// Writes the count into a copy of `len` bytes from `start` in the thread's buffer.
    pub(crate) fn complete(&self, start: *mut u8, len: usize, copy: *mut u8) {
        let at = self.event.addr().wrapping_sub(start.addr());
        if !self.event.is_null() && at < len && len - at >= EVENT {
            // SAFETY: the whole event was copied there.
            unsafe { amend(copy.add(at), self.count) };
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.turns.word.fetch_and(!HELD, Ordering::SeqCst);
    }
}

/// Whether as many bytes are the same.
///
/// # Safety
/// All of them can be read.
unsafe fn equal(a: *const u8, b: *const u8, bytes: usize) -> bool {
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(a, bytes) == std::slice::from_raw_parts(b, bytes) }
}

/// Gives an event a count.
///
/// # Safety
/// A whole event stands there.
unsafe fn amend(event: *mut u8, count: u64) {
    let count = count.to_le_bytes();
    // SAFETY: by contract, and the field has 6 bytes.
    unsafe {
        event.add(offset_of!(raw::Again, count)).copy_from(count.as_ptr(), 6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contech_trace::event::Event;

    /// A thread that records turns of so many equal bytes.
    struct Waiter {
        buffer: Vec<u8>,
        slot: AtomicPtr<u8>,
        mark: *mut u8,
        turns: Turns,
    }

    impl Waiter {
        fn new() -> Self {
            let mut buffer = vec![0; 4096];
            let at = buffer.as_mut_ptr();
            Waiter { buffer, slot: AtomicPtr::new(at), mark: at, turns: Turns::default() }
        }

        fn record(&mut self, byte: u8, bytes: usize) {
            let at = self.slot.load(Ordering::Relaxed);
            // SAFETY: the tests record less than the buffer holds.
            unsafe { at.write_bytes(byte, bytes) };
            self.slot.store(at.wrapping_add(bytes), Ordering::Relaxed);
        }

        fn turn(&mut self, byte: u8, bytes: usize) {
            self.record(byte, bytes);
            self.mark = self.turns.end_turn(self.mark, &self.slot);
        }

        fn recorded(&self) -> &[u8] {
            let end = self.slot.load(Ordering::Relaxed);
            &self.buffer[..end.addr() - self.buffer.as_ptr().addr()]
        }
    }

    fn with_event(turns: &[u8], bytes: u32, count: u64) -> Vec<u8> {
        let mut event = [0; contech_trace::event::MAX_EVENT];
        let n = Event::Again { bytes, count }.encode(&mut event);
        [turns, &event[..n]].concat()
    }

    #[test]
    fn equal_turns_are_counted_and_another_one_stays() {
        let mut w = Waiter::new();
        for _ in 0..10 {
            w.turn(7, 12);
        }
        w.turn(8, 5);
        let expected = [with_event(&[7; 24], 12, 8), vec![8; 5]].concat();
        assert_eq!(w.recorded(), expected);
    }

    #[test]
    fn turns_of_other_bytes_or_lengths_or_without_any_are_not_counted() {
        let mut w = Waiter::new();
        for n in 0..10 {
            w.turn(n, 12);
        }
        for n in 0..10 {
            w.turn(7, 3 + n);
            w.turn(7, 0);
        }
        assert_eq!(w.recorded().len(), 120 + (3..13).sum::<usize>());
        assert!(w.turns.event.load(Ordering::Relaxed).is_null());
    }

    #[test]
    fn what_is_held_is_not_taken_back_and_has_its_count() {
        let mut w = Waiter::new();
        for _ in 0..6 {
            w.turn(7, 12);
        }
        w.record(7, 12);
        let held = w.turns.hold().unwrap();
        let mut copy = w.recorded().to_vec();
        held.complete(w.buffer.as_mut_ptr(), copy.len(), copy.as_mut_ptr());
        w.mark = w.turns.end_turn(w.mark, &w.slot);
        let expected = [with_event(&[7; 24], 12, 4), vec![7; 12]].concat();
        assert_eq!(copy, expected);
        assert_eq!(w.recorded(), expected);
        drop(held);
        // What was handed over counts no more.
        let handed = expected.len();
        for _ in 0..4 {
            w.turn(7, 12);
        }
        w.turns.close(&w.slot);
        assert_eq!(w.recorded()[..handed], expected);
        assert_eq!(w.recorded()[handed..], with_event(&[7; 12], 12, 3));
    }

    #[test]
    fn what_is_between_events_is_taken_back_until_somebody_else_has_it() {
        let mut w = Waiter::new();
        let event = |w: &mut Waiter| {
            w.turns.drop_back(&w.slot);
            w.record(9, 4);
            w.turns.kept.store(w.slot.load(Ordering::Relaxed), Ordering::Relaxed);
        };
        // The first call does not know yet what an event is.
        w.record(7, 3);
        event(&mut w);
        for _ in 0..3 {
            w.record(7, 12);
            event(&mut w);
        }
        let first = [vec![7; 3], vec![9; 16]].concat();
        assert_eq!(w.recorded(), first);
        w.record(7, 5);
        drop(w.turns.hold());
        event(&mut w);
        w.record(7, 6);
        event(&mut w);
        assert_eq!(w.recorded(), [first, vec![7; 5], vec![9; 8]].concat());
        // A handler comes in the middle: the interrupted code will go on with what it took back.
        w.record(7, 6);
        w.turns.word.fetch_or(BUSY, Ordering::Relaxed);
        w.turns.interrupt(&w.slot);
        assert_eq!(w.recorded().len(), 3 + 16 + 5 + 8);
        assert_eq!(w.turns.word.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_handler_finds_the_turn_taken_back_or_there() {
        let mut w = Waiter::new();
        for _ in 0..4 {
            w.turn(7, 12);
        }
        w.record(7, 12);
        // In the middle of `take_back`.
        w.turns.word.fetch_or(BUSY, Ordering::Relaxed);
        w.turns.interrupt(&w.slot);
        assert_eq!(w.recorded(), with_event(&[7; 24], 12, 3));
        // In the middle of `begin`.
        w.turns.word.store(ACTIVE | OPEN, Ordering::Relaxed);
        w.turns.interrupt(&w.slot);
        assert_eq!(w.turns.word.load(Ordering::Relaxed), 0);
    }
}
