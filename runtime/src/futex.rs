//! `syscall(SYS_futex, ...)`: waiting and waking in headers of C++ (`std::atomic::wait`,
//! semaphores, latches, barriers, futures) and in programs that make their own locks. Taking a lock
//! of the kernel (`FUTEX_LOCK_PI`) is recorded like a wait that the thread which unlocked it has
//! ended.

use std::ffi::c_long;

use contech_interpose::futex::{Does, does};
use contech_trace::event::SyncOp::{FutexTimeout, FutexWait, FutexWake};

use crate::active::active;
use crate::objects;
use crate::real::Ptr;

/// Makes the call, and records it.
pub(crate) fn futex(
    [address, operation, ..]: [usize; 6],
    caller: usize,
    call: impl FnOnce() -> c_long,
) -> c_long {
    let does = does(operation);
    if does == Does::Other || objects::is_own(caller) {
        return call();
    }
    let Some(a) = active(caller) else {
        return call();
    };
    let object: Ptr = std::ptr::without_provenance_mut(address);
    match does {
        Does::Wake => {
            return a
                .announce(FutexWake, object, a.now(), call, |&woken| u64::try_from(woken).ok());
        }
        // One thread has the lock next. A thread that takes it later comes after this one, too.
        Does::Unlock => {
            return a.announce(FutexWake, object, a.now(), call, |&done| (done == 0).then_some(1));
        }
        Does::Wait | Does::Lock | Does::Other => {}
    }
    let before = a.now();
    let result = call();
    // SAFETY: the pointer is to the C library's errno of this thread.
    let errno = unsafe { *libc::__errno_location() };
    // A call with any other result did not wait, because the value had already changed.
    if result == 0 || errno == libc::ETIMEDOUT || errno == libc::EINTR {
        let op = if result == 0 { FutexWait } else { FutexTimeout };
        a.in_order(op, object, 0, before, a.since(before));
    }
    result
}
