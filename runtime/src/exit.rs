//! The end of the process when the program exits. The trace ends as late as it can, so that exit handlers, static
//! destructors and those of libraries are still recorded.

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_guest::mask::Blocked;
use contech_runtime_core::Recorder;
use contech_runtime_core::finish::Finish;
use contech_trace::event::EndReason;

use crate::current::{self, guarded};
use crate::real::real;
use crate::sandbox;
use crate::tls::block;

static INSTALLED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn __cxa_at_quick_exit(handler: unsafe extern "C" fn(*mut c_void), dso: *mut c_void) -> c_int;
}

/// Objects are finished in reverse order of their dependence, so this library is finished after all that use it.
#[used]
#[unsafe(link_section = ".fini_array")]
static FINI: extern "C" fn() = at_exit;

/// Registers a handler of `quick_exit`. These run in reverse order, so this one, registered before main, runs last.
pub(crate) fn install() {
    if !INSTALLED.swap(true, Relaxed) {
        // SAFETY: the handler lives for ever and ignores its argument.
        unsafe { __cxa_at_quick_exit(at_quick_exit, std::ptr::null_mut()) };
    }
}

fn finish() {
    if sandbox::is_confined() {
        return;
    }
    if let Some(recorder) = current::recorder() {
        let how = Finish {
            reason: EndReason::ProcessExit,
            patience: None,
            note: None,
            registers: None,
        };
        guarded(|| recorder.finish(block(), &how));
    }
}

extern "C" fn at_exit() {
    finish();
}

unsafe extern "C" fn at_quick_exit(_: *mut c_void) {
    finish();
}

/// Called before `syscall(SYS_exit, ...)`, after which the C library does not report the thread's end, and before
/// `syscall(SYS_exit_group, ...)`.
pub(crate) fn before_system_call(number: c_long) {
    if number == libc::SYS_exit_group || current::recorder().is_some_and(end_thread) {
        finish();
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

/// Stands in for `_exit` and `_Exit`. In the child of a vfork the trace is the parent's, and `finish` leaves it alone.
pub(crate) unsafe extern "C-unwind" fn underscore_exit(status: c_int) -> ! {
    finish();
    // SAFETY: the caller's status is passed on.
    unsafe { (real()._exit)(status) }
}
