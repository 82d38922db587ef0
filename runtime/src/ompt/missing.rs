//! OpenMP runtimes that do not report what they do: libgomp, or a libomp that has no OMPT or was
//! told not to use it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_interpose::notice;

use super::tool::LISTENS;
use crate::current;

/// True once the user was told of such a runtime.
static SAID: AtomicBool = AtomicBool::new(false);
/// True once libgomp is loaded.
static LIBGOMP: AtomicBool = AtomicBool::new(false);

/// Notes that an object with this path is loaded.
pub(crate) fn loaded(path: &str) {
    if path.contains("/libgomp.so") {
        LIBGOMP.store(true, Relaxed);
    }
}

/// What the reader of the trace should know of a libgomp that made no thread, of which the user was
/// therefore not told.
pub(crate) fn silent_libgomp() -> Option<&'static str> {
    (LIBGOMP.load(Relaxed) && !SAID.load(Relaxed)).then_some(
        "libgomp is loaded and made no thread: it tells no tool what it does, so its OpenMP constructs and tasks, if \
         there were any, are plain work here; compile all of the program with contech-cc -fopenmp",
    )
}

/// Tells the user, once, if this library, which made a thread, is an OpenMP runtime that reports
/// nothing.
pub(crate) fn thread_created_by(name: &[u8]) {
    if SAID.load(Relaxed) {
        return;
    }
    let text = if name.starts_with(b"libgomp.") {
        "this program uses libgomp, which tells no tool what it does: its threads are recorded, its OpenMP \
         constructs and tasks are not; compile all of it with contech-cc -fopenmp, or link LLVM's libomp \
         (libomp-22-dev) in place of libgomp"
    } else if (name.starts_with(b"libomp.") || name.starts_with(b"libiomp"))
        && !LISTENS.load(Relaxed)
    {
        "this program's libomp does not use OMPT (built without it, or OMP_TOOL=disabled): its threads are \
         recorded, its OpenMP constructs and tasks are not; use Debian's libomp-22-dev and unset OMP_TOOL"
    } else {
        return;
    };
    if !SAID.swap(true, Relaxed)
        && let Some(recorder) = current::recorder()
    {
        notice::say(text);
        recorder.remark(text);
    }
}
