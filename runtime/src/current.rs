//! The one recorder of the process. Until it is made, there is none.

use std::panic::AssertUnwindSafe;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_interpose::home::Home;
use contech_interpose::lock::Mutex;
use contech_interpose::notice;
use contech_runtime_core::modules::FoundModule;
use contech_runtime_core::{Recorder, TlsBlock};

use crate::tls::block;

/// A function that makes a recorder.
type Make = fn(&TlsBlock) -> Option<&'static Recorder>;

/// No copy of the process sees it, however the copy was made: it would write into its parent's
/// trace.
static RECORDER: Home<Recorder> = Home::new();
/// The function that made the recorder. It also makes that of a forked child.
static MAKE: OnceLock<Make> = OnceLock::new();
/// True in a forked child whose recorder is not made yet.
static DUE: AtomicBool = AtomicBool::new(false);

/// What a forked child has from its parent.
pub(crate) struct Inherited {
    /// The traced process that this one was forked from; 0 for none.
    pub(crate) parent: u32,
    /// The modules it had.
    pub(crate) modules: Vec<FoundModule>,
    /// The ranges from which calls counted. To find them anew takes a lock of the dynamic linker,
    /// which another thread may have held when the process forked.
    pub(crate) callers: Vec<(usize, usize)>,
}

/// Held while the recorder is made and while the process forks: a child in which another thread,
/// which it does not have, was making the recorder could never make one.
pub(crate) static INHERITED: Mutex<Inherited> =
    Mutex::new(Inherited { parent: 0, modules: Vec::new(), callers: Vec::new() });

/// The recorder, if there is one.
#[inline(always)]
pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER.get()
}

/// Whether this process may have a recorder: it never had one, nor did one that it is a copy of, or
/// it is a child of `fork`. Any other copy has only this thread, and perhaps locks of threads it
/// has not, so it goes on unrecorded.
pub(crate) fn may_be_made() -> bool {
    !RECORDER.was_set() || DUE.load(Relaxed)
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

/// Sets the recorder of the process. Returns `false` if memory has run out.
pub(crate) fn set(recorder: &'static Recorder, make: Make) -> bool {
    MAKE.get_or_init(|| make);
    DUE.store(false, Relaxed);
    RECORDER.set(recorder)
}

/// Leaves the recording for good.
pub(crate) fn leave() {
    RECORDER.leave();
}

/// Forgets the parent's recorder in a forked child, which makes its own.
pub(crate) fn forget() {
    RECORDER.leave();
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
