//! Ends the recording when the program gives up the right to most system calls (seccomp).

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_interpose::arch::system_call;
use contech_runtime_core::scratch;
use contech_runtime_core::tls::ENDED;
use libc::sock_fprog;

use crate::atomic;
use crate::current::{self, guarded};
use crate::tls::block;

/// True once a thread was confined.
static CONFINED: AtomicBool = AtomicBool::new(false);

/// Whether the calling thread may be allowed no system call but those that the program makes. Its
/// recording has ended.
pub(crate) fn is_confined() -> bool {
    CONFINED.load(Relaxed) && block().role() == ENDED
}

/// Ends the recording of a thread that loses the right to system calls which recording takes, or of
/// `all` threads: a filter may forbid them, and threads that this one makes inherit it. Code of
/// this thread goes on in scratch memory, for which `flush` makes no system call.
fn confined(all: bool) {
    let tls = block();
    if all {
        atomic::share_all();
    }
    if let Some(recorder) = current::recorder() {
        guarded(|| recorder.seal(tls, all));
    }
    scratch::all_last_resort(tls);
    tls.set_role(ENDED);
    CONFINED.store(true, Relaxed);
    if all {
        current::leave();
    }
}

/// The program is about to give up its rights to system calls: nearly all of them (`strict`), or
/// those that the filter at this address refuses.
///
/// # Safety
/// Where a filter is, the program gives it to the kernel: the pointer is null, or leads to one.
unsafe fn confines(strict: bool, filter: bool, program: usize) {
    let program = std::ptr::with_exposed_provenance::<sock_fprog>(program);
    if strict {
        confined(false);
    // SAFETY: the caller says so. With no steps the program only asks whether there are filters.
    } else if filter && unsafe { program.as_ref() }.is_some_and(|program| program.len > 0) {
        confined(true);
    }
}

pub(crate) unsafe extern "C-unwind" fn prctl(
    option: c_int,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> c_int {
    if option == libc::PR_SET_SECCOMP {
        let is = |mode: libc::c_uint| a == mode as usize;
        let (strict, filter) = (is(libc::SECCOMP_MODE_STRICT), is(libc::SECCOMP_MODE_FILTER));
        // SAFETY: the kernel reads the same filter.
        unsafe { confines(strict, filter, b) };
    }
    #[allow(clippy::cast_sign_loss, reason = "the kernel takes 32 bits of it")]
    let option = option as usize;
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { system_call(libc::SYS_prctl, option, a, b, c, d, 0) };
    c_int::try_from(result).unwrap_or(-1)
}

/// Called before `syscall(SYS_seccomp, operation, flags, program)`.
///
/// # Safety
/// The program gives its arguments to the kernel.
pub(crate) unsafe fn before_seccomp([operation, _, program, ..]: [usize; 6]) {
    let is = |mode: libc::c_uint| operation == mode as usize;
    let (strict, filter) = (is(libc::SECCOMP_SET_MODE_STRICT), is(libc::SECCOMP_SET_MODE_FILTER));
    // SAFETY: the kernel reads the same filter.
    unsafe { confines(strict, filter, program) };
}
