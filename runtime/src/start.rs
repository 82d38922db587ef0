//! The one recorder of the process: made at the first module, flush or, after a fork, the first call
//! that is recorded; never needed before.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use contech_guest::mask::{Blocked, Uncancellable};
use contech_guest::memory::{self, Errno};
use contech_guest::notice;
use contech_runtime_core::options::Options;
use contech_runtime_core::recorder::Start;
use contech_runtime_core::tls::Lane;
use contech_runtime_core::{Recorder, TlsBlock, scratch};

use crate::objects;
use crate::service::SERVICE;
use crate::tls::block;
use crate::{exit, fatal, fork, loader, real, threads};

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());
/// A forked child whose recorder is not made yet.
static DUE: AtomicBool = AtomicBool::new(false);
static STARTING: Mutex<()> = Mutex::new(());

/// The recorder, if there is one.
#[inline(always)]
pub(crate) fn recorder() -> Option<&'static Recorder> {
    // SAFETY: the pointer is null or of a recorder that is never freed.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// The recorder; in a forked child it is made now.
#[inline(always)]
pub(crate) fn recorder_or_due() -> Option<&'static Recorder> {
    match recorder() {
        Some(recorder) => Some(recorder),
        None if DUE.load(Relaxed) => start(block()),
        None => None,
    }
}

/// The recorder, made now if need be; `None` while that is not possible yet, or goes on in this thread.
#[cold]
pub(crate) fn start(tls: &TlsBlock) -> Option<&'static Recorder> {
    if tls.is_quiet() || !has_environment() || is_privileged() {
        return None;
    }
    let _errno = Errno::save();
    let _uncancellable = Uncancellable::new();
    let _blocked = Blocked::new();
    let _quiet = tls.quiet();
    let _starting = match STARTING.lock() {
        Ok(guard) => guard,
        Err(poisoned) => poisoned.into_inner(),
    };
    if let Some(recorder) = recorder() {
        return Some(recorder);
    }
    let made = guarded(make).flatten();
    DUE.store(false, Relaxed);
    if tls.thread().is_null() {
        // An instrumented allocator that was called meanwhile recorded into nothing; from now on it counts.
        for lane in Lane::ALL {
            tls.set_at(lane, (std::ptr::null_mut(), std::ptr::null_mut()));
        }
    }
    made
}

fn make() -> Option<&'static Recorder> {
    std::panic::set_hook(Box::new(|_| {}));
    real::real();
    loader::find();
    let variable = |name: &str| std::env::var(name).ok();
    let (options, warnings, effective) = Options::read(variable, memory::available());
    for warning in &warnings {
        notice::say(warning);
    }
    let (parent, modules) = fork::inherited();
    let start = Start {
        options,
        effective,
        parent,
        modules,
    };
    let recorder = Recorder::start(start, &SERVICE);
    threads::announce_main(recorder);
    SERVICE.prepare();
    objects::refresh_callers(recorder);
    fork::install();
    exit::install();
    if recorder.is_recording() {
        fatal::install();
    }
    RECORDER.store(std::ptr::from_ref(recorder).cast_mut(), Release);
    Some(recorder)
}

/// In a forked child: what the parent recorded is none of its business.
pub(crate) fn forget() {
    RECORDER.store(std::ptr::null_mut(), Release);
    DUE.store(true, Relaxed);
}

unsafe extern "C" {
    static environ: *const *const std::ffi::c_char;
}

/// Before the C library is initialised there is no environment to read options from.
fn has_environment() -> bool {
    // SAFETY: the C library defines the variable; it is only compared with null.
    unsafe { !environ.is_null() }
}

/// A program that runs with more rights than its caller (setuid, file capabilities) writes no file that the
/// caller's environment names: it is not traced.
fn is_privileged() -> bool {
    // SAFETY: reads the kernel's auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Runs what must not take the program down with it: a panic stops the recording instead.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> Option<R> {
    match std::panic::catch_unwind(AssertUnwindSafe(f)) {
        Ok(result) => Some(result),
        Err(_) => {
            const BUG: &str =
                "internal error of the runtime; recording stops here, the program goes on";
            match recorder() {
                Some(recorder) => recorder.stop(BUG),
                None => notice::say(BUG),
            }
            None
        }
    }
}

/// The slow path of instrumented code.
pub(crate) fn gap(tls: &'static TlsBlock, cursor: *mut u8) -> *mut u8 {
    guarded(|| recorder().map(|recorder| recorder.gap(tls, cursor)))
        .flatten()
        .unwrap_or_else(|| scratch::last_resort(tls, Lane::Stream))
}

pub(crate) fn flush(tls: &'static TlsBlock, cursor: *mut u8, lane: Lane) -> *mut u8 {
    let flushed = guarded(|| {
        recorder()
            .or_else(|| start(tls))
            .map(|recorder| recorder.flush_lane(tls, cursor, lane))
    });
    flushed
        .flatten()
        .unwrap_or_else(|| scratch::last_resort(tls, lane))
}
