//! What the profiler finds out first: what to measure, and where the stack is.

use contech_interpose::say;
use workspan::file::Metric;

use crate::profile::Bounds;

/// The variable that says what is measured: `time` (the default) or `ops`.
const METRIC: &str = "CONTECH_METRIC";

pub(super) fn metric() -> Metric {
    match std::env::var(METRIC).as_deref() {
        Ok("ops") => Metric::Ops,
        Err(_) | Ok("" | "time") => Metric::Time,
        Ok(other) => {
            say(&format!("{METRIC}={other}: time or ops; time is measured"));
            Metric::Time
        }
    }
}

/// The bounds of this thread's stack; all of memory if they are unknown.
pub(super) fn stack() -> Bounds {
    let everywhere = Bounds { low: 0, size: usize::MAX & !(align_of::<usize>() - 1) };
    // SAFETY: the call that fills the attribute object initialises it, and it is destroyed below.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return everywhere;
        }
        let (mut low, mut size) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        if known != 0 {
            return everywhere;
        }
        // The first thread's stack grows when its limit is raised, so only the upper end is fixed.
        let high = low as usize + size;
        let low = high.saturating_sub(size.max(1 << 30));
        Bounds { low, size: high - low }
    }
}
