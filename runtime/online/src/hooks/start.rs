//! The first event: it finds out what to measure, what events cost and where the stack is, and
//! opens the gate.

use std::sync::atomic::Ordering;

use contech_interpose::arch::thread_pointer;
use contech_interpose::life::is_privileged;
use contech_interpose::say;
use workspan::file::Metric;

use super::gate::{GATE, OWNER, PROFILE};
use crate::calibrate::calibrate;
use crate::clock::{Cost, Ready};
use crate::profile::{Bounds, Profile};
use crate::{ends, log};

/// The variable that says what is measured: `time` (the default) or `ops`.
const METRIC: &str = "CONTECH_METRIC";

/// No handler may run meanwhile: one that jumps away would leave a profile that never starts.
pub(super) fn start() {
    if is_privileged() {
        return;
    }
    let ready = Ready::begins();
    let metric = match std::env::var(METRIC).as_deref() {
        Ok("ops") => Metric::Ops,
        Err(_) | Ok("" | "time") => Metric::Time,
        Ok(other) => {
            say(&format!("{METRIC}={other}: time or ops; time is measured"));
            Metric::Time
        }
    };
    let stack = stack();
    let state = log::state();
    let cost = match metric {
        Metric::Time => calibrated(stack),
        Metric::Ops => Cost::default(),
    };
    log::begin(state);
    let mut profile = Profile::new(metric, cost, stack);
    profile.since_loaded(ready);
    // SAFETY: no hook touches the profile before GATE is set, which happens below.
    unsafe { *PROFILE.0.get() = Some(profile) };
    for word in [&OWNER, &GATE] {
        word.store(thread_pointer(), Ordering::Relaxed);
    }
    ends::watch();
}

/// What events cost, measured with a profile that is thrown away; the state is restored afterwards.
fn calibrated(stack: Bounds) -> Cost {
    let profile = Profile::new(Metric::Time, Cost::default(), stack);
    // SAFETY: the gate is closed, so no hook touches the profile.
    unsafe { *PROFILE.0.get() = Some(profile) };
    let kept = log::keep(log::state());
    GATE.store(thread_pointer(), Ordering::Relaxed);
    let cost = calibrate();
    GATE.store(0, Ordering::Relaxed);
    log::put_back(log::state(), &kept);
    cost
}

/// The bounds of this thread's stack; all of memory if they are unknown.
fn stack() -> Bounds {
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
