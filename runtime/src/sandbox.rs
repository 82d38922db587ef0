//! Prepares the recording when the program gives up the right to most system calls (seccomp).

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_guest::arch::system_call;
use contech_runtime_core::tls::{ENDED, Lane};
use contech_runtime_core::{Recorder, scratch};
use libc::sock_fprog;

use crate::atomic;
use crate::channel;
use crate::current::{self, guarded};
use crate::filter::allows;
use crate::tls::block;

/// Runs `act` on the recorder, before the calling thread is confined.
fn before(act: impl FnOnce(&'static Recorder)) {
    if let Some(recorder) = current::recorder() {
        guarded(|| act(recorder));
    }
}

/// True once a thread was confined.
static CONFINED: AtomicBool = AtomicBool::new(false);

/// Whether the calling thread may be allowed no system call but those that the program makes. Its recording has ended.
pub(crate) fn is_confined() -> bool {
    CONFINED.load(Relaxed) && block().role() == ENDED
}

/// Ends the recording of a thread that loses the right to system calls which recording takes. Code of this thread goes
/// on in scratch memory, for which `flush` makes no system call.
fn confined() {
    let tls = block();
    before(|recorder| recorder.seal(tls, false));
    for lane in Lane::ALL {
        scratch::last_resort(tls, lane);
    }
    tls.set_role(ENDED);
    CONFINED.store(true, Relaxed);
}

/// Ends the trace, because all threads lose the right to system calls that recording takes. From now on none of ours
/// is made.
fn all_confined() {
    before(|recorder| recorder.seal(block(), true));
    current::leave();
}

/// The system calls that recording takes in threads of the program.
const NEEDED: [c_long; 6] = [
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_rt_sigprocmask,
];
/// Those that the writer's thread takes besides.
const WRITER_NEEDS: [c_long; 9] = [
    libc::SYS_clock_gettime,
    libc::SYS_exit,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_getrusage,
    libc::SYS_ppoll,
    libc::SYS_rt_sigpending,
    libc::SYS_sched_yield,
    libc::SYS_writev,
];

/// A filter applies to the calls of this thread and of the threads it makes. So the writer's thread is made before. With
/// `all`, the filter applies to the threads that there are, too.
///
/// # Safety
/// The program gives this filter to the kernel: the pointer is null, or leads to one.
unsafe fn filter(program: *const sock_fprog, all: bool) {
    // SAFETY: the caller says so.
    let steps = unsafe { program.as_ref() }.map_or(&[][..], |program| match program.len {
        0 => &[],
        // SAFETY: the program says that there are so many steps.
        n => unsafe { std::slice::from_raw_parts(program.filter, usize::from(n)) },
    });
    let needed = |number: &c_long| u32::try_from(*number).is_ok_and(|n| allows(steps, n));
    let writer: &[c_long] = if all { &WRITER_NEEDS } else { &[] };
    if !needed(&libc::SYS_membarrier) {
        atomic::share_all();
    }
    if !channel::NEEDED.iter().all(needed) {
        channel::be_blind();
    }
    if NEEDED.iter().chain(writer).all(needed) {
        before(Recorder::expect_filter);
    } else if steps.is_empty() {
        // The program asks whether there are filters.
    } else if all {
        all_confined();
    } else {
        confined();
    }
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
        (libc::PR_SET_SECCOMP, STRICT) => confined(),
        // SAFETY: the kernel reads the same filter.
        (libc::PR_SET_SECCOMP, FILTER) => unsafe {
            filter(std::ptr::with_exposed_provenance(b), false);
        },
        _ => {}
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
pub(crate) unsafe fn before_seccomp([operation, flags, program, ..]: [usize; 6]) {
    const STRICT: usize = libc::SECCOMP_SET_MODE_STRICT as usize;
    const FILTER: usize = libc::SECCOMP_SET_MODE_FILTER as usize;
    #[allow(clippy::cast_possible_truncation, reason = "the flag is 1")]
    const ALL: usize = libc::SECCOMP_FILTER_FLAG_TSYNC as usize;
    match operation {
        STRICT => confined(),
        // SAFETY: the kernel reads the same filter.
        FILTER => unsafe {
            let all = flags & ALL != 0;
            filter(std::ptr::with_exposed_provenance(program), all);
        },
        _ => {}
    }
}
