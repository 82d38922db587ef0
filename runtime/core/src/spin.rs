#![allow(unsafe_code, reason = "changes an event that stands in the thread's buffer")]
//! Remembers the last atomic operation of a thread. An operation that is repeated and finds nothing
//! new is a spin-wait, and a spin-wait is one event.
//!
//! The event of the first try is in the buffer while the thread spins, and repeats are only counted
//! there. When a try at last finds something, its event takes over the time of the first event, and
//! the first one is marked as nothing. If the buffer was handed over in the meantime, it keeps its
//! event. A long wait then has two events, and the second has the time.

use std::mem::offset_of;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use contech_trace::event::{SYNC_TAIL, SyncOp, raw};

use crate::stamps::OPEN;
use crate::turns::{self, Turns};

/// The next try of a spin-wait is put off for at most so many looks at the variable.
const LOOKS: u32 = 64;
/// The most bytes of records between two tries of a spin-wait. More than that is work, not waiting.
const TIGHT: usize = turns::MOST;

// Offsets in the last bytes of a sync event.
const TICKET: usize = offset_of!(raw::Untimed, ticket);
/// The number of repeats is in the extra number of an atomic operation from bit 8 on.
const REPEATS: usize = offset_of!(raw::Untimed, aux) + 1;
const OP: usize = offset_of!(raw::Untimed, op);

/// The last operation and its repeats. The fields are atomics, as are the others of the
/// thread-local block, but only the owner of the block uses them.
#[derive(Debug, Default)]
pub struct Spin {
    address: AtomicU64,
    value: AtomicU64,
    site: AtomicU64,
    ticket: AtomicU64,
    /// The number of the thread's sync events when the operation was recorded. Another event since
    /// then ends the wait.
    syncs: AtomicU64,
    /// The last bytes of the operation's event in the buffer; null if the event must not be changed
    /// any more.
    event: AtomicPtr<u8>,
    /// The cursor after the last try.
    mark: AtomicPtr<u8>,
    /// When the wait began, in ticks, or [`OPEN`].
    before: AtomicU64,
    repeats: AtomicU32,
    /// 1 if there was work between tries.
    loose: AtomicU32,
    /// The next try at this address is put off; 0 for none.
    put_off: AtomicU64,
    turns: Turns,
}

/// An atomic operation.
#[derive(Debug, Clone, Copy)]
pub struct Try {
    /// Address of the variable.
    pub address: u64,
    /// Address of the code.
    pub site: u64,
    /// The value that was found.
    pub value: u64,
    /// The operation's place in the order of operations.
    pub ticket: u64,
}

impl Try {
    /// An attempt to acquire a lock that another thread has. Which code makes it does not matter,
    /// and it has no place in an order.
    pub(crate) fn of_lock(object: usize) -> Self {
        Try { address: object as u64, site: 0, value: 0, ticket: 0 }
    }
}

impl Spin {
    /// Forgets everything, and touches no buffer.
    pub(crate) fn clear(&self) {
        self.turns.clear();
        self.set_none();
    }

    /// Makes sure that the next operation is no repeat, because another level of records begins or
    /// ends. `slot` holds the cursor.
    pub(crate) fn reset(&self, slot: &AtomicPtr<u8>) {
        self.forget(slot);
        self.address.store(0, Relaxed);
        self.put_off.store(0, Relaxed);
    }

    /// Forgets where the events are, because they leave the buffer.
    pub(crate) fn forget(&self, slot: &AtomicPtr<u8>) {
        self.turns.interrupt(slot);
        self.let_go();
    }

    #[inline]
    fn let_go(&self) {
        self.event.store(std::ptr::null_mut(), Relaxed);
        self.mark.store(std::ptr::null_mut(), Relaxed);
    }

    /// Allows to take back what is recorded from the cursor `at` on.
    pub(crate) fn keep(&self, at: *mut u8) {
        self.turns.keep(at);
    }

    /// Takes back what was recorded since the last event ([`Turns::drop_back`]). Returns the
    /// cursor.
    pub(crate) fn drop_back(&self, slot: &AtomicPtr<u8>) -> *mut u8 {
        let cursor = slot.load(Relaxed);
        let kept = self.turns.drop_back(slot);
        if kept != cursor {
            // How much was recorded since the last try is not known any more.
            self.mark.store(std::ptr::null_mut(), Relaxed);
        }
        kept
    }

    /// The turns of the wait.
    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Whether the last operation was at the same place, and only blocks were recorded since.
    #[inline]
    fn was_at(&self, t: &Try, syncs: u64) -> bool {
        self.address.load(Relaxed) == t.address
            && self.site.load(Relaxed) == t.site
            && self.syncs.load(Relaxed) == syncs
    }

    /// Whether hardly anything was recorded since the last try. What was in a buffer that was
    /// handed over is not known and counts as little.
    pub(crate) fn is_tight(&self, cursor: *mut u8) -> bool {
        let mark = self.mark.load(Relaxed);
        mark.is_null() || cursor.addr().wrapping_sub(mark.addr()) <= TIGHT
    }

    /// Counts a try that found `t.value` as a repeat of the last one, if it is one: it read what
    /// the last one read, or nothing was done in between. Returns whether it is one. `slot` holds
    /// the cursor, which goes back to where it was if the turn recorded nothing new.
    #[inline]
    pub(crate) fn repeats(&self, t: &Try, syncs: u64, slot: &AtomicPtr<u8>) -> bool {
        if !self.was_at(t, syncs) || self.value.load(Relaxed) != t.value {
            return false;
        }
        let cursor = slot.load(Relaxed);
        let tight = self.is_tight(cursor);
        let same_write = self.ticket.load(Relaxed) == t.ticket;
        if !tight {
            self.loose.store(1, Relaxed);
        }
        if !same_write && !tight {
            return false;
        }
        self.ticket.store(t.ticket, Relaxed);
        let mark = self.turns.end_turn(self.mark.load(Relaxed), slot);
        self.mark.store(mark, Relaxed);
        let repeats = self.repeats.load(Relaxed).saturating_add(1);
        self.repeats.store(repeats, Relaxed);
        let event = self.event.load(Relaxed);
        if !event.is_null() {
            let ticket = t.ticket.to_le_bytes();
            // SAFETY: the event is whole, and in the thread's buffer (`forget` is called when that
            // changes).
            unsafe {
                event.add(TICKET).copy_from(ticket.as_ptr(), 6);
                event.add(REPEATS).cast::<u32>().write_unaligned(repeats);
            }
        }
        true
    }

    /// Lets the try that ended a spin-wait take the place of the first one. Returns the first one's
    /// time and the number of repeats. What was recorded up to the cursor in `slot` stays.
    #[cold]
    pub(crate) fn end(&self, t: &Try, syncs: u64, slot: &AtomicPtr<u8>) -> Option<(u64, u32)> {
        let repeats = self.repeats.load(Relaxed);
        if repeats == 0 {
            return None;
        }
        self.turns.close(slot);
        let event = self.event.load(Relaxed);
        let cursor = slot.load(Relaxed);
        let waited =
            self.loose.load(Relaxed) == 0 && self.was_at(t, syncs) && self.is_tight(cursor);
        if !waited {
            return None;
        }
        if !event.is_null() {
            // SAFETY: the event is there for the same reason as in `repeats`.
            unsafe { event.add(OP).write(SyncOp::AtomicSpun as u8) };
        }
        Some((self.before.load(Relaxed), repeats + 1))
    }

    /// Notes that a turn of the loop at `site` is over, in which the thread had no atomic
    /// operation.
    pub(crate) fn turn(&self, site: u64, syncs: u64, slot: &AtomicPtr<u8>) {
        let t = Try { address: 0, site, value: 0, ticket: 0 };
        if self.repeats.load(Relaxed) > 0 && self.was_at(&t, syncs) {
            let mark = self.turns.end_turn(self.mark.load(Relaxed), slot);
            self.mark.store(mark, Relaxed);
            return;
        }
        self.turns.close(slot);
        self.set(&t, syncs, 0, slot.load(Relaxed));
        self.event.store(std::ptr::null_mut(), Relaxed);
        // No operation takes the turns for tries of its own, but it ends them.
        self.repeats.store(1, Relaxed);
        self.loose.store(1, Relaxed);
    }

    /// Notes that the last operation is nothing that could be tried again.
    #[inline]
    pub(crate) fn set_none(&self) {
        self.address.store(0, Relaxed);
        self.repeats.store(0, Relaxed);
        self.put_off.store(0, Relaxed);
        self.let_go();
    }

    /// Does what [`Spin::set_none`] does, where no try was repeated.
    #[inline(always)]
    pub(crate) fn is_none_now(&self) {
        if self.address.load(Relaxed) != 0 {
            self.set_none();
        }
    }

    /// Whether tries were repeated since the last event.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.repeats.load(Relaxed) > 0
    }

    /// Notes whether the next try of a spin-wait is put off. A try holds the stripe of the
    /// variable. A thread that loses its processor with it keeps the one it waits for from the
    /// variable, so tries that will change nothing should be few. Where a thread does anything else
    /// between its tries, it holds the stripe for little of its time anyway.
    #[inline]
    pub(crate) fn put_off(&self, does: bool) {
        let address = self.address.load(Relaxed);
        self.put_off.store(if does { address } else { 0 }, Relaxed);
    }

    /// Whether any try is to be put off.
    #[inline(always)]
    pub fn puts_off(&self) -> bool {
        self.put_off.load(Relaxed) != 0
    }

    /// Whether a try at `address` is to be put off.
    #[inline]
    pub fn is_put_off(&self, address: u64) -> bool {
        let put_off = self.put_off.load(Relaxed);
        put_off != 0 && put_off == address
    }

    /// Puts a try off for a moment, as long as the lowest byte of the variable, which `byte` reads,
    /// is what the last try found. Returns whether it always was.
    #[cold]
    pub fn hold_off(&self, byte: impl Fn() -> u8) -> bool {
        let [found, ..] = self.value.load(Relaxed).to_le_bytes();
        (0..LOOKS).all(|_| {
            std::hint::spin_loop();
            byte() == found
        })
    }

    /// Gives a wait the time at which it began, if that is open.
    #[inline]
    pub(crate) fn begin(&self, now: impl FnOnce() -> u64) {
        if self.before.load(Relaxed) == OPEN {
            self.before.store(now(), Relaxed);
        }
    }

    /// Lets a wait begin now, because the thread was paused until now.
    pub(crate) fn resume(&self, now: u64) {
        self.before.store(now, Relaxed);
    }

    /// Notes that the event of `t`, which came at `now`, was written. It is the thread's `syncs`-th
    /// and ends at `cursor`.
    #[inline]
    pub(crate) fn set(&self, t: &Try, syncs: u64, now: u64, cursor: *mut u8) {
        self.before.store(now, Relaxed);
        self.address.store(t.address, Relaxed);
        self.value.store(t.value, Relaxed);
        self.site.store(t.site, Relaxed);
        self.ticket.store(t.ticket, Relaxed);
        self.syncs.store(syncs, Relaxed);
        self.event.store(cursor.wrapping_sub(SYNC_TAIL), Relaxed);
        self.mark.store(cursor, Relaxed);
        self.repeats.store(0, Relaxed);
        self.loose.store(0, Relaxed);
        self.put_off.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contech_trace::event::{Event, MAX_EVENT};

    const EVENT: usize = size_of::<raw::Sync>();
    const TRY: Try = Try { address: 0x1000, site: 7, value: 1, ticket: 11 };

    fn event(buffer: &mut [u8; 4096]) -> *mut u8 {
        let sync = Event::Sync {
            op: SyncOp::AtomicLoad,
            object: TRY.address,
            ticket: TRY.ticket,
            aux: 5,
            before: 0x0102_0304_0506,
            duration: 0x0708_090a_0b0c,
        };
        let mut bytes = [0; MAX_EVENT];
        assert_eq!(sync.encode(&mut bytes), EVENT);
        buffer[..EVENT].copy_from_slice(&bytes);
        buffer.as_mut_ptr().wrapping_add(EVENT)
    }

    /// A thread whose last operation, its third sync event, was a try at this time.
    fn tried(buffer: &mut [u8; 4096], now: u64) -> (Spin, AtomicPtr<u8>) {
        let (spin, cursor) = (Spin::default(), event(buffer));
        spin.set(&TRY, 3, now, cursor);
        (spin, AtomicPtr::new(cursor))
    }

    fn decoded(buffer: &[u8; 4096]) -> (SyncOp, u64, u64, u64, u64) {
        let n = |at: usize| {
            let mut word = [0; 8];
            word[..6].copy_from_slice(&buffer[at..at + 6]);
            u64::from_le_bytes(word)
        };
        let op = SyncOp::from_u8(buffer[30]).unwrap();
        (op, n(12), n(18), n(24), n(6))
    }

    #[test]
    fn a_wait_whose_first_try_has_no_time_begins_at_the_second() {
        let mut buffer = [0; 4096];
        let (spin, slot) = tried(&mut buffer, OPEN);
        assert!(!spin.is_waiting());
        for now in [50, 60] {
            assert!(spin.repeats(&TRY, 3, &slot));
            spin.begin(|| now);
        }
        assert!(spin.is_waiting());
        assert_eq!(spin.end(&TRY, 3, &slot), Some((50, 3)));
    }

    #[test]
    fn repeats_are_counted_in_the_first_tries_event_and_its_end_takes_over() {
        let mut buffer = [0; 4096];
        let (spin, slot) = tried(&mut buffer, 99);
        let cursor = slot.load(Relaxed);
        let at = |n: usize| {
            slot.store(cursor.wrapping_add(n), Relaxed);
            &slot
        };
        assert!(spin.repeats(&TRY, 3, at(40)));
        let later = Try { ticket: 15, ..TRY };
        assert!(spin.repeats(&later, 3, at(90)));
        let (op, object, ticket, aux, duration) = decoded(&buffer);
        assert_eq!((op, object, ticket), (SyncOp::AtomicLoad, 0x1000, 15));
        assert_eq!((aux, duration), (5 | 2 << 8, 0x0708_090a_0b0c));
        let found = Try { value: 2, ticket: 17, ..TRY };
        let end = spin.end(&found, 3, at(130));
        assert_eq!(end, Some((99, 3)));
        assert_eq!(decoded(&buffer).0, SyncOp::AtomicSpun);
    }

    #[test]
    fn the_next_try_is_put_off_until_the_variable_changes_but_not_for_long() {
        let mut buffer = [0; 4096];
        let (spin, slot) = tried(&mut buffer, 99);
        let looks = std::cell::Cell::new(0);
        let hold_off = |changes_at| {
            looks.set(0);
            let in_vain = spin.hold_off(|| {
                looks.set(looks.get() + 1);
                u8::from(looks.get() < changes_at)
            });
            (in_vain, looks.get())
        };
        assert_eq!(hold_off(5), (false, 5));
        assert_eq!(hold_off(u32::MAX), (true, LOOKS));
        assert!(!spin.is_put_off(TRY.address), "it was tried once");
        assert!(spin.repeats(&TRY, 3, &slot));
        spin.put_off(true);
        assert!(spin.is_put_off(TRY.address));
        assert!(!spin.is_put_off(0x2000), "nobody waits for that one");
        spin.put_off(false);
        assert!(!spin.is_put_off(TRY.address), "there is work between tries");
        spin.put_off(true);
        spin.set(&TRY, 4, 99, slot.load(Relaxed));
        assert!(!spin.is_put_off(TRY.address), "the wait is over");
    }

    #[test]
    fn another_place_value_or_event_is_no_repeat() {
        let mut buffer = [0; 4096];
        let (spin, slot) = tried(&mut buffer, 99);
        assert!(!spin.repeats(&Try { site: 8, ..TRY }, 3, &slot));
        assert!(!spin.repeats(&Try { value: 8, ..TRY }, 3, &slot));
        assert!(!spin.repeats(&Try { address: 8, ..TRY }, 3, &slot));
        assert!(!spin.repeats(&TRY, 4, &slot));
        assert!(spin.end(&TRY, 3, &slot).is_none(), "nothing was repeated");
    }

    #[test]
    fn work_between_tries_counts_only_if_nothing_was_written_meanwhile() {
        let mut buffer = [0; 4096];
        let (spin, slot) = tried(&mut buffer, 99);
        let far = AtomicPtr::new(slot.load(Relaxed).wrapping_add(TIGHT + 1));
        assert!(!spin.repeats(&Try { ticket: 13, ..TRY }, 3, &far));
        assert!(spin.repeats(&TRY, 3, &far), "it read the same write");
        let found = Try { value: 2, ..TRY };
        assert!(spin.end(&found, 3, &far).is_none(), "it did not wait");
    }

    #[test]
    fn a_buffer_handed_over_is_not_touched() {
        let mut buffer = [0; 4096];
        let (spin, slot) = tried(&mut buffer, 99);
        let before = buffer;
        spin.forget(&slot);
        assert!(spin.repeats(&Try { ticket: 13, ..TRY }, 3, &slot));
        let end = spin.end(&Try { value: 2, ..TRY }, 3, &slot);
        assert_eq!(end, Some((99, 2)), "the time it waited is known");
        assert_eq!(buffer, before);
    }
}
