//! The one recorder of the process, as every other module sees it: it is there, or not yet.

use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use contech_guest::notice;
use contech_runtime_core::{Recorder, TlsBlock};

use crate::tls::block;

/// Makes a recorder.
type Make = fn(&TlsBlock) -> Option<&'static Recorder>;

static RECORDER: AtomicPtr<Recorder> = AtomicPtr::new(std::ptr::null_mut());
/// What made it, which makes that of a forked child.
static MAKE: OnceLock<Make> = OnceLock::new();
/// A forked child whose recorder is not made yet.
static DUE: AtomicBool = AtomicBool::new(false);

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
        None if DUE.load(Relaxed) => due(),
        None => None,
    }
}

#[cold]
fn due() -> Option<&'static Recorder> {
    let made = MAKE.get()?(block());
    if made.is_none() && !block().is_quiet() {
        // It cannot be made: that is not tried again at each call.
        DUE.store(false, Relaxed);
    }
    made
}

/// There is a recorder from now on.
pub(crate) fn set(recorder: &'static Recorder, make: Make) {
    MAKE.get_or_init(|| make);
    DUE.store(false, Relaxed);
    RECORDER.store(std::ptr::from_ref(recorder).cast_mut(), Release);
}

/// In a forked child: what the parent recorded is none of its business.
pub(crate) fn forget() {
    RECORDER.store(std::ptr::null_mut(), Release);
    DUE.store(true, Relaxed);
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
