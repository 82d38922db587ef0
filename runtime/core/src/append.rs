#![allow(
    unsafe_code,
    reason = "writes events at the cursor, where instrumented code writes its records"
)]
//! The hot path: writes one event at the thread's cursor, without a lock, an allocation or a system
//! call.

use contech_trace::abi::{ID_BYTES, MAX_UNCHECKED, SLACK};
use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

use contech_trace::event::{AllocKind, Event, MAX_EVENT, SYNC_TAIL, SyncOp, raw};

use crate::mask::Blocked;
use crate::recorder::Recorder;
use crate::registry;
use crate::stamps::OPEN;
use crate::tls::TlsBlock;

/// The most bytes that the events of one intercepted call take.
const EVENTS: usize = 1024;
/// The slack has room for these events and, after them, for the longest unchecked path of
/// instrumented code.
const _: () = assert!(EVENTS + 2 * MAX_EVENT + 8 + MAX_UNCHECKED < SLACK);

#[derive(Debug, Clone, Copy)]
pub struct Sync {
    pub op: SyncOp,
    /// The object it was done to (an address, a context, a process).
    pub object: usize,
    /// The place of the event in the object's order.
    pub ticket: u64,
    /// The extra number, whose meaning [`SyncOp`] tells.
    pub aux: u64,
    /// Ticks before the operation, or `OPEN`.
    pub before: u64,
    /// Ticks that the operation took.
    pub duration: u64,
}

/// Writes an event with these values of its fields, in the order of their bytes, and evaluates to
/// the place after it. Each value is stored as 8 bytes, and the next one overwrites what is too
/// much.
macro_rules! write {
    ($at:ident, $event:ident { $($field:ident: $value:expr),* }) => {{
        // SAFETY: the callers have a cursor with room for the event and 8 more bytes, or the slack,
        // which has room for them. The stores are unaligned.
        unsafe {
            $($at.add(offset_of!(raw::$event, $field)).cast::<u64>().write_unaligned($value);)*
            $at.add(offset_of!(raw::$event, id)).cast::<u32>().write_unaligned(raw::$event::ID.to_le());
            $at.add(size_of::<raw::$event>())
        }
    }};
}

impl Recorder {
    /// Flushes if it is time to. Call this before the times of an event are taken, so that a pause
    /// for the writer comes before them.
    #[inline]
    pub fn make_room(&'static self, tls: &TlsBlock) {
        let cursor = tls.cursor();
        if cursor >= tls.limit() {
            self.flush(tls, cursor);
        }
    }

    /// A cursor with room for an event. The few events of one call may pass the limit, because the
    /// slack behind the limit has room for them too.
    #[inline(always)]
    pub(crate) fn room(&'static self, tls: &TlsBlock) -> *mut u8 {
        let cursor =
            if tls.gate() == self.gate.number() { tls.cursor() } else { self.look_at_gate(tls) };
        // The comparison is with one less, so that a null cursor is beyond any limit.
        if cursor.addr().wrapping_sub(1) < tls.limit().addr().wrapping_add(EVENTS) {
            cursor
        } else {
            self.flush(tls, cursor)
        }
    }

    /// Records a sync event of the calling thread.
    #[inline(always)]
    pub fn sync(&'static self, tls: &TlsBlock, s: Sync) {
        let at = self.room(tls);
        self.sync_at(tls, at, s);
    }

    /// Records a sync event with the place in its object's order that `draw` gives it, and returns
    /// that place.
    ///
    /// A signal handler may run at any time and draw tickets of its own. What it recorded before
    /// the event's ticket was drawn stands before the event; what it records afterwards stands
    /// behind it.
    #[inline(always)]
    pub fn sync_in_order(&'static self, tls: &TlsBlock, s: Sync, draw: impl Fn() -> u64) -> u64 {
        self.room(tls);
        let ticket = self.ticket(tls, draw);
        self.sync_here(tls, Sync { ticket, ..s });
        ticket
    }

    /// Draws the ticket of an event that is recorded next, without another check of the buffer's
    /// room. What handlers record from now on comes after the event.
    #[inline(always)]
    pub fn ticket(&'static self, tls: &TlsBlock, draw: impl Fn() -> u64) -> u64 {
        let ticket = draw();
        // A handler that ran since the last check made the limit null. It may have drawn its
        // tickets before this one.
        if tls.limit().is_null() {
            return self.draw_again(tls, draw);
        }
        ticket
    }

    /// Puts what handlers recorded in its place, and draws a ticket that comes after theirs.
    #[cold]
    fn draw_again(&'static self, tls: &TlsBlock, draw: impl Fn() -> u64) -> u64 {
        let _blocked = Blocked::new();
        self.flush(tls, tls.cursor());
        draw()
    }

    /// Records a sync event in its object's order ([`Recorder::sync_in_order`]), then does what the
    /// event tells of. If other threads may go on after the operation, its event must stand in its
    /// place before they do: a signal handler may run between the event and the operation, and what
    /// the handler does then comes after the event. `done` returns the event's extra number for the
    /// result, or `None` if nothing was done; in that case the event is changed into one that says
    /// nothing.
    #[inline(always)]
    pub fn announce<R>(
        &'static self,
        tls: &TlsBlock,
        s: Sync,
        draw: impl Fn() -> u64,
        call: impl FnOnce() -> R,
        done: impl FnOnce(&R) -> Option<u64>,
    ) -> R {
        self.sync_in_order(tls, s, draw);
        let end = tls.cursor();
        let outer = tls.announces.load(Relaxed);
        tls.announces.store(true, Relaxed);
        let result = call();
        tls.announces.store(outer, Relaxed);
        let aux = done(&result);
        // Only a call that recorded something itself moves the cursor; handlers put it back.
        if aux != Some(s.aux) && tls.cursor() == end {
            amend(end.wrapping_sub(SYNC_TAIL), aux);
        }
        result
    }

    /// Records a sync event at the cursor, which must not be null, and hands over nothing before
    /// it. The slack has room for one such event after the longest unchecked path. The caller must
    /// check for room afterwards.
    #[inline(always)]
    pub(crate) fn sync_here(&'static self, tls: &TlsBlock, s: Sync) {
        self.sync_at(tls, tls.cursor(), s);
    }

    #[inline(always)]
    fn sync_at(&'static self, tls: &TlsBlock, at: *mut u8, s: Sync) {
        let end = if s.before == OPEN {
            write!(
                at,
                Untimed { object: s.object as u64, ticket: s.ticket, aux: s.aux, op: s.op as u64 }
            )
        } else {
            timed_at(at, s)
        };
        tls.set_cursor(end);
        if let Some(thread) = registry::current(tls) {
            thread.count_sync();
        }
    }

    /// Records that the calling thread obtained memory.
    #[inline]
    pub fn alloc(&'static self, tls: &TlsBlock, kind: AllocKind, address: usize, size: usize) {
        let at = self.room(tls);
        tls.set_cursor(write!(
            at,
            Alloc { addr: address as u64, size: size as u64, kind: kind as u64 }
        ));
    }

    /// Records that the calling thread gave memory back.
    #[inline]
    pub fn free(&'static self, tls: &TlsBlock, address: usize) {
        let at = self.room(tls);
        tls.set_cursor(write!(at, Free { addr: address as u64 }));
    }

    /// Records that the calling thread gives memory back, before `call` does so: afterwards another
    /// thread may have it. If `done` says of the result that the thread keeps the memory, the event
    /// is changed into one of no memory.
    pub fn announce_end<R>(
        &'static self,
        tls: &TlsBlock,
        event: &Event,
        call: impl FnOnce() -> R,
        done: impl FnOnce(&R) -> bool,
    ) -> R {
        let at = self.room(tls);
        let end = encode_at(at, event);
        tls.set_cursor(end);
        let nested = tls.allocating();
        let result = call();
        drop(nested);
        if !done(&result) && tls.cursor() == end {
            // The bytes may be on their way to the writer, so that they cannot be taken back.
            // SAFETY: the event was written there, and all of it but its id are fields.
            unsafe { at.write_bytes(0, end.addr() - at.addr() - ID_BYTES) };
        }
        result
    }

    /// Records any event of the calling thread.
    pub fn put(&'static self, tls: &TlsBlock, event: &Event) {
        let at = self.room(tls);
        tls.set_cursor(encode_at(at, event));
    }
}

/// Writes a sync event with its times at a cursor with room, and returns the cursor after it.
#[inline(never)]
fn timed_at(at: *mut u8, s: Sync) -> *mut u8 {
    write!(
        at,
        Sync {
            before: s.before,
            duration: s.duration,
            object: s.object as u64,
            ticket: s.ticket,
            aux: s.aux,
            op: s.op as u64
        }
    )
}

/// Gives an event of the thread's buffer whose last bytes begin at `at` another extra number, or
/// makes it one that says nothing. The event cannot be removed instead, because its bytes may be on
/// their way to the writer.
#[cold]
fn amend(at: *mut u8, aux: Option<u64>) {
    let (offset, bytes, len) = match aux {
        Some(aux) => (offset_of!(raw::Untimed, aux), aux.to_le_bytes(), 6),
        None => (offset_of!(raw::Untimed, op), (SyncOp::AtomicSpun as u64).to_le_bytes(), 1),
    };
    // SAFETY: the event was written there and is whole; the bytes are those of its field.
    unsafe { at.add(offset).copy_from(bytes.as_ptr(), len) };
}

/// Writes an event at a cursor with room and returns the cursor after it.
pub(crate) fn encode_at(at: *mut u8, event: &Event) -> *mut u8 {
    let mut bytes = [0; MAX_EVENT];
    let n = event.encode(&mut bytes);
    // SAFETY: callers have a cursor below its limit, which leaves more room than the longest event.
    unsafe {
        at.copy_from_nonoverlapping(bytes.as_ptr(), n);
        at.add(n)
    }
}
