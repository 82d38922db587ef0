//! Records atomic operations as events.

use contech_trace::abi::{
    ATOMIC_FAIL, ATOMIC_KIND, ATOMIC_LOAD, ATOMIC_ORDER, ATOMIC_RMW, ATOMIC_SILENT, ATOMIC_STORE,
    ATOMIC_UNSTATED,
};
use contech_trace::event::SyncOp;

use crate::append::Sync;
use crate::recorder::Recorder;
use crate::registry;
use crate::spin::Try;
use crate::tls::TlsBlock;

/// Whether the operation wrote, and so has a ticket of its own.
#[inline]
#[must_use]
pub fn writes(what: u64) -> bool {
    matches!(what & ATOMIC_KIND, ATOMIC_STORE | ATOMIC_RMW)
}

/// Whether the operation may be one of many that change nothing, as in a spin-wait.
fn may_be_in_vain(what: u64) -> bool {
    what & ATOMIC_UNSTATED == 0
        && match what & ATOMIC_KIND {
            ATOMIC_LOAD | ATOMIC_FAIL => true,
            ATOMIC_RMW => what & ATOMIC_SILENT != 0,
            _ => false,
        }
}

impl Recorder {
    /// Notes that a turn of a loop that only waits is over; `site` tells the loop. Check for room afterwards.
    pub fn end_turn(&'static self, tls: &TlsBlock, site: u64) {
        let syncs = registry::current(tls).map_or(0, crate::thread::Thread::syncs);
        tls.spin().turn(site, syncs, tls.slot());
    }

    /// Records an atomic operation of the calling thread (`what` holds its `ATOMIC_*` bits), or counts it as one more
    /// try of a spin-wait. The caller still holds the stripe, so that no other thread's operation comes between this
    /// operation and its event, and none of a signal handler contradicts it. That is why nothing is handed over here,
    /// which may take long. Check for room afterwards.
    #[inline]
    pub fn atomic(&'static self, tls: &TlsBlock, what: u64, t: &Try) {
        let spin = tls.spin();
        let syncs = || registry::current(tls).map_or(0, crate::thread::Thread::syncs);
        if may_be_in_vain(what) && spin.repeats(t, syncs(), tls.slot()) {
            return;
        }
        if tls.cursor().is_null() {
            self.make_room(tls);
        }
        let now = self.clock.now();
        let waited = spin.end(t, syncs(), tls.slot());
        if tls.gate() != self.gate.number() {
            self.look_at_gate(tls);
        }
        let (before, repeats) = waited.unwrap_or((now, 0));
        let op = match what & ATOMIC_KIND {
            ATOMIC_LOAD => SyncOp::AtomicLoad,
            ATOMIC_STORE => SyncOp::AtomicStore,
            ATOMIC_RMW => SyncOp::AtomicRmw,
            _ => SyncOp::AtomicFail,
        };
        let event = Sync {
            op,
            #[allow(clippy::cast_possible_truncation, reason = "an address")]
            object: t.address as usize,
            ticket: t.ticket,
            aux: what & ATOMIC_ORDER | u64::from(repeats) << 8,
            before,
            duration: now.saturating_sub(before),
        };
        self.sync_here(tls, event);
        spin.set(t, syncs(), now, tls.cursor());
    }
}
