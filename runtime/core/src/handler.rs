#![allow(
    unsafe_code,
    reason = "runs on a stack of its own where the handler's is the program's alternate one"
)]
//! Enters and leaves the levels of the program's signal handlers.
//!
//! A handler's alternate stack may have little more room than the handler takes. From its first
//! handler on such a stack on, a thread has a stack of its own for what takes more than a few
//! hundred bytes.

use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::arch::{self, Registers};
use contech_trace::event::Event;

use crate::inner::{Inner, Status};
use crate::level::{Level, MOST, StackRange};
use crate::losses::Loss;
use crate::mask::Blocked;
use crate::memory;
use crate::recorder::Recorder;
use crate::registry;
use crate::scratch;
use crate::thread::{NO_CONTEXT, Thread};
use crate::tls::{self, Cursors, Lane, TlsBlock};

/// Runs `f`, which no handler interrupts, on the thread's own stack, if it has one.
pub(crate) fn on_own_stack<R>(tls: &TlsBlock, _: &Blocked, f: impl FnOnce() -> R) -> R {
    // SAFETY: the stack is this thread's, and no handler of it can run meanwhile.
    unsafe { arch::on_own_stack(tls.own_stack.load(Relaxed), f) }
}

/// The memory stays with the state of the thread, which another thread takes over in the end.
fn give_own_stack(thread: &Thread, tls: &TlsBlock) {
    let mut top = thread.own_stack.load(Relaxed);
    if top == 0
        && let Some(stack) = memory::map(arch::OWN_STACK)
    {
        top = stack.expose_provenance() + arch::OWN_STACK;
        thread.own_stack.store(top, Relaxed);
    }
    tls.own_stack.store(top, Relaxed);
}

/// What a signal handler must give back when it returns.
#[derive(Debug)]
pub enum Entered {
    /// The thread does not record, so nothing was changed.
    Not,
    /// The handler's records go to the level with this number.
    Level(usize),
    /// Too many handlers run on top of each other, so this one is not recorded.
    TooDeep(Cursors),
    /// The handler interrupts a library that is not recorded, and so is no part of what is.
    InLibrary(Cursors),
}

/// Where a handler runs, and what it interrupted.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// An address in the handler's stack frame.
    pub mark: usize,
    /// The alternate stack, if the handler runs on one.
    pub stack: Option<StackRange>,
    /// General registers of the interrupted code.
    pub registers: Registers,
    /// The interrupted code waits in a system call, so all its records are in place.
    pub in_call: bool,
}

impl Recorder {
    /// Begins the level of a signal handler in this thread. Give the result to
    /// [`Recorder::leave_handler`].
    pub fn enter_handler(&self, tls: &TlsBlock, entry: &Entry) -> Entered {
        let Some(thread) = registry::current(tls) else {
            return Entered::Not;
        };
        if tls.is_quiet() || !tls.takes_part() || !self.is_recording() {
            return Entered::Not;
        }
        let blocked = Blocked::new();
        if entry.stack.is_some() && tls.own_stack.load(Relaxed) == 0 {
            give_own_stack(thread, tls);
        }
        on_own_stack(tls, &blocked, || self.enter_level(tls, thread, entry, &blocked))
    }

    fn enter_level(
        &self,
        tls: &TlsBlock,
        thread: &Thread,
        entry: &Entry,
        blocked: &Blocked,
    ) -> Entered {
        if tls.role() == tls::LIBRARY {
            let saved = tls.cursors();
            self.counters.losses.note(Loss::Library);
            tls.set_role(tls::ENDED);
            scratch::all_last_resort(tls);
            return Entered::InLibrary(saved);
        }
        let mut inner = thread.lock(blocked);
        tls.reset_spin();
        let saved = tls.cursors();
        if inner.depth == MOST {
            self.counters.losses.note(Loss::Depth);
            scratch::all_last_resort(tls);
            return Entered::TooDeep(saved);
        }
        let depth = inner.depth;
        for lane in Lane::ALL {
            inner.tape(depth, lane).saved = saved[lane as usize];
            tls.set_at(lane, inner.tape(depth + 1, lane).resting());
        }
        inner.depth = depth + 1;
        tls.set_handlers(depth + 1);
        let level = &mut inner.levels[depth + 1];
        level.mark = entry.mark;
        level.stack = entry.stack;
        level.registers = entry.registers;
        level.in_call = entry.in_call;
        Entered::Level(depth + 1)
    }

    /// Ends the level of a signal handler. If `returned` is false, an exception or the end of its
    /// thread leaves the handler, and the code that it interrupted never goes on
    /// ([`Recorder::jump`]).
    pub fn leave_handler(&'static self, tls: &TlsBlock, entered: &Entered, returned: bool) {
        tls.reset_spin();
        match *entered {
            Entered::Not => {}
            Entered::TooDeep(saved) | Entered::InLibrary(saved) => {
                if matches!(entered, Entered::InLibrary(_)) {
                    tls.set_role(tls::LIBRARY);
                }
                tls.set_cursors(saved);
            }
            Entered::Level(level) if !returned => {
                self.abandon(tls, |inner| inner.depth.min(level - 1));
            }
            Entered::Level(level) => {
                let Some(thread) = registry::current(tls) else {
                    return;
                };
                let blocked = Blocked::new();
                on_own_stack(tls, &blocked, || {
                    let mut inner = thread.lock(&blocked);
                    if inner.depth >= level {
                        self.leave_to(thread, &mut inner, tls, level - 1);
                        self.pass_on(thread, &mut inner, tls);
                    }
                });
            }
        }
    }

    /// Leaves the handlers that were entered below the stack pointer `target`, because a jump is
    /// about to leave them. Where possible, registers tell what the interrupted code recorded
    /// beyond its thread-local cursor. Only for code that waited in a system call it is certain
    /// that nothing is missing. For any other code an event says that records were lost here: the
    /// code's cursor may have been in memory, and its registers may hold older ones.
    pub fn jump(&'static self, tls: &TlsBlock, target: usize) {
        if tls.handlers() == 0 {
            return;
        }
        let left = |level: &Level| match level.stack {
            Some((low, high)) => target < low || target >= high || target > level.mark,
            None => target > level.mark,
        };
        self.abandon(tls, |inner| {
            let mut depth = inner.depth;
            while depth > 0 && left(&inner.levels[depth]) {
                depth -= 1;
            }
            depth
        });
    }

    /// Leaves the handlers above the level that `to` returns, and the code that they interrupted.
    fn abandon(&'static self, tls: &TlsBlock, to: impl FnOnce(&Inner) -> usize) {
        let Some(thread) = registry::current(tls) else {
            return;
        };
        let mut whole = true;
        {
            let blocked = Blocked::new();
            let _quiet = tls.quiet();
            let mut inner = thread.lock(&blocked);
            let depth = to(&inner);
            if depth == inner.depth {
                return;
            }
            for depth in depth..inner.depth {
                whole &= self.recover(&mut inner, depth);
            }
            tls.announces.store(false, Relaxed);
            self.leave_to(thread, &mut inner, tls, depth);
        }
        if !whole {
            self.counters.losses.note(Loss::Jump);
            self.put(tls, &Event::Lost { bytes: 0 });
        }
    }

    /// Moves the saved cursor of an interrupted level to where the registers say that its code was.
    /// Returns true if nothing can be missing.
    fn recover(&self, inner: &mut Inner, depth: usize) -> bool {
        let (registers, in_call) = {
            let above = &inner.levels[depth + 1];
            (above.registers, above.in_call)
        };
        if in_call {
            return true;
        }
        let tape = inner.tape(depth, Lane::Stream);
        let found = tape
            .buffer
            .as_ref()
            .and_then(|buffer| self.cursor_ahead(buffer, tape.saved, &registers));
        if let Some(cursor) = found {
            tape.saved.0 = cursor;
        }
        false
    }

    /// Hands over what handlers recorded, if they filled a buffer and the code that they
    /// interrupted waits in a system call, from which it may not return for long. Handlers must not
    /// wait for the writer, so this leaves the buffers where they are when too many are queued.
    fn pass_on(&'static self, thread: &Thread, inner: &mut Inner, tls: &TlsBlock) {
        let filled = Lane::ALL.map(|lane| !inner.tape(0, lane).deeper.is_empty());
        let waits = inner.depth == 0 && inner.levels[1].in_call && !tls.announces.load(Relaxed);
        if !filled.contains(&true)
            || !waits
            || inner.status != Status::Live
            || !self.desk.queue.has_room()
        {
            return;
        }
        for lane in Lane::ALL {
            let at = (tls.at(lane).0, self.clock.now());
            if !self.desk.pass_on(thread.context(), inner, lane, at) {
                self.counters.losses.note(Loss::Cursor);
            }
        }
    }

    fn leave_to(&'static self, thread: &Thread, inner: &mut Inner, tls: &TlsBlock, depth: usize) {
        let now = self.clock.now();
        tls.reset_spin();
        // The next handler may run in another context, with which its buffer must begin.
        let may_rest = thread.entered.load(Relaxed) == NO_CONTEXT;
        while inner.depth > depth {
            for lane in Lane::ALL {
                self.leave_tape(inner, tls, (lane, may_rest), now);
            }
            inner.depth -= 1;
            tls.set_handlers(inner.depth);
        }
    }

    fn leave_tape(
        &'static self,
        inner: &mut Inner,
        tls: &TlsBlock,
        (lane, may_rest): (Lane, bool),
        now: u64,
    ) {
        let (depth, cursor) = (inner.depth, tls.at(lane).0);
        let mut whole = self.desk.gather(inner, (depth, lane), now);
        let tape = inner.tape(depth, lane);
        let rests = may_rest && tape.rest(cursor);
        if !rests {
            let (part, all) = tape.take(depth, cursor, now);
            whole &= all;
            let mut deeper = std::mem::take(&mut tape.deeper);
            let below = &mut inner.tape(depth - 1, lane).deeper;
            self.desk.keep(below, part);
            below.append(&mut deeper);
        }
        if !whole && inner.status == Status::Live {
            self.counters.losses.note(Loss::Cursor);
        }
        let below = inner.tape(depth - 1, lane);
        let (cursor, limit) = below.saved;
        // A null limit makes the next check or event of the interrupted code take the slow path.
        let due = rests || !below.deeper.is_empty();
        tls.set_at(lane, (cursor, if due { std::ptr::null_mut() } else { limit }));
    }
}
