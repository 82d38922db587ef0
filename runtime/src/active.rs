//! Decides whether a call is recorded, and records it.

use contech_interpose::functions::{self, Answer, Family};
use contech_runtime_core::append::Sync;
use contech_runtime_core::tickets::Tickets;
use contech_runtime_core::{Recorder, TlsBlock, tls};
use contech_trace::event::SyncOp;

use crate::current;
use crate::loader;
use crate::owners;
use crate::real::Ptr;
use crate::tls::block;

/// Objects that the recorder invents are in the upper half of the address space, where the program
/// has none.
pub(crate) const OWN_OBJECTS: u64 = 1 << 47;

/// An object that has this number and no address.
pub(crate) fn object(number: u64) -> Ptr {
    std::ptr::without_provenance_mut(usize::try_from(number).unwrap_or(0))
}

/// The order of every object's operations. It survives forks, as the objects do.
pub(crate) static TICKETS: Tickets = Tickets::new();

/// A thread that records, with its recorder.
#[derive(Clone, Copy)]
pub(crate) struct Active {
    pub(crate) tls: &'static TlsBlock,
    pub(crate) recorder: &'static Recorder,
}

/// Whether this thread, which has the block, records the program.
#[inline(always)]
pub(crate) fn records(recorder: &Recorder, tls: &TlsBlock) -> bool {
    recorder.is_recording() && !tls.is_quiet() && tls.role() == tls::PROGRAM
}

/// The calling thread, if it records the program and the recorder says that this is wanted. There
/// may be no room for its events.
#[inline(always)]
pub(crate) fn recording_if(wanted: impl FnOnce(&Recorder) -> bool) -> Option<Active> {
    let recorder = current::recorder_or_due()?;
    let tls = block();
    (wanted(recorder) && records(recorder, tls)).then_some(Active { tls, recorder })
}

/// The calling thread, if a call from the code at `caller` is recorded.
#[inline(always)]
pub(crate) fn active(caller: usize) -> Option<Active> {
    let a = recording_if(|recorder| recorder.callers.contains(caller));
    a.inspect(|a| a.recorder.make_room(a.tls))
}

/// The calling thread, if it records the program.
pub(crate) fn recording() -> Option<Active> {
    recording_if(|_| true).inspect(|a| a.recorder.make_room(a.tls))
}

/// Begins or ends the region of interest (`contech/observe.h`).
fn mark_region(begins: bool) {
    if let Some(a) = recording() {
        a.recorder.mark_region(a.tls, begins);
    }
}

pub(crate) extern "C" fn region_begin() {
    mark_region(true);
}

pub(crate) extern "C" fn region_end() {
    mark_region(false);
}

/// The calling thread, if it has recorded something and its allocations are recorded. The calls of
/// any code count, except those that one allocation function makes to another.
#[inline(always)]
pub(crate) fn allocating() -> Option<Active> {
    let recorder = current::recorder()?;
    let tls = block();
    (!tls.cursor().is_null() && records(recorder, tls) && !tls.is_allocating())
        .then_some(Active { tls, recorder })
}

/// The calling thread as from `allocating`, if the call does not come from the dynamic linker (see
/// [`loader`]).
#[inline(always)]
pub(crate) fn allocating_for(caller: usize) -> Option<Active> {
    allocating().filter(|_| !loader::contains(caller))
}

impl Active {
    /// Ticks now, where an operation begins.
    #[inline(always)]
    pub(crate) fn now(self) -> u64 {
        self.recorder.before(self.tls)
    }

    /// Ticks now, where an operation happens that does not wait, or a value that leaves the time
    /// open.
    #[inline(always)]
    pub(crate) fn moment(self) -> u64 {
        self.recorder.moment(self.tls)
    }

    /// The next ticket of the object at this address.
    #[inline(always)]
    pub(crate) fn ticket(self, object: usize) -> u64 {
        TICKETS.next(&owners::me(self.tls), object)
    }

    /// Ticks of a wait since `before`.
    #[inline(always)]
    pub(crate) fn since(self, before: u64) -> u64 {
        self.recorder.waited(self.tls, before)
    }

    /// Records an event at `before` that took `duration`, in the object's order at `ticket`.
    #[inline(always)]
    pub(crate) fn timed(self, op: SyncOp, object: Ptr, ticket: u64, before: u64, duration: u64) {
        self.with_aux(op, object, ticket, 0, before, duration);
    }

    /// Records an event as `timed` does, with an extra number.
    #[inline(always)]
    pub(crate) fn with_aux(
        self,
        op: SyncOp,
        object: Ptr,
        ticket: u64,
        aux: u64,
        before: u64,
        duration: u64,
    ) {
        self.recorder
            .sync(self.tls, Sync { op, object: object.addr(), ticket, aux, before, duration });
    }

    /// Records an event at `before` that took `duration`, with the next ticket of the object, which
    /// this returns.
    #[inline(always)]
    pub(crate) fn in_order(
        self,
        op: SyncOp,
        object: Ptr,
        aux: u64,
        before: u64,
        duration: u64,
    ) -> u64 {
        let object = object.addr();
        let event = Sync { op, object, ticket: 0, aux, before, duration };
        self.recorder.sync_in_order(self.tls, event, || self.ticket(object))
    }

    /// Records an event that just happened and took no time worth measuring.
    #[inline(always)]
    pub(crate) fn instant(self, op: SyncOp, object: Ptr, aux: u64) {
        self.in_order(op, object, aux, self.moment(), 0);
    }
}

impl Active {
    /// Records that `call` makes an object with an extra number.
    #[inline(always)]
    pub(crate) fn create(self, object: Ptr, number: u64, call: impl FnOnce() -> i32) -> i32 {
        let result = call();
        if result == 0 {
            self.instant(SyncOp::ObjectInit, object, number);
        }
        result
    }

    /// Records that `call` ends an object. `call` may have no result.
    #[inline(always)]
    pub(crate) fn destroy<R: Default + PartialEq>(
        self,
        object: Ptr,
        call: impl FnOnce() -> R,
    ) -> R {
        let result = call();
        if result == R::default() {
            self.instant(SyncOp::ObjectDestroy, object, 0);
        }
        result
    }

    /// Records that the object is acquired. This tries first, because a free lock then costs one
    /// time stamp, and only a contended one costs two.
    #[inline(always)]
    pub(crate) fn acquire_free(
        self,
        family: Family,
        op: SyncOp,
        object: Ptr,
        try_now: impl FnOnce() -> i32,
        wait: impl FnOnce() -> i32,
    ) -> i32 {
        // SAFETY: the program passes a valid object, and this is an operation of mutexes.
        if op == SyncOp::MutexLock && unsafe { functions::is_robust(object) } {
            return self.acquire(family, op, object, wait);
        }
        let Some(result) = family.try_first(try_now) else {
            return self.acquire(family, op, object, wait);
        };
        match family.answer(result) {
            Answer::Taken => self.instant(op, object, 0),
            _ => self.failed(op, object, result),
        }
        result
    }

    /// Records that an object could not be acquired because it is none: it was destroyed.
    fn failed(self, op: SyncOp, object: Ptr, result: i32) {
        if result == libc::EINVAL {
            self.timed(op.failed(), object, 0, self.now(), 0);
        }
    }

    /// Records that the object is acquired by a call that may wait.
    #[inline(always)]
    pub(crate) fn acquire(
        self,
        family: Family,
        op: SyncOp,
        object: Ptr,
        wait: impl FnOnce() -> i32,
    ) -> i32 {
        let before = self.now();
        let result = wait();
        match family.answer(result) {
            Answer::Taken => {
                self.in_order(op, object, 0, before, self.since(before));
            }
            Answer::Late => self.timed(op.failed(), object, 0, before, self.since(before)),
            Answer::Busy | Answer::Failed => self.failed(op, object, result),
        }
        result
    }

    /// Records an attempt to acquire the object without waiting.
    #[inline(always)]
    pub(crate) fn attempt(
        self,
        family: Family,
        op: SyncOp,
        object: Ptr,
        call: impl FnOnce() -> i32,
    ) -> i32 {
        let result = call();
        match family.answer(result) {
            Answer::Taken => match self.recorder.tried_since(self.tls, object.addr()) {
                Some(before) => {
                    self.in_order(op, object, 0, before, self.since(before));
                }
                None => self.instant(op, object, 0),
            },
            Answer::Busy => self.recorder.tried(self.tls, op, object.addr()),
            Answer::Late | Answer::Failed => self.failed(op, object, result),
        }
        result
    }

    /// Records that `call` waits for something outside of the program. If a signal handler records
    /// something meanwhile, the time is that of the code around the call.
    #[inline(always)]
    pub(crate) fn sleep<R>(self, call: impl FnOnce() -> R) -> R {
        let (before, cursor) = (self.now(), self.tls.cursor());
        let result = call();
        if self.tls.cursor() == cursor {
            self.timed(SyncOp::Sleep, std::ptr::null_mut(), 0, before, self.since(before));
        }
        result
    }

    /// Records that something is given to others through this object, if there is one.
    #[inline(always)]
    pub(crate) fn sends(self, object: Option<Ptr>) {
        if let Some(object) = object {
            self.instant(SyncOp::Send, object, 0);
        }
    }

    /// Records that `call` takes something through the object that `through` names for the result.
    #[inline(always)]
    pub(crate) fn receives<R>(
        self,
        call: impl FnOnce() -> R,
        through: impl FnOnce(&R) -> Option<Ptr>,
    ) -> R {
        let before = self.now();
        let result = call();
        if let Some(object) = through(&result) {
            self.in_order(SyncOp::Receive, object, 0, before, self.since(before));
        }
        result
    }

    /// Records that the object is released. The ticket is drawn, and the event recorded, while the
    /// object is still held.
    #[inline(always)]
    pub(crate) fn release(self, op: SyncOp, object: Ptr, release: impl FnOnce() -> i32) -> i32 {
        self.announce(op, object, self.moment(), release, |&result| (result == 0).then_some(0))
    }

    /// Records an event in the object's order before `call` does what the event tells of. `done`
    /// returns the event's extra number for the result, or `None` if nothing was done.
    #[inline(always)]
    pub(crate) fn announce<R>(
        self,
        op: SyncOp,
        object: Ptr,
        before: u64,
        call: impl FnOnce() -> R,
        done: impl FnOnce(&R) -> Option<u64>,
    ) -> R {
        let object = object.addr();
        let event = Sync { op, object, ticket: 0, aux: 0, before, duration: 0 };
        let draw = || match op {
            // Who takes the mutex next draws after this.
            SyncOp::MutexUnlock => TICKETS.last(object),
            _ => self.ticket(object),
        };
        self.recorder.announce(self.tls, event, draw, call, done)
    }
}
