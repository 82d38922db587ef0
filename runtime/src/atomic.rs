//! Atomic operations of instrumented code. Each stands between a call of [`begin`] and one of [`end`], except for the
//! loads that [`loaded`] can make again.

use std::cell::Cell;
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use contech_guest::mask::Blocked;
use contech_runtime_core::owners::Owners;
use contech_runtime_core::spin::Try;
use contech_runtime_core::stripes::Stripes;
use contech_runtime_core::{Recorder, TlsBlock, atomic, tls};
use contech_trace::abi::{ATOMIC_COUNTS, ATOMIC_ORDER, ATOMIC_SIZE_SHIFT, Ptr, Word};
use contech_trace::event::SyncOp::{Fence, ScopeJoin};

use crate::active::Active;
use crate::current::{self, guarded};
use crate::tls::block;

/// The order of the operations on every atomic variable. It survives forks, as the variables do.
pub(crate) static STRIPES: Stripes = Stripes::new();

// A token says what is to be done at the end and, in the bits above, which stripe was held before.
const TAKEN: u64 = 1;
/// This code is a signal handler, and the code it interrupted holds the stripe.
const INTERRUPTS: u64 = 2;
const BEFORE_BITS: u32 = 8;

fn records(recorder: &Recorder, tls: &TlsBlock) -> bool {
    recorder.is_recording() && !tls.is_quiet() && tls.role() == tls::PROGRAM
}

/// The numbers of threads in the words of stripes.
static OWNERS: Owners = Owners::new();

#[inline]
fn number(tls: &TlsBlock) -> u64 {
    match tls.owner() {
        0 => draw(tls),
        owner => owner,
    }
}

#[cold]
fn draw(tls: &TlsBlock) -> u64 {
    // If a handler drew a number in between, that number would be forgotten.
    let _blocked = Blocked::new();
    if tls.owner() == 0 {
        tls.set_owner(OWNERS.draw());
    }
    tls.owner()
}

/// Frees the number of a thread that ends.
pub(crate) fn forget(tls: &TlsBlock) {
    abandon(tls);
    OWNERS.put_back(tls.owner());
    tls.set_owner(0);
}

/// Exported as `__contech_atomic_begin`.
pub(crate) unsafe extern "C" fn begin(address: Ptr) -> Word {
    let Some(recorder) = current::recorder_or_due() else {
        return 0;
    };
    let tls = block();
    if !records(recorder, tls) {
        return 0;
    }
    // Only code without blocks comes here with no cursor. In that case no register holds one either.
    if tls.cursor().is_null() {
        recorder.make_room(tls);
    }
    let stripe = Stripes::of(address.addr());
    let (before, owner) = (tls.held(), number(tls));
    // If this very thread holds the stripe, it will not be given back while the thread waits.
    if STRIPES[stripe].is_held_by(owner) {
        return INTERRUPTS | before << BEFORE_BITS;
    }
    if tls.spin().is_put_off(address.addr() as u64) {
        // SAFETY: the program is about to operate there.
        let byte = || unsafe { AtomicU8::from_ptr(address) }.load(Relaxed);
        if tls.spin().hold_off(byte) {
            recorder.count_put_off();
        }
    }
    tls.set_held(stripe as u64 + 1);
    STRIPES[stripe].take(owner);
    TAKEN | before << BEFORE_BITS
}

/// Exported as `__contech_atomic_end`. `site` is the address of the calling code.
pub(crate) unsafe extern "C" fn end(
    address: Ptr,
    token: Word,
    what: Word,
    value: Word,
    site: usize,
) {
    let address = address.addr();
    if token == 0 {
        return;
    }
    let tls = block();
    let stripe = Stripes::of(address);
    let draw = || STRIPES[stripe].draw(atomic::writes(what));
    let recorder = current::recorder().filter(|recorder| records(recorder, tls));
    if let Some(recorder) = recorder {
        if what & ATOMIC_COUNTS != 0 {
            count(recorder, tls, address, what);
        }
        let attempt = Try {
            address: address as u64,
            site: site as u64,
            value,
            ticket: recorder.ticket(tls, draw),
        };
        recorder.atomic(tls, what, &attempt);
    } else {
        draw();
    }
    if token & INTERRUPTS == 0 {
        STRIPES[stripe].give(tls.owner());
    }
    tls.set_held(token >> BEFORE_BITS);
    if let Some(recorder) = recorder {
        recorder.make_room(tls);
    }
}

/// Exported as `__contech_atomic_loaded`. `site` is the address of the calling code.
pub(crate) unsafe extern "C" fn loaded(address: Ptr, what: Word, value: Word, site: usize) -> Word {
    let Some(recorder) = current::recorder_or_due() else {
        return value;
    };
    let tls = block();
    let stripe = Stripes::of(address.addr());
    if what & ATOMIC_ORDER == ACQUIRE && STRIPES[stripe].counts(address.addr()) {
        await_threads(recorder, tls, address.addr(), value);
        return value;
    }
    if !records(recorder, tls) {
        return value;
    }
    if tls.cursor().is_null() {
        recorder.make_room(tls);
    }
    let owner = number(tls);
    // SAFETY: the program has just read as many bytes there, which are aligned (the pass makes sure of that).
    let read = || unsafe {
        match what >> ATOMIC_SIZE_SHIFT {
            0 => AtomicU8::from_ptr(address).load(Acquire).into(),
            1 => AtomicU16::from_ptr(address.cast()).load(Acquire).into(),
            2 => AtomicU32::from_ptr(address.cast()).load(Acquire).into(),
            _ => AtomicU64::from_ptr(address.cast()).load(Acquire),
        }
    };
    let found = Cell::new(value);
    let ticket = recorder.ticket(tls, || {
        let (ticket, value) = STRIPES[stripe].look(owner, read, held(tls, stripe));
        found.set(value);
        ticket
    });
    let attempt = Try {
        address: address.addr() as u64,
        site: site as u64,
        value: found.get(),
        ticket,
    };
    recorder.atomic(tls, what, &attempt);
    recorder.make_room(tls);
    found.get()
}

/// Tells [`abandon`] of a stripe that a load has to take.
fn held(tls: &TlsBlock, stripe: usize) -> impl Fn(bool) {
    let before = tls.held();
    move |begins| tls.set_held(if begins { stripe as u64 + 1 } else { before })
}

/// C's numbers of memory orders.
const RELAXED: u64 = 0;
const ACQUIRE: u64 = 2;

/// A thread of a scope begins, or it is the calling thread and leaves the scope.
#[cold]
fn count(recorder: &Recorder, tls: &TlsBlock, address: usize, what: u64) {
    if what & ATOMIC_ORDER != RELAXED {
        recorder.leave_scope(tls);
    } else if tls.handlers() == 0 {
        STRIPES[Stripes::of(address)].set_counts(address, true);
    }
}

/// The calling thread has read how many threads of its scope run. It waits for them until it reads 0: all of them took
/// themselves from the variable before.
#[cold]
fn await_threads(recorder: &'static Recorder, tls: &'static TlsBlock, address: usize, value: u64) {
    let stripe = Stripes::of(address);
    let here = (&raw const stripe).addr();
    let begins = records(recorder, tls);
    if !(begins || recorder.is_recording() && tls.role() == tls::LIBRARY) {
        return;
    }
    guarded(|| {
        if begins {
            recorder.make_room(tls);
            recorder.begin_wait(tls, here);
        }
        if value > 0 {
            return;
        }
        if let Some(since) = recorder.end_wait(tls, here) {
            STRIPES[stripe].set_counts(address, false);
            // The last thread may not have drawn its ticket yet, for which this waits.
            let owner = number(tls);
            let look = || STRIPES[stripe].look(owner, || (), held(tls, stripe)).0;
            let ticket = recorder.ticket(tls, look);
            let (a, counter) = (Active { tls, recorder }, without_provenance_mut(address));
            a.with_aux(ScopeJoin, counter, ticket, ACQUIRE, since, a.since(since));
        }
    });
}

/// Exported as `__contech_turn`. `site` is the address of the calling code.
pub(crate) unsafe extern "C" fn turn(site: usize) {
    let tls = block();
    if let Some(recorder) = current::recorder()
        && records(recorder, tls)
    {
        // What a handler recorded meanwhile comes between the turns.
        if tls.limit().is_null() {
            recorder.make_room(tls);
        }
        recorder.end_turn(tls, site as u64);
        recorder.make_room(tls);
    }
}

/// Exported as `__contech_fence`.
pub(crate) unsafe extern "C" fn fence(order: Word) {
    let tls = block();
    if let Some(recorder) = current::recorder_or_due()
        && records(recorder, tls)
    {
        recorder.make_room(tls);
        let a = Active { tls, recorder };
        a.with_aux(Fence, std::ptr::null_mut(), 0, order, a.moment(), 0);
    }
}

/// Gives back the stripe of an operation that never goes on: a jump out of a signal handler leaves for good what the
/// handler interrupted, and so does the end of a thread.
pub(crate) fn abandon(tls: &TlsBlock) {
    let held = tls.held();
    if let Some(stripe) = held.checked_sub(1) {
        tls.set_held(0);
        let stripe = usize::try_from(stripe).unwrap_or(0);
        if STRIPES[stripe].is_held_by(tls.owner()) {
            STRIPES[stripe].give(tls.owner());
        }
    }
}
