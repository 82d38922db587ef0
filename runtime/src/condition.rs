//! Records the waits of condition variables, pthread's and C11's.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use contech_interpose::functions::{Answer, Family};
use contech_trace::event::SyncOp::{CondReacquire, CondRelease, CondTimeout, CondWake};

use crate::active::{Active, TICKETS};
use crate::real::Ptr;

/// Room for the C library's record of a cleanup handler (`struct _pthread_cleanup_buffer`).
type Cleanup = MaybeUninit<[usize; 4]>;

unsafe extern "C" {
    /// Registers a handler for the unwinding of cancellation and `pthread_exit`. This form of it is
    /// a function, which needs no help from a C compiler.
    fn _pthread_cleanup_push(
        buffer: *mut Cleanup,
        handler: unsafe extern "C" fn(*mut c_void),
        arg: *mut c_void,
    );
    fn _pthread_cleanup_pop(buffer: *mut Cleanup, execute: c_int);
}

/// A wait in progress.
struct Waiting {
    a: Active,
    condition: Ptr,
    mutex: Ptr,
    /// The last ticket of the condition when the wait began.
    seen: u64,
    before: u64,
}

impl Waiting {
    fn over(&self, woken: bool) {
        let taken = self.a.since(self.before);
        let now = self.before + taken;
        let op = if woken { CondWake } else { CondTimeout };
        self.a.in_order(op, self.condition, self.seen, self.before, taken);
        let condition = self.condition.addr() as u64;
        self.a.in_order(CondReacquire, self.mutex, condition, now, 0);
    }
}

/// Records the end of a wait that was cancelled. The C library has locked the mutex again before it
/// unwinds to here.
unsafe extern "C" fn cancelled(waiting: *mut c_void) {
    // SAFETY: `wait` passed its own record, whose frame is still there while it is unwound.
    unsafe { &*waiting.cast::<Waiting>() }.over(false);
}

/// Records a wait around `call`. Nothing in this function has a destructor, so that a cancellation
/// may unwind through it.
pub(crate) fn wait(a: Active, condition: Ptr, mutex: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let before = a.now();
    let seen = TICKETS.last(condition.addr());
    a.in_order(CondRelease, mutex, condition.addr() as u64, before, 0);
    let mut waiting = Waiting { a, condition, mutex, seen, before };
    let mut cleanup = Cleanup::uninit();
    // SAFETY: buffer and record live until the handler is taken back below or has run.
    unsafe { _pthread_cleanup_push(&raw mut cleanup, cancelled, (&raw mut waiting).cast()) };
    let result = call();
    // SAFETY: the buffer was pushed above, and everything pushed since is popped.
    unsafe { _pthread_cleanup_pop(&raw mut cleanup, 0) };
    waiting.over(Family::Posix.answer(result) == Answer::Taken);
    result
}
