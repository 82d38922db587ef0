//! Threads that run one context after another, as OpenMP's do. What a thread records belongs to its
//! own context until it enters another one; a [`Event::Switch`] in the stream says so.

use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::arch::ticks;
use contech_trace::event::{Arrival, EndReason, Event, NOWHERE, TEAM_STREAMS};

use crate::desk::HandOff;
use crate::inner::Status;
use crate::mask::Blocked;
use crate::memory::Errno;
use crate::recorder::Recorder;
use crate::registry;
use crate::thread::{NO_CONTEXT, Thread};
use crate::tls::{Lane, TlsBlock};

impl Recorder {
    /// Prepares the calling thread, which a library made to run the contexts it will enter. It has
    /// no context of its own.
    pub fn join_team(&'static self, tls: &TlsBlock) {
        if tls.is_quiet() || !self.is_recording() {
            return;
        }
        let _errno = Errno::save();
        let blocked = Blocked::new();
        let _quiet = tls.quiet();
        let Some(thread) = registry::current(tls).or_else(|| self.attach(tls)) else {
            return;
        };
        if thread.context() == NO_CONTEXT {
            let stream = self.next_stream.fetch_add(1, Relaxed);
            thread.context.store(stream, Relaxed);
            thread.announced.store(true, Relaxed);
            thread.lock(&blocked).introduced = true;
            tls.set_parked(true);
        }
    }

    /// The context that the calling thread records for; `None` if it has none.
    pub fn current_context(&self, tls: &TlsBlock) -> Option<u32> {
        let thread = registry::current(tls)?;
        let entered = thread.entered.load(Relaxed);
        let context = if entered == NO_CONTEXT { thread.context() } else { entered };
        (context < TEAM_STREAMS).then_some(context)
    }

    /// The context of the calling thread itself; `None` if it has none (yet).
    pub fn own_context(&self, tls: &TlsBlock) -> Option<u32> {
        let own = registry::current(tls)?.context();
        (own < TEAM_STREAMS).then_some(own)
    }

    /// Makes what the calling thread records from now on belong to this context.
    pub fn enter(&'static self, tls: &TlsBlock, context: u32, piece: u32, how: Arrival) {
        self.make_room(tls);
        let Some(thread) = registry::current(tls) else {
            return;
        };
        // The stream belongs to no context, or to one that waits.
        let at = self.clock.now();
        tls.stamps().note(ticks());
        self.put(tls, &Event::Switch { context, piece, how, at });
        if how == Arrival::Begins {
            thread.count_begun();
        }
        let own = context == thread.context();
        thread.piece.store(piece, Relaxed);
        tls.set_parked(own && context >= TEAM_STREAMS);
        let entered = if own { NO_CONTEXT } else { context };
        thread.entered.store(entered, Relaxed);
    }

    /// Ends the context that the calling thread has entered. Until the thread enters another one,
    /// it has none but its own.
    pub fn end_entered(&'static self, tls: &TlsBlock) {
        let Some(thread) = registry::current(tls) else {
            return;
        };
        let (reason, at) = (EndReason::Finished, self.before(tls));
        self.put(tls, &Event::ContextEnd { reason, at });
        thread.entered.store(NO_CONTEXT, Relaxed);
        tls.set_parked(thread.context() >= TEAM_STREAMS);
    }

    /// Hands over what the calling thread has recorded. The context that it leaves may go on in
    /// another thread, whose records must come later in the file. Another context must be entered
    /// next.
    pub fn publish(&'static self, tls: &TlsBlock) {
        let Some(thread) = registry::current(tls) else {
            return;
        };
        if thread.entered.load(Relaxed) != NO_CONTEXT {
            self.enter(tls, thread.context(), 0, Arrival::Waits);
        }
        self.hand_over(tls, thread);
    }

    pub(crate) fn hand_over(&'static self, tls: &TlsBlock, thread: &Thread) {
        let _errno = Errno::save();
        let blocked = Blocked::new();
        let _quiet = tls.quiet();
        // The event of the spin-wait is about to leave the thread's hands, so it cannot count more
        // tries.
        tls.forget_spin();
        let mut inner = thread.lock(&blocked);
        if inner.status == Status::Live && inner.depth == 0 {
            let (context, now) = (thread.context(), self.clock.now());
            let place = (0, Lane::Stream);
            self.desk.part_of(context, &mut inner, place, (tls.cursor(), now), HandOff::Lend);
            self.serve();
        }
    }
}

impl Thread {
    /// The event that says, at the start of a chunk, which context the thread is in; `None` if that
    /// is its own.
    pub(crate) fn stay(&self, at: u64) -> Option<Event> {
        self.stays_in(self.entered.load(Relaxed), at)
    }

    /// The context of a task that the thread has entered and not ended, or [`NO_CONTEXT`].
    pub(crate) fn task(&self) -> u32 {
        match self.entered.load(Relaxed) {
            NOWHERE => self.outside.load(Relaxed),
            entered => entered,
        }
    }

    /// The event of [`Thread::stay`] for a context that was entered.
    pub(crate) fn stays_in(&self, context: u32, at: u64) -> Option<Event> {
        let piece = self.piece.load(Relaxed);
        (context != NO_CONTEXT).then_some(Event::Switch { context, piece, how: Arrival::Stays, at })
    }
}
