//! The process that is observed: this one, not its children.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use contech_guest::memory;

use crate::tls;

static OBSERVED: AtomicU32 = AtomicU32::new(0);

/// This process is observed, and no child it forks.
pub(crate) fn start() {
    OBSERVED.store(memory::process_id(), Relaxed);
    // SAFETY: the function takes no arguments and lives for ever.
    unsafe { libc::pthread_atfork(None, None, Some(child)) };
}

/// Whether the caller is in the observed process (in the child of a vfork the memory says so, the kernel does not).
pub(crate) fn is_observed() -> bool {
    OBSERVED.load(Relaxed) == memory::process_id()
}

unsafe extern "C" fn child() {
    OBSERVED.store(0, Relaxed);
    tls::set_lane(None);
}
