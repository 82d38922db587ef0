//! Prepares the recording when the program gives up the right to most system calls (seccomp).

use std::ffi::c_int;

use contech_guest::arch::system_call;
use contech_runtime_core::tls::{ENDED, Lane};
use contech_runtime_core::{Recorder, scratch};

use crate::current::{self, guarded};
use crate::tls::block;

/// Runs `act` on the recorder, before the calling thread is confined.
fn before(act: impl FnOnce(&'static Recorder)) {
    if let Some(recorder) = current::recorder() {
        guarded(|| act(recorder));
    }
}

/// Ends the recording of a thread that only keeps read, write, exit and the return from signal handlers. Code of this
/// thread goes on in scratch memory, for which `flush` makes no system call.
fn strict() {
    let tls = block();
    before(|recorder| recorder.seal(tls));
    for lane in Lane::ALL {
        scratch::last_resort(tls, lane);
    }
    tls.set_role(ENDED);
}

/// A filter applies to the calls of this thread and of the threads it makes. So the writer's thread is made before.
fn filter() {
    before(Recorder::expect_threads);
}

pub(crate) unsafe extern "C-unwind" fn prctl(
    option: c_int,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> c_int {
    const STRICT: usize = libc::SECCOMP_MODE_STRICT as usize;
    const FILTER: usize = libc::SECCOMP_MODE_FILTER as usize;
    match (option, a) {
        (libc::PR_SET_SECCOMP, STRICT) => strict(),
        (libc::PR_SET_SECCOMP, FILTER) => filter(),
        _ => {}
    }
    #[allow(clippy::cast_sign_loss, reason = "the kernel takes 32 bits of it")]
    let option = option as usize;
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { system_call(libc::SYS_prctl, option, a, b, c, d, 0) };
    c_int::try_from(result).unwrap_or(-1)
}

/// Called before `syscall(SYS_seccomp, operation, ...)`.
pub(crate) fn before_seccomp(operation: usize) {
    const STRICT: usize = libc::SECCOMP_SET_MODE_STRICT as usize;
    const FILTER: usize = libc::SECCOMP_SET_MODE_FILTER as usize;
    match operation {
        STRICT => strict(),
        FILTER => filter(),
        _ => {}
    }
}
