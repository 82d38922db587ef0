//! The one recorder of the process. Until it is made, there is none.

use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use contech_guest::notice;
use contech_runtime_core::{Recorder, TlsBlock};

use crate::tls::block;

/// A function that makes a recorder.
type Make = fn(&TlsBlock) -> Option<&'static Recorder>;

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());
/// The function that made the recorder. It also makes that of a forked child.
static MAKE: OnceLock<Make> = OnceLock::new();
/// True in a forked child whose recorder is not made yet.
static DUE: AtomicBool = AtomicBool::new(false);

/// The recorder, if there is one.
#[inline(always)]
pub(crate) fn recorder() -> Option<&'static Recorder> {
    // SAFETY: the pointer is null or points to a recorder that is never freed.
    unsafe { RECORDER.load(Acquire).as_ref() }
}

/// The recorder. In a forked child this makes it, if there is none yet.
#[inline(always)]
pub(crate) fn recorder_or_due() -> Option<&'static Recorder> {
    match recorder() {
        Some(recorder) => Some(recorder),
        None if DUE.load(Relaxed) => due(),
        None => None,
    }
}

#[cold]
fn due() -> Option<&'static Recorder> {
    let made = MAKE.get()?(block());
    if made.is_none() && !block().is_quiet() {
        // The recorder cannot be made, so the next calls do not try again.
        DUE.store(false, Relaxed);
    }
    made
}

/// Sets the recorder of the process.
pub(crate) fn set(recorder: &'static Recorder, make: Make) {
    MAKE.get_or_init(|| make);
    DUE.store(false, Relaxed);
    RECORDER.store(std::ptr::from_ref(recorder).cast_mut(), Release);
}

/// Forgets the parent's recorder in a forked child, which makes its own.
pub(crate) fn forget() {
    RECORDER.store(std::ptr::null_mut(), Release);
    DUE.store(true, Relaxed);
}

/// Runs code whose failure must not end the program: a panic stops the recording instead.
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
