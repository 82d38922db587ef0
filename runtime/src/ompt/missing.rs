//! OpenMP runtimes that do not report what they do: libgomp, or a libomp that has no OMPT or was told not to use it.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_guest::notice;

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

/// What the reader of the trace should know of a libgomp that made no thread, of which the user was therefore not told.
pub(crate) fn silent_libgomp() -> Option<&'static str> {
    (LIBGOMP.load(Relaxed) && !SAID.load(Relaxed)).then_some(
        "libgomp is loaded and made no thread: it tells no tool what it does, so its OpenMP constructs and tasks, if \
         there were any, are plain work here; compile all of the program with contech-cc -fopenmp",
    )
}

/// Tells the user, once, if this library, which made a thread, is an OpenMP runtime that reports nothing.
pub(crate) fn thread_created_by(name: &str) {
    if SAID.load(Relaxed) {
        return;
    }
    let text = if name.starts_with("libgomp.") {
        "this program uses libgomp, which tells no tool what it does: its threads are recorded, its OpenMP \
         constructs and tasks are not; compile all of it with contech-cc -fopenmp, or link LLVM's libomp \
         (libomp-22-dev) in place of libgomp"
    } else if (name.starts_with("libomp.") || name.starts_with("libiomp")) && !LISTENS.load(Relaxed)
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

/// The file name of the object that holds the code at this address.
pub(crate) fn object_of(address: usize) -> Option<String> {
    // SAFETY: the record is plain data for which zero is a value; the call below fills it.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let at = std::ptr::without_provenance(address);
    // SAFETY: the call takes any address, and the record is live.
    let found = unsafe { libc::dladdr(at, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker passes a C string.
    let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy();
    Some(path.rsplit('/').next()?.to_owned())
}
