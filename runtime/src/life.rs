//! What the recorder does about the life of its process: the trace is written out before the
//! program ends, replaces itself or is killed, and each handler's records have a place of their
//! own.
//!
//! The trace ends as late as it can, so that exit handlers, static destructors and those of
//! libraries are still recorded.

use std::ffi::{c_int, c_long};
use std::time::Duration;

use contech_interpose::arch;
use contech_interpose::life::{End, Fatal, Life};
use contech_interpose::mask::Blocked;
use contech_runtime_core::finish::Finish;
use contech_runtime_core::handler::{Entered, Entry};
use contech_runtime_core::{Patience, Recorder};
use contech_trace::event::EndReason;

use crate::atomic;
use crate::channel;
use crate::current::{self, guarded};
use crate::fork;
use crate::futex;
use crate::real::Ptr;
use crate::sandbox;
use crate::tls::block;

/// How long a dying process waits for its writer.
const PATIENCE: Patience =
    Patience { stall: Duration::from_secs(2), total: Duration::from_secs(30) };

/// The recorder's part in the life of the process.
pub(crate) struct Recorded;

contech_interpose::life!(Recorded);

impl Life for Recorded {
    const HANDLES: bool = true;

    fn is_at_home() -> bool {
        !sandbox::is_confined() && current::recorder().is_some_and(Recorder::is_own_process)
    }

    fn end(end: End) {
        let Some(recorder) = current::recorder().filter(|_| !sandbox::is_confined()) else {
            return;
        };
        guarded(|| match end {
            End::Exit => recorder.finish(block(), &Finish::by(EndReason::ProcessExit)),
            End::Exec => recorder.checkpoint(block(), &Finish::by(EndReason::Exec)),
        });
    }

    fn killed(fatal: &Fatal) {
        if let Some(recorder) = current::recorder() {
            let signal = fatal.signal;
            // A signal that the process sent itself came at a call, where every record was in
            // place.
            let note = (!fatal.own).then(|| {
                format!("ended by signal {signal}: records of other running threads may miss their last blocks")
            });
            let how = Finish {
                reason: EndReason::Signal,
                patience: Some(PATIENCE),
                note,
                registers: Some(arch::registers(fatal.context)),
            };
            guarded(|| recorder.finish(block(), &how));
        }
    }

    fn install(signal: c_int, handler: usize) {
        channel::installs_handler(signal, handler);
    }

    fn handle(signal: c_int, context: Ptr, here: usize, handler: impl FnOnce()) {
        let mut leave = enter(context, here);
        if leave.is_some() {
            channel::signal_came(signal);
        }
        handler();
        if let Some(leave) = &mut leave {
            leave.returned = true;
        }
    }

    fn thread_leaves() {
        if current::recorder().is_some_and(end_thread) {
            Self::end(End::Exit);
        }
    }

    fn system_call(
        number: c_long,
        arguments: [usize; 6],
        caller: usize,
        call: impl FnOnce() -> c_long,
    ) -> c_long {
        match number {
            libc::SYS_futex => return futex::futex(arguments, caller, call),
            // SAFETY: the program gives these arguments to the kernel.
            libc::SYS_seccomp => unsafe { sandbox::before_seccomp(arguments) },
            libc::SYS_io_uring_enter => channel::enters_ring(caller),
            _ => {}
        }
        call()
    }

    fn fork_begins() {
        fork::begins();
    }

    fn fork_ends(child: bool) {
        fork::ends(child);
    }

    fn thread_ends(last: bool) {
        let Some(recorder) = current::recorder() else {
            return;
        };
        guarded(|| recorder.check_cancelled(block()));
        if last {
            // What a signal handler does from here on would not be recorded. The C library itself
            // blocks signals a few instructions later.
            let blocked = Blocked::new();
            atomic::forget(block());
            let goes_on = guarded(|| recorder.end_thread(block()));
            if !goes_on.unwrap_or(false) {
                std::mem::forget(blocked);
            }
        }
    }
}

/// Ends the calling thread. Returns whether it is the last one. No handler runs in it any more.
fn end_thread(recorder: &'static Recorder) -> bool {
    // A thread that is not recorded any more may be allowed no other system call.
    if !block().takes_part() || !recorder.is_own_process() {
        return false;
    }
    std::mem::forget(Blocked::new());
    guarded(|| recorder.end_thread(block())).unwrap_or(false)
}

/// Begins the level of a handler. Its frame is gone when the handler runs, whose stack may be
/// small.
#[inline(never)]
fn enter(context: Ptr, here: usize) -> Option<Leave> {
    let recorder = current::recorder()?;
    // SAFETY: the kernel passed the context.
    let entry = unsafe { entry_of(recorder, context, here) };
    Some(Leave { recorder, entered: recorder.enter_handler(block(), &entry), returned: false })
}

/// Takes back the level of a handler when the handler returns, or when an exception or the end of
/// its thread leaves it. (On Linux the unwinding of a thread's end runs this, as it runs the
/// destructors of C++.)
struct Leave {
    recorder: &'static Recorder,
    entered: Entered,
    returned: bool,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.recorder.leave_handler(block(), &self.entered, self.returned);
    }
}

/// # Safety
/// The kernel made the context.
unsafe fn entry_of(recorder: &Recorder, context: Ptr, here: usize) -> Entry {
    // SAFETY: the kernel passes the interrupted context, which says which alternate stack there is
    // and where the code was.
    let context = unsafe { &*context.cast::<libc::ucontext_t>() };
    let (stack, at) = (context.uc_stack, arch::program_counter(context));
    let low = stack.ss_sp.addr();
    let stack = (low, low.wrapping_add(stack.ss_size));
    // System calls are made in the C library, whose range is among those of the callers. After a
    // jump through a wild pointer the program may be anywhere. SAFETY: the address is within an
    // object that stays loaded.
    let in_call = recorder.callers.contains(at) && unsafe { arch::is_in_system_call(at) };
    Entry {
        mark: here,
        stack: (stack.0..stack.1).contains(&here).then_some(stack),
        registers: arch::registers(context),
        in_call,
    }
}
