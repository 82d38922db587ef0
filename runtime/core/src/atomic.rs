//! Records what a spin-wait may be made of, atomic operations and attempts to acquire a lock, as
//! events.

use contech_interpose::arch::ticks;
use contech_trace::abi::{
    ATOMIC_COUNTS, ATOMIC_FAIL, ATOMIC_GIVES, ATOMIC_KIND, ATOMIC_LOAD, ATOMIC_ORDER, ATOMIC_RMW,
    ATOMIC_SILENT, ATOMIC_SPINS, ATOMIC_STORE, ATOMIC_TAKES, ATOMIC_UNSTATED,
};
use contech_trace::event::{AUX_GIVES, AUX_TAKES, SyncOp};

use crate::append::Sync;
use crate::recorder::Recorder;
use crate::registry;
use crate::spin::Try;
use crate::stamps::OPEN;
use crate::thread::Thread;
use crate::tls::TlsBlock;

/// Whether the operation wrote, and so has a ticket of its own.
#[inline]
#[must_use]
pub fn writes(what: u64) -> bool {
    matches!(what & ATOMIC_KIND, ATOMIC_STORE | ATOMIC_RMW)
}

/// What an event says of an operation: its memory order, and whether it took or gave back the word.
#[inline]
fn aux(what: u64) -> u64 {
    const SHIFT: u32 = ATOMIC_TAKES.trailing_zeros() - AUX_TAKES.trailing_zeros();
    const { assert!(ATOMIC_GIVES >> SHIFT == AUX_GIVES) };
    what & ATOMIC_ORDER | what >> SHIFT & (AUX_TAKES | AUX_GIVES)
}

/// Whether the operation may be one of many that change nothing, as in a spin-wait.
fn may_be_in_vain(what: u64) -> bool {
    let kind = what & ATOMIC_KIND;
    let may = (kind == ATOMIC_LOAD)
        | (kind == ATOMIC_FAIL)
        | (kind == ATOMIC_RMW) & (what & ATOMIC_SILENT != 0);
    may & (what & ATOMIC_UNSTATED == 0)
}

/// The operations in the order of their kinds.
const KINDS: [SyncOp; 4] =
    [SyncOp::AtomicLoad, SyncOp::AtomicStore, SyncOp::AtomicRmw, SyncOp::AtomicFail];

/// The number of the thread's sync events so far.
#[inline]
fn syncs(tls: &TlsBlock) -> u64 {
    registry::current(tls).map_or(0, Thread::syncs)
}

impl Recorder {
    /// Notes that a turn of a loop that only waits is over; `site` tells the loop. Check for room
    /// afterwards.
    pub fn end_turn(&'static self, tls: &TlsBlock, site: u64) {
        tls.spin().turn(site, syncs(tls), tls.slot());
    }

    /// Records an atomic operation that wrote and is not one of many that change nothing, if
    /// nothing else is to be done: no room to be made, no wait to end, no time to be read. Returns
    /// whether that is so. Otherwise [`Recorder::atomic`] records it, with another ticket. Check
    /// for room afterwards.
    #[inline(always)]
    pub fn write_at_once(
        &'static self,
        tls: &TlsBlock,
        what: u64,
        address: usize,
        draw: impl Fn() -> u64,
    ) -> bool {
        let (spin, cursor) = (tls.spin(), tls.cursor());
        let plain = writes(what)
            && what & (ATOMIC_SILENT | ATOMIC_COUNTS) == 0
            && !cursor.is_null()
            && tls.gate() == self.gate.number()
            && !spin.is_waiting()
            && tls.stamps().leaves_open(cursor);
        if !plain {
            return false;
        }
        let ticket = draw();
        // A handler may have drawn its tickets before this one, and its records stand behind what
        // comes here.
        if tls.limit().is_null() {
            return false;
        }
        let op = if what & ATOMIC_KIND == ATOMIC_STORE {
            SyncOp::AtomicStore
        } else {
            SyncOp::AtomicRmw
        };
        self.sync_here(
            tls,
            Sync { op, object: address, ticket, aux: aux(what), before: OPEN, duration: 0 },
        );
        spin.is_none_now();
        true
    }

    /// Records an atomic operation of the calling thread (`what` holds its `ATOMIC_*` bits), or
    /// counts it as one more try of a spin-wait. If the operation may write, the caller still holds
    /// the stripe, so that no other thread's operation comes between this operation and its event,
    /// and none of a signal handler contradicts it. That is why nothing is handed over here, which
    /// may take long. Check for room afterwards.
    pub fn atomic(&'static self, tls: &TlsBlock, what: u64, t: &Try) {
        let spin = tls.spin();
        let in_vain = may_be_in_vain(what);
        if in_vain && spin.repeats(t, syncs(tls), tls.slot()) {
            spin.begin(|| self.clock.now());
            spin.put_off(what & ATOMIC_SPINS != 0);
            return;
        }
        if tls.cursor().is_null() {
            self.make_room(tls);
        }
        if tls.gate() != self.gate.number() {
            self.look_at_gate(tls);
        }
        let (now, waited) = if spin.is_waiting() {
            tls.stamps().note(ticks());
            (self.clock.now(), spin.end(t, syncs(tls), tls.slot()))
        } else {
            (self.moment(tls), None)
        };
        let (before, repeats) = waited.unwrap_or((now, 0));
        #[allow(clippy::cast_possible_truncation, reason = "two bits")]
        let op = KINDS[(what & ATOMIC_KIND) as usize >> 3];
        let event = Sync {
            op,
            #[allow(clippy::cast_possible_truncation, reason = "an address")]
            object: t.address as usize,
            ticket: t.ticket,
            aux: aux(what) | u64::from(repeats) << 8,
            before,
            duration: now - before.min(now),
        };
        self.sync_here(tls, event);
        if in_vain {
            spin.set(t, syncs(tls), now, tls.cursor());
        } else {
            spin.set_none();
        }
    }

    /// Records that an attempt to acquire `object` without waiting failed, or counts it as one more
    /// try of a spin-wait.
    pub fn tried(&'static self, tls: &TlsBlock, op: SyncOp, object: usize) {
        let (spin, t) = (tls.spin(), Try::of_lock(object));
        // Work between two attempts is no part of a wait: the attempts are tasks of their own.
        if spin.is_tight(tls.cursor()) && spin.repeats(&t, syncs(tls), tls.slot()) {
            spin.begin(|| self.clock.now());
            self.make_room(tls);
            return;
        }
        let before = self.moment(tls);
        let event = Sync { op: op.failed(), object, ticket: 0, aux: 0, before, duration: 0 };
        self.sync(tls, event);
        spin.set(&t, syncs(tls), before, tls.cursor());
    }

    /// When the spin-wait began that an attempt to acquire `object` has just ended, if there was
    /// one. The event of that attempt takes the place of those that failed.
    #[inline]
    pub fn tried_since(&'static self, tls: &TlsBlock, object: usize) -> Option<u64> {
        let spin = tls.spin();
        if !spin.is_waiting() {
            return None;
        }
        let waited = spin.end(&Try::of_lock(object), syncs(tls), tls.slot());
        spin.set_none();
        waited.map(|(before, _)| before)
    }
}
