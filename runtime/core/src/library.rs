//! Libraries that run tasks, and whose own code is not recorded (rayon). A thread in such a library
//! is nowhere ([`NOWHERE`]): instrumented code writes as ever, and what it writes is taken back, or
//! belongs to no context. Between [`Recorder::begin_task`] and [`Recorder::end_task`] the thread is
//! in the context of a task.

use std::sync::atomic::Ordering::Relaxed;

use contech_trace::event::{Arrival, Event, NOWHERE, SyncOp};

use crate::append::{Sync, encode_at};
use crate::recorder::Recorder;
use crate::registry;
use crate::thread::{NO_CONTEXT, Thread};
use crate::tls::{LIBRARY, Lane, PROGRAM, TlsBlock};

/// Bytes of a thread's stack below a task that are marked as new.
const STACK: usize = 1 << 20;
/// Bytes of the stack frame that runs a task. The compiler may let the task write what the frame's
/// function writes.
const FRAME: usize = 1 << 10;

/// What a thread has to come back to.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Kept {
    /// Ticks when the thread entered a library, or the frame from which it did so when it began a
    /// task.
    pub before: u64,
    /// The context that it had entered, [`NO_CONTEXT`] for its own.
    context: u32,
    how: u32,
}

/// The call changed nothing, so its counterpart does not, either.
const NOTHING: u32 = 0;
const FROM_PROGRAM: u32 = 1;
const FROM_LIBRARY: u32 = 2;

impl Kept {
    /// For calls that change nothing.
    pub const NOTHING: Self = Kept { before: 0, context: NO_CONTEXT, how: NOTHING };

    /// Whether the call changed something.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.how != NOTHING
    }
}

impl Recorder {
    /// Makes the calling thread, which a library made, one that is in the library whenever it runs
    /// no task.
    pub fn begin_in_library(&'static self, tls: &TlsBlock, base: usize) {
        self.join_team(tls);
        self.make_room(tls);
        if let Some(thread) = registry::current(tls) {
            thread.base.store(base, Relaxed);
            thread.top.store(base, Relaxed);
            self.go_nowhere(tls, thread, NO_CONTEXT, false);
        }
    }

    /// An address in the first stack frame of the calling thread, if a library made it.
    pub fn base(&self, tls: &TlsBlock) -> Option<usize> {
        let base = registry::current(tls)?.base.load(Relaxed);
        (base != 0).then_some(base)
    }

    /// The calling thread enters a library, from the stack frame at `here`. A thread that is in one
    /// already stays there.
    pub fn enter_library(&'static self, tls: &TlsBlock, here: usize) -> Kept {
        if tls.role() != PROGRAM || tls.handlers() > 0 {
            return Kept::NOTHING;
        }
        self.make_room(tls);
        let Some(thread) = registry::current(tls) else {
            return Kept::NOTHING;
        };
        let before = self.before(tls);
        let context = thread.entered.load(Relaxed);
        thread.top.store(here, Relaxed);
        self.go_nowhere(tls, thread, context, true);
        Kept { before, context, how: FROM_PROGRAM }
    }

    /// The calling thread leaves the library that it entered, to the stack frame at `here`. Returns
    /// whether other contexts ran in it meanwhile.
    pub fn leave_library(
        &'static self,
        tls: &TlsBlock,
        kept: &Kept,
        how: Arrival,
        here: usize,
    ) -> bool {
        let Some(thread) = registry::current(tls).filter(|_| kept.counts()) else {
            return false;
        };
        let whole = Self::leave_nowhere(tls, thread);
        if whole && thread.direct.load(Relaxed) {
            thread.entered.store(kept.context, Relaxed);
            return false;
        }
        self.come_back(tls, thread, kept.context, how);
        self.fresh_stack(tls, here, here);
        true
    }

    /// The calling thread leaves the scope that others wait for.
    pub fn leave_scope(&self, tls: &TlsBlock) {
        if let Some(thread) = registry::current(tls) {
            thread.left.store(true, Relaxed);
        }
    }

    /// The calling thread begins to wait, from the stack frame at `here`. What it does meanwhile is
    /// a library's.
    pub fn begin_wait(&'static self, tls: &TlsBlock, here: usize) {
        let kept = self.enter_library(tls, here);
        if let Some(thread) = registry::current(tls) {
            thread.waits.store(kept.before, Relaxed);
        }
    }

    /// Ends the wait that the calling thread began, in the stack frame at `here`. Returns the ticks
    /// when it began.
    pub fn end_wait(&'static self, tls: &TlsBlock, here: usize) -> Option<u64> {
        let thread = registry::current(tls)?;
        let kept = Kept {
            before: thread.waits.load(Relaxed),
            context: thread.outside.load(Relaxed),
            how: FROM_PROGRAM,
        };
        self.leave_library(tls, &kept, Arrival::Waits, here);
        Some(kept.before)
    }

    fn come_back(&'static self, tls: &TlsBlock, thread: &Thread, context: u32, how: Arrival) {
        let context = if context == NO_CONTEXT { thread.context() } else { context };
        self.enter(tls, context, 0, how);
    }

    /// Records that the calling thread's context generates a task, and returns the task's context.
    /// `None` in a thread that has no context.
    pub fn create_task(&'static self, tls: &TlsBlock, op: SyncOp) -> Option<u32> {
        let thread = registry::current(tls)?;
        let context = thread.outside.load(Relaxed);
        let inside = tls.role() == LIBRARY;
        if inside {
            if context == NO_CONTEXT && self.own_context(tls).is_none() {
                return None;
            }
            let kept = Kept { before: 0, context, how: FROM_PROGRAM };
            self.leave_library(tls, &kept, Arrival::Waits, thread.top.load(Relaxed));
        }
        let task = self.reserve_contexts(1);
        let event = Sync {
            op,
            object: task as usize,
            ticket: 0,
            aux: 0,
            before: self.before(tls),
            duration: 0,
        };
        self.sync(tls, event);
        if inside {
            self.go_nowhere(tls, thread, context, true);
        }
        Some(task)
    }

    /// Begins a task in the calling thread, in the stack frame at `here`. A task whose context is
    /// not known gets one.
    pub fn begin_task(&'static self, tls: &TlsBlock, task: Option<u32>, here: usize) -> Kept {
        let task = task.unwrap_or_else(|| self.reserve_contexts(1));
        self.run_task(tls, (task, 0), Arrival::Begins, here)
    }

    /// Runs this piece of a task in the calling thread, in the stack frame at `here`.
    pub fn run_task(
        &'static self,
        tls: &TlsBlock,
        (task, piece): (u32, u32),
        how: Arrival,
        here: usize,
    ) -> Kept {
        self.make_room(tls);
        let Some(thread) = registry::current(tls) else {
            return Kept::NOTHING;
        };
        let inside = tls.role() == LIBRARY;
        let (context, from) = if inside {
            Self::leave_nowhere(tls, thread);
            (thread.outside.load(Relaxed), FROM_LIBRARY)
        } else {
            (thread.entered.load(Relaxed), FROM_PROGRAM)
        };
        self.enter(tls, task, piece, how);
        // The library's frames are no task's.
        let top = thread.top.load(Relaxed);
        self.fresh_stack(tls, here, top.max(here.saturating_add(FRAME)));
        Kept { before: top as u64, context, how: from }
    }

    /// Marks the stack below the frame at `here`, up to `top`: nothing orders what other tasks left
    /// there.
    fn fresh_stack(&'static self, tls: &TlsBlock, here: usize, top: usize) {
        let low = here.saturating_sub(STACK);
        let (addr, size) = (low as u64, top.saturating_sub(low) as u64);
        self.put(tls, &Event::Fresh { addr, size });
    }

    /// Ends the task that the calling thread began. The thread is in the stack frame at `here`.
    pub fn end_task(&'static self, tls: &TlsBlock, kept: &Kept, here: usize) {
        let Some(thread) = registry::current(tls).filter(|_| kept.counts()) else {
            return;
        };
        self.make_room(tls);
        self.end_entered(tls);
        self.after_task(tls, thread, kept, here);
    }

    /// Leaves the task that the calling thread runs in the stack frame at `here`. Another thread
    /// may run its next piece.
    pub fn leave_task(&'static self, tls: &TlsBlock, kept: &Kept, here: usize) {
        let Some(thread) = registry::current(tls).filter(|_| kept.counts()) else {
            return;
        };
        self.make_room(tls);
        if kept.how == FROM_PROGRAM && kept.context == NO_CONTEXT {
            self.after_task(tls, thread, kept, here);
            self.hand_over(tls, thread);
        } else {
            self.publish(tls);
            self.after_task(tls, thread, kept, here);
        }
    }

    fn after_task(&'static self, tls: &TlsBlock, thread: &Thread, kept: &Kept, here: usize) {
        let top = usize::try_from(kept.before).unwrap_or(0);
        thread.top.store(top, Relaxed);
        if kept.how == FROM_LIBRARY {
            self.go_nowhere(tls, thread, kept.context, false);
        } else {
            self.come_back(tls, thread, kept.context, Arrival::Resumes);
            self.fresh_stack(tls, here, here.saturating_add(FRAME));
        }
    }

    /// Makes what the calling thread records belong to no context. `direct` says that what it
    /// recorded last belongs to the context that it comes back to.
    fn go_nowhere(&'static self, tls: &TlsBlock, thread: &Thread, context: u32, direct: bool) {
        thread.outside.store(context, Relaxed);
        thread.direct.store(direct, Relaxed);
        tls.forget_spin();
        let mark = self.room(tls);
        thread.check_mark.store(tls.at(Lane::Check).0, Relaxed);
        thread.entered.store(NOWHERE, Relaxed);
        tls.set_role(LIBRARY);
        self.say_nowhere(tls, thread, mark);
    }

    fn say_nowhere(&self, tls: &TlsBlock, thread: &Thread, mark: *mut u8) {
        let event = Event::Switch {
            context: NOWHERE,
            piece: 0,
            how: Arrival::Resumes,
            at: self.clock.now(),
        };
        tls.set_cursor(encode_at(mark, &event));
        tls.spin().keep(mark);
        thread.mark.store(mark, Relaxed);
    }

    /// Ends what [`Recorder::go_nowhere`] began. Returns whether all that was recorded meanwhile is
    /// taken back.
    fn leave_nowhere(tls: &TlsBlock, thread: &Thread) -> bool {
        let whole = Self::take_back(tls, thread);
        thread.mark.store(std::ptr::null_mut(), Relaxed);
        Self::take_back_check(tls, thread);
        tls.set_role(PROGRAM);
        whole
    }

    /// Takes back what a thread in a library recorded in the second stream. Returns the cursor
    /// there.
    fn take_back_check(tls: &TlsBlock, thread: &Thread) -> *mut u8 {
        let (mark, limit) = (thread.check_mark.load(Relaxed), tls.at(Lane::Check).1);
        if !mark.is_null() {
            tls.set_at(Lane::Check, (mark, limit));
        }
        mark
    }

    /// Takes back what a thread in a library recorded, unless some of that has left the thread's
    /// hands.
    fn take_back(tls: &TlsBlock, thread: &Thread) -> bool {
        let mark = thread.mark.load(Relaxed);
        !mark.is_null() && tls.spin().drop_back(tls.slot()) == mark
    }

    /// Gives a thread in a library the room again that its records took. Otherwise it returns the
    /// cursor to change buffers with.
    pub(crate) fn room_in_library(
        &'static self,
        tls: &TlsBlock,
        lane: Lane,
        cursor: *mut u8,
    ) -> Result<*mut u8, *mut u8> {
        let Some(thread) = registry::current(tls).filter(|_| tls.role() == LIBRARY) else {
            return Err(cursor);
        };
        let limit = tls.at(lane).1;
        let mark = match lane {
            Lane::Check => Self::take_back_check(tls, thread),
            Lane::Stream if limit.is_null() || !Self::take_back(tls, thread) => return Err(cursor),
            Lane::Stream => tls.cursor(),
        };
        if mark.is_null() || limit.is_null() {
            return Err(cursor);
        }
        if lane == Lane::Stream {
            self.say_nowhere(tls, thread, mark);
        }
        let (cursor, room) = (tls.at(lane).0, mark.wrapping_add(Self::WORTH) <= limit);
        if room { Ok(cursor) } else { Err(cursor) }
    }
}
