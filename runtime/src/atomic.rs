//! Atomic operations of instrumented code. Each stands between a call of [`begin`] and one of
//! [`end`], except for the loads that [`loaded`] can make again.

use std::cell::Cell;
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64};

use contech_interpose::kernel;
use contech_runtime_core::bias::Entry;
use contech_runtime_core::spin::Try;
use contech_runtime_core::stripes::Stripes;
use contech_runtime_core::{Recorder, TlsBlock, atomic, tls};
use contech_trace::abi::{ATOMIC_COUNTS, ATOMIC_ORDER, ATOMIC_SIZE_SHIFT, Ptr, Word};
use contech_trace::event::SyncOp::{Fence, ScopeJoin};

use crate::active::{Active, TICKETS, records};
use crate::current::{self, guarded};
use crate::owners::{OWNERS, me};
use crate::tls::block;

/// The order of the operations on every atomic variable. It survives forks, as the variables do.
pub(crate) static STRIPES: Stripes = Stripes::new();

/// How the stripe was taken, as a token tells; 0 says that nothing is recorded.
fn taken(token: Word) -> Entry {
    let mut others = [Entry::New, Entry::Within, Entry::None].into_iter();
    others.find(|entry| *entry as Word == token).unwrap_or(Entry::Before)
}

/// Prepares the process for threads that own the order of what they use.
pub(crate) fn prepare() {
    OWNERS.set_fenced(kernel::prepare_barriers());
}

/// Lets no thread own anything from now on, because the program gives up the right to make
/// barriers.
pub(crate) fn share_all() {
    OWNERS.set_fenced(false);
    let me = OWNERS.thread(block().owner());
    STRIPES.share(&me);
    TICKETS.share(&me);
}

/// Forgets in a forked child what other threads own and do.
pub(crate) fn forget_others() {
    OWNERS.thread(block().owner()).clear();
    STRIPES.free_all();
    TICKETS.free_all();
}

/// Frees the number of a thread that ends.
pub(crate) fn forget(tls: &TlsBlock) {
    abandon(tls);
    OWNERS.put_back(tls.owner());
    tls.set_owner(0);
}

/// Exported as `__contech_atomic_begin`.
pub(crate) unsafe extern "C" fn begin(address: Ptr) -> Word {
    let tls = block();
    if let Some(recorder) = current::recorder()
        && records(recorder, tls)
        && !tls.cursor().is_null()
        && !tls.spin().puts_off()
        && tls.owner() != 0
    {
        let stripe = Stripes::of(address.addr());
        let me = OWNERS.thread(tls.owner());
        if STRIPES[stripe].take_own(&me, Stripes::place(stripe)) {
            return Entry::New as Word;
        }
    }
    begin_slowly(address)
}

#[inline(never)]
fn begin_slowly(address: Ptr) -> Word {
    let Some(recorder) = current::recorder_or_due() else {
        return 0;
    };
    let tls = block();
    if !records(recorder, tls) {
        return 0;
    }
    // Only code without blocks comes here with no cursor. In that case no register holds one
    // either.
    if tls.cursor().is_null() {
        recorder.make_room(tls);
    }
    let stripe = Stripes::of(address.addr());
    if tls.spin().is_put_off(address.addr() as u64) {
        // SAFETY: the program is about to operate there.
        let byte = || unsafe { AtomicU8::from_ptr(address) }.load(Relaxed);
        if tls.spin().hold_off(byte) {
            recorder.count_put_off();
        }
    }
    STRIPES[stripe].take(&me(tls), Stripes::place(stripe)) as Word
}

/// Exported as `__contech_atomic_end`. `site` is the address of the calling code.
pub(crate) unsafe extern "C" fn end(
    address: Ptr,
    token: Word,
    what: Word,
    value: Word,
    site: usize,
) {
    let tls = block();
    if token == Entry::New as Word
        && let Some(recorder) = current::recorder()
        && records(recorder, tls)
    {
        let stripe = &STRIPES[Stripes::of(address.addr())];
        if recorder.write_at_once(tls, what, address.addr(), || stripe.draw(true)) {
            stripe.give(&OWNERS.thread(tls.owner()), Entry::New);
            return recorder.make_room(tls);
        }
    }
    end_slowly(address, token, what, value, site);
}

#[inline(never)]
fn end_slowly(address: Ptr, token: Word, what: Word, value: Word, site: usize) {
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
    STRIPES[stripe].give(&OWNERS.thread(tls.owner()), taken(token));
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
    let me = me(tls);
    // SAFETY: the program has just read as many bytes there, which are aligned (the pass makes sure
    // of that).
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
        let (ticket, value) = STRIPES[stripe].look(&me, Stripes::place(stripe), read);
        found.set(value);
        ticket
    });
    let attempt =
        Try { address: address.addr() as u64, site: site as u64, value: found.get(), ticket };
    recorder.atomic(tls, what, &attempt);
    recorder.make_room(tls);
    found.get()
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

/// The calling thread has read how many threads of its scope run. It waits for them until it reads
/// 0: all of them took themselves from the variable before.
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
            let (me, place) = (me(tls), Stripes::place(stripe));
            let look = || STRIPES[stripe].look(&me, place, || ()).0;
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

/// Gives back the stripe of an operation that never goes on: a jump out of a signal handler leaves
/// for good what the handler interrupted, and so does the end of a thread.
pub(crate) fn abandon(tls: &TlsBlock) {
    let me = OWNERS.thread(tls.owner());
    if let Some(stripe) = me.place().and_then(Stripes::at)
        && STRIPES[stripe].is_held_by(me.number)
    {
        STRIPES[stripe].give_lock(me.number);
    }
    me.clear();
}
