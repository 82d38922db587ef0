//! Whether a call is one to record, and by whom it was made.

use contech_guest::functions::{Answer, Family};
use contech_runtime_core::append::Sync;
use contech_runtime_core::tickets::Tickets;
use contech_runtime_core::{Recorder, TlsBlock, tls};
use contech_trace::event::SyncOp;

use crate::current;
use crate::loader;
use crate::real::Ptr;
use crate::tls::block;

/// Order of every object; survives forks, as the objects do.
pub(crate) static TICKETS: Tickets = Tickets::new();

/// A thread that records, with its recorder.
#[derive(Clone, Copy)]
pub(crate) struct Active {
    pub(crate) tls: &'static TlsBlock,
    pub(crate) recorder: &'static Recorder,
}

/// The calling thread, if a call from the code at `caller` is recorded.
#[inline(always)]
pub(crate) fn active(caller: usize) -> Option<Active> {
    let recorder = current::recorder_or_due()?;
    let tls = block();
    let records = recorder.callers.contains(caller)
        && recorder.is_recording()
        && !tls.is_quiet()
        && tls.role() == tls::PROGRAM;
    if !records {
        return None;
    }
    recorder.make_room(tls);
    Some(Active { tls, recorder })
}

/// The calling thread, if it has recorded something and its allocations are recorded: the calls of
/// whichever code, but not those an allocation function makes for another.
#[inline(always)]
pub(crate) fn allocating() -> Option<Active> {
    let recorder = current::recorder()?;
    let tls = block();
    (!tls.cursor().is_null()
        && recorder.is_recording()
        && !tls.is_quiet()
        && !tls.is_allocating()
        && tls.role() == tls::PROGRAM)
        .then_some(Active { tls, recorder })
}

/// The same, if the call does not come from the dynamic linker (see [`loader`]).
#[inline(always)]
pub(crate) fn allocating_for(caller: usize) -> Option<Active> {
    allocating().filter(|_| !loader::contains(caller))
}

impl Active {
    /// Ticks now.
    #[inline(always)]
    pub(crate) fn now(self) -> u64 {
        self.recorder.clock.now()
    }

    /// Ticks since `before`; another core's counter may be a few behind.
    #[inline(always)]
    pub(crate) fn since(self, before: u64) -> u64 {
        self.now().saturating_sub(before)
    }

    /// Records an event at `before` that took `duration`, in the object's order at `ticket`.
    #[inline(always)]
    pub(crate) fn timed(self, op: SyncOp, object: Ptr, ticket: u64, before: u64, duration: u64) {
        self.with_aux(op, object, ticket, 0, before, duration);
    }

    /// The same with an extra number.
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
        self.recorder.sync(
            self.tls,
            Sync {
                op,
                object: object.addr(),
                ticket,
                aux,
                before,
                duration,
            },
        );
    }

    /// Records an event that just happened and took no time worth measuring.
    #[inline(always)]
    pub(crate) fn instant(self, op: SyncOp, object: Ptr, aux: u64) {
        let ticket = TICKETS.next(object.addr());
        self.with_aux(op, object, ticket, aux, self.now(), 0);
    }
}

impl Active {
    /// Makes an object, which has a number.
    #[inline(always)]
    pub(crate) fn create(self, object: Ptr, number: u64, call: impl FnOnce() -> i32) -> i32 {
        let result = call();
        if result == 0 {
            self.instant(SyncOp::ObjectInit, object, number);
        }
        result
    }

    /// Ends an object; the function may have no result.
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

    /// Acquires: tries first, for a free lock costs one time stamp and a fought-over one two.
    #[inline(always)]
    pub(crate) fn acquire<F: Family>(
        self,
        op: SyncOp,
        object: Ptr,
        try_now: impl FnOnce() -> i32,
        wait: impl FnOnce() -> i32,
    ) -> i32 {
        let result = F::try_first(try_now);
        if F::answer(result) == Answer::Taken {
            self.instant(op, object, 0);
            return result;
        }
        let before = self.now();
        let result = wait();
        match F::answer(result) {
            Answer::Taken => {
                let ticket = TICKETS.next(object.addr());
                self.timed(op, object, ticket, before, self.since(before));
            }
            Answer::Late => self.timed(op.failed(), object, 0, before, self.since(before)),
            Answer::Busy | Answer::Failed => {}
        }
        result
    }

    /// Acquires if nobody has the object.
    #[inline(always)]
    pub(crate) fn attempt<F: Family>(
        self,
        op: SyncOp,
        object: Ptr,
        call: impl FnOnce() -> i32,
    ) -> i32 {
        let result = call();
        match F::answer(result) {
            Answer::Taken => self.instant(op, object, 0),
            Answer::Busy => self.timed(op.failed(), object, 0, self.now(), 0),
            Answer::Late | Answer::Failed => {}
        }
        result
    }

    /// Releases: the ticket is drawn, and the event recorded, while the object is still held.
    #[inline(always)]
    pub(crate) fn release(self, op: SyncOp, object: Ptr, release: impl FnOnce() -> i32) -> i32 {
        self.announce(op, object, release, |&result| (result == 0).then_some(0))
    }

    /// Records an event of the object's order before `call` does what it tells of; `done` says of the result the event's
    /// extra number, or that nothing was done.
    #[inline(always)]
    pub(crate) fn announce<R>(
        self,
        op: SyncOp,
        object: Ptr,
        call: impl FnOnce() -> R,
        done: impl FnOnce(&R) -> Option<u64>,
    ) -> R {
        let event = Sync {
            op,
            object: object.addr(),
            ticket: TICKETS.next(object.addr()),
            aux: 0,
            before: self.now(),
            duration: 0,
        };
        self.recorder.announce(self.tls, event, call, done)
    }
}
