//! Atomic operations of instrumented code: each stands between a call of [`begin`] and one of [`end`].

use contech_runtime_core::spin::Try;
use contech_runtime_core::stripes::Stripes;
use contech_runtime_core::{Recorder, TlsBlock, atomic, tls};
use contech_trace::event::SyncOp::Fence;

use crate::active::Active;
use crate::start;
use crate::tls::block;

/// Order of every atomic variable; survives forks, as the variables do.
pub(crate) static STRIPES: Stripes = Stripes::new();

// A token: what is to be done at the end, and above that the stripe held before.
const TAKEN: u64 = 1;
/// This code is a signal handler, and the code it interrupted holds the stripe.
const INTERRUPTS: u64 = 2;
const BEFORE_BITS: u32 = 8;

fn records(recorder: &Recorder, tls: &TlsBlock) -> bool {
    recorder.is_recording() && !tls.is_quiet() && tls.role() == tls::PROGRAM
}

/// `__contech_atomic_begin`.
pub(crate) unsafe extern "C" fn begin(address: usize) -> u64 {
    let Some(recorder) = start::recorder_or_due() else {
        return 0;
    };
    let tls = block();
    if !records(recorder, tls) {
        return 0;
    }
    // Only code without blocks comes here with no cursor; there is none in a register then.
    if tls.cursor().is_null() {
        recorder.make_room(tls);
    }
    let stripe = Stripes::of(address);
    let (before, mine) = (tls.held(), stripe as u64 + 1);
    // Held by this very thread, it will not be given back while we wait.
    if before == mine && !STRIPES.try_take(stripe) {
        return INTERRUPTS | before << BEFORE_BITS;
    }
    if before != mine {
        STRIPES.take(stripe);
    }
    tls.set_held(mine);
    TAKEN | before << BEFORE_BITS
}

/// `__contech_atomic_end`; `site` is the address of the calling code.
pub(crate) unsafe extern "C" fn end(
    address: usize,
    token: u64,
    what: u64,
    value: u64,
    site: usize,
) {
    if token == 0 {
        return;
    }
    let tls = block();
    let stripe = Stripes::of(address);
    let writes = atomic::writes(what);
    let recorder = start::recorder().filter(|recorder| records(recorder, tls));
    if let Some(recorder) = recorder {
        let attempt = Try {
            address: address as u64,
            site: site as u64,
            value,
            ticket: STRIPES.ticket(stripe, writes),
        };
        recorder.atomic(tls, what, &attempt);
    }
    STRIPES.give(stripe, writes, token & INTERRUPTS != 0);
    tls.set_held(token >> BEFORE_BITS);
    if let Some(recorder) = recorder {
        recorder.make_room(tls);
    }
}

/// `__contech_fence`.
pub(crate) unsafe extern "C" fn fence(order: u64) {
    let tls = block();
    if let Some(recorder) = start::recorder_or_due()
        && records(recorder, tls)
    {
        recorder.make_room(tls);
        let a = Active { tls, recorder };
        a.with_aux(Fence, std::ptr::null_mut(), 0, order, a.now(), 0);
    }
}

/// A jump out of a signal handler leaves for good what it interrupted; the end of a thread does, too.
pub(crate) fn abandon(tls: &TlsBlock) {
    let held = tls.held();
    if let Some(stripe) = held.checked_sub(1) {
        tls.set_held(0);
        STRIPES.give(usize::try_from(stripe).unwrap_or(0), true, false);
    }
}
