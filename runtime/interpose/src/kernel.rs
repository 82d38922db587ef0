//! System calls of our own threads. What a program or a preloaded library puts in front of the C
//! library may count on the threads that it knows, so our threads go past the C library; and what
//! the program sees (errno) stays as it is.

use std::ffi::{c_int, c_long};
use std::time::Duration;

use crate::arch::raw_call;
use crate::vdso;

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

/// The time of a clock in nanoseconds. A filter of the program's (seccomp) may refuse the system
/// call, so this asks the kernel's page in the process first.
#[must_use]
pub fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut t = timespec(Duration::ZERO);
    if let Some(read) = vdso::clock_gettime() {
        // SAFETY: the kernel's function takes a live timespec.
        unsafe { read(clock, &raw mut t) };
    } else {
        let clock = usize::try_from(clock).unwrap_or(0);
        let at = (&raw mut t).expose_provenance();
        // SAFETY: the pointer is to a live timespec.
        let _ = unsafe { call(libc::SYS_clock_gettime, [clock, at]) };
    }
    t.tv_sec.unsigned_abs() * 1_000_000_000 + t.tv_nsec.unsigned_abs()
}

/// How often the calling thread has given up the processor.
#[must_use]
pub fn sleeps() -> u64 {
    usage().ru_nvcsw.unsigned_abs()
}

/// What the kernel says of the calling thread since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Time that it ran, in microseconds; that in the kernel is a part of it.
    pub all_us: u64,
    /// Time that it ran in the kernel, in microseconds.
    pub system_us: u64,
    /// Pages that the kernel had to give it.
    pub faults: u64,
}

/// How long the calling thread has run. Its clock is exact. The times of its usage are not: while
/// it has the processor, they go on with the kernel's ticks, which may be 4 ms apart.
#[must_use]
pub fn ran() -> Ran {
    let (all_us, usage) = (nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID) / 1000, usage());
    let us = |t: libc::timeval| t.tv_sec.unsigned_abs() * 1_000_000 + t.tv_usec.unsigned_abs();
    Ran {
        all_us,
        system_us: us(usage.ru_stime).min(all_us),
        faults: usage.ru_minflt.unsigned_abs() + usage.ru_majflt.unsigned_abs(),
    }
}

/// What the kernel counts of the calling thread.
#[must_use]
pub fn usage() -> libc::rusage {
    const THREAD: usize = libc::RUSAGE_THREAD as usize;
    // SAFETY: all zero is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage.
    let _ = unsafe { call(libc::SYS_getrusage, [THREAD, (&raw mut usage).expose_provenance()]) };
    usage
}

/// A moment of the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Instant(u64);

impl Instant {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        Instant(nanoseconds(libc::CLOCK_MONOTONIC))
    }

    /// The time since this moment.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        Duration::from_nanos(Self::now().0.saturating_sub(self.0))
    }
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
