//! Tells the observed process from its children, which are not observed.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use contech_guest::memory;

use crate::tls;

static OBSERVED: AtomicU32 = AtomicU32::new(0);

/// Marks this process as observed; a child that it forks is not.
pub(crate) fn start() {
    OBSERVED.store(memory::process_id(), Relaxed);
    // SAFETY: the function takes no arguments and stays loaded.
    unsafe { libc::pthread_atfork(None, None, Some(child)) };
}

/// Whether the caller is in the observed process. The kernel is asked, because the child of a vfork shares the memory.
pub(crate) fn is_observed() -> bool {
    OBSERVED.load(Relaxed) == memory::process_id()
}

unsafe extern "C" fn child() {
    OBSERVED.store(0, Relaxed);
    tls::set_lane(None);
}
