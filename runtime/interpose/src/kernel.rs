//! System calls of our own threads. What a program or a preloaded library puts in front of the C
//! library may count on the threads that it knows, so our threads go past the C library; and what
//! the program sees (errno) stays as it is.

use std::ffi::{c_int, c_long};
use std::time::Duration;

use crate::arch::raw_call;

/// Makes a system call. A failure is the number of the error.
///
/// # Errors
/// Those of the system call.
///
/// # Safety
/// The requirements of the system call apply.
#[inline]
pub unsafe fn call<const N: usize>(number: c_long, arguments: [usize; N]) -> Result<usize, c_int> {
    let mut all = [0; 6];
    all[..N].copy_from_slice(&arguments);
    // SAFETY: the caller promises what the system call requires.
    let result = unsafe { raw_call(number, all) };
    usize::try_from(result).map_err(|_| c_int::try_from(-result).unwrap_or(0))
}

/// Lets other threads run.
pub fn yield_now() {
    // SAFETY: the call has no arguments.
    let _ = unsafe { call(libc::SYS_sched_yield, []) };
}

/// Commands of the system call membarrier.
const PRIVATE_EXPEDITED: usize = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: usize = 1 << 4;

fn membarrier(command: usize) -> bool {
    // SAFETY: the call changes no memory.
    unsafe { call(libc::SYS_membarrier, [command, 0, 0]) }.is_ok()
}

/// Prepares the process for [`barrier_everywhere`]. Returns whether the kernel can do it.
#[must_use]
pub fn prepare_barriers() -> bool {
    membarrier(REGISTER_PRIVATE_EXPEDITED)
}

/// Makes a full memory barrier in every thread of the process, the calling one included. Returns
/// whether it was made.
#[must_use]
pub fn barrier_everywhere() -> bool {
    membarrier(PRIVATE_EXPEDITED)
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Sleeps for a time, or for less if a signal comes.
pub fn sleep(time: Duration) {
    let time = timespec(time);
    // SAFETY: the pointer is to a live timespec.
    let _ = unsafe { call(libc::SYS_nanosleep, [(&raw const time).expose_provenance(), 0]) };
}

/// How often the calling thread has given up the processor.
#[must_use]
pub fn sleeps() -> u64 {
    usage().ru_nvcsw.unsigned_abs()
}

/// What the kernel counts of the calling thread.
pub(crate) fn usage() -> libc::rusage {
    const THREAD: usize = libc::RUSAGE_THREAD as usize;
    // SAFETY: all zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    let _ = unsafe { call(libc::SYS_getrusage, [THREAD, (&raw mut usage).expose_provenance()]) };
    usage
}

/// Waits while the word has the value, at most for `time`, or until a thread that changed the word
/// wakes this one. It may also return early.
pub(crate) fn futex_wait(word: &std::sync::atomic::AtomicU32, value: u32, time: Option<Duration>) {
    const WAIT: usize = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
    let time = time.map(timespec);
    let time = time.as_ref().map_or(0, |t| std::ptr::from_ref(t).expose_provenance());
    // SAFETY: word and time are live.
    let _ = unsafe {
        call(libc::SYS_futex, [word.as_ptr().expose_provenance(), WAIT, value as usize, time])
    };
}

/// Wakes up to so many threads that wait for the word.
pub(crate) fn futex_wake(word: &std::sync::atomic::AtomicU32, threads: c_int) {
    const WAKE: usize = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    let threads = usize::try_from(threads).unwrap_or(0);
    // SAFETY: the word is live.
    let _ = unsafe { call(libc::SYS_futex, [word.as_ptr().expose_provenance(), WAKE, threads]) };
}
