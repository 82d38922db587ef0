//! Forks: the parent goes on, and the child gets a trace of its own if it ever records anything.
//! That is so for `fork`. A child that was made in another way (`_Fork`, a system call) is not
//! recorded.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::time::Duration;

use contech_interpose::kernel;
use contech_interpose::lock::{MutexGuard, lock, try_lock};
use contech_interpose::mask::Blocked;
use contech_trace::event::SyncOp::Fork;

use crate::active::{active, object};
use crate::atomic;
use crate::current::{self, INHERITED, Inherited, guarded};
use crate::heap::HEAP;
use crate::real::real;
use crate::tls::block;

/// How often, and after how long each time, a thread looks whether another one still forks: a
/// second in all.
const TRIES: u32 = 10_000;
const BETWEEN_TRIES: Duration = Duration::from_micros(100);

/// What the thread that forks holds from the first of these handlers to the last one, in parent and
/// child. No handler of a signal may run meanwhile: it might need what its own thread holds.
struct Forking {
    inherited: MutexGuard<'static, Inherited>,
    traced: bool,
    _blocked: Blocked,
}

struct Held(UnsafeCell<Option<Forking>>);

// SAFETY: only the thread that holds `INHERITED` uses it.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

/// The calling thread is about to fork.
pub(crate) fn begins() {
    let blocked = Blocked::new();
    // Several threads may fork at the same time. One waits here for the other's fork.
    let mut inherited = lock(&INHERITED);
    let recorder = current::recorder();
    if let Some(recorder) = recorder {
        // In the child no lock of the old recorder can be relied on.
        let has = || (recorder.loaded_modules(), recorder.callers.ranges().to_vec());
        (inherited.modules, inherited.callers) = guarded(has).unwrap_or_default();
    }
    let forking = Forking { inherited, traced: recorder.is_some(), _blocked: blocked };
    // SAFETY: this thread holds `INHERITED`.
    unsafe { *HELD.0.get() = Some(forking) };
    HEAP.lock();
}

/// Lets no thread fork while this is held. What a fork has noted of the modules must be so in the
/// child. A fork whose other handlers wait for the calling thread is not waited for any longer.
pub(crate) fn between_forks() -> Option<MutexGuard<'static, Inherited>> {
    for _ in 0..TRIES {
        let tried = try_lock(&INHERITED);
        if tried.is_some() {
            return tried;
        }
        kernel::sleep(BETWEEN_TRIES);
    }
    None
}

fn held() -> Option<Forking> {
    // SAFETY: this thread holds `INHERITED` since `begins`.
    unsafe { (*HELD.0.get()).take() }
}

/// It has forked, and this is the child or the parent.
pub(crate) fn ends(child: bool) {
    HEAP.unlock();
    if child {
        atomic::forget_others();
        block().reset();
    }
    let Some(mut forking) = held().filter(|forking| forking.traced) else {
        return;
    };
    if child {
        forking.inherited.parent = parent_id();
        current::forget();
    } else {
        forking.inherited.modules.clear();
        forking.inherited.callers.clear();
    }
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
        a.timed(Fork, object(child.unsigned_abs().into()), 0, a.now(), 0);
    }
    child
}
