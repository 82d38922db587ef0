//! Forks: the parent goes on, and the child gets a trace of its own if it ever records anything.

use std::ffi::c_int;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use contech_runtime_core::modules::Found;
use contech_trace::event::SyncOp::Fork;

use crate::active::active;
use crate::atomic::STRIPES;
use crate::current::{self, guarded};
use crate::heap::HEAP;
use crate::real::real;
use crate::tls::block;

/// The modules of the process that is about to fork. In the child no lock of the old recorder can be relied on.
static MODULES: Mutex<Vec<Found>> = Mutex::new(Vec::new());
static PARENT: AtomicU32 = AtomicU32::new(0);
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// The traced process that this one was forked from (0 for none), and the modules it had.
pub(crate) fn inherited() -> (u32, Vec<Found>) {
    let modules = MODULES.lock().map(|mut m| std::mem::take(&mut *m));
    (PARENT.load(Relaxed), modules.unwrap_or_default())
}

/// Registers handlers of forks. They are the first to be registered, so they run closest to the fork.
pub(crate) fn install() {
    if !INSTALLED.swap(true, Relaxed) {
        // SAFETY: the functions take no arguments and live for ever.
        unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
    }
}

unsafe extern "C" fn prepare() {
    guarded(|| {
        if let (Some(recorder), Ok(mut modules)) = (current::recorder(), MODULES.lock()) {
            *modules = recorder.loaded_modules();
        }
    });
    HEAP.lock();
}

unsafe extern "C" fn parent() {
    HEAP.unlock();
    guarded(|| {
        if let Ok(mut modules) = MODULES.lock() {
            modules.clear();
        }
    });
}

unsafe extern "C" fn child() {
    HEAP.unlock();
    STRIPES.free_all();
    if current::recorder().is_some() {
        PARENT.store(parent_id(), Relaxed);
        current::forget();
    }
    block().reset();
}

fn parent_id() -> u32 {
    // SAFETY: the call has no arguments.
    u32::try_from(unsafe { libc::getppid() }).unwrap_or(0)
}

pub(crate) unsafe extern "C-unwind" fn fork(caller: usize) -> c_int {
    let creator = active(caller);
    // SAFETY: the caller asks for this fork.
    let child = unsafe { (real().fork)() };
    if child > 0
        && let Some(a) = creator
    {
        let object = std::ptr::without_provenance_mut(usize::try_from(child).unwrap_or(0));
        a.timed(Fork, object, 0, a.now(), 0);
    }
    child
}
