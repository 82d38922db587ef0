//! The functions that `contech/refine.h` declares.
//!
//! Nothing here prints, ends the process or unwinds: a null pointer is a refinement that always suggests 1. The
//! header states what the caller promises: a pointer is null, or is from `contech_refine_create` and not yet
//! destroyed.
#![allow(unsafe_code, reason = "the C interface: pointers, exported names")]

use std::ptr;

use contech_guest::arch::ticks;

use crate::refinement::Refinement;
use crate::sample::State;

/// The refinement behind a pointer.
///
/// # Safety
/// The pointer is null or from `contech_refine_create` and not yet destroyed.
unsafe fn of<'a>(refine: *const Refinement) -> Option<&'a Refinement> {
    // SAFETY: the caller's promise; all methods take &self and are safe from any thread.
    unsafe { refine.as_ref() }
}

#[unsafe(no_mangle)]
extern "C" fn contech_refine_create(items: u64, workers: u32, initial: u64) -> *mut Refinement {
    // Slots for more workers would take gigabytes, and no machine has as many processors.
    if workers > 1 << 16 {
        return ptr::null_mut();
    }
    Box::into_raw(Box::new(Refinement::new(items, workers, initial)))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_destroy(refine: *mut Refinement) {
    if !refine.is_null() {
        // SAFETY: the pointer is from contech_refine_create, and the caller gives it up.
        drop(unsafe { Box::from_raw(refine) });
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_limits(refine: *const Refinement, smallest: u64, largest: u64) {
    // SAFETY: the caller's promise.
    if let Some(refine) = unsafe { of(refine) } {
        refine.limit(smallest, largest);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_round_begin(refine: *const Refinement) -> u64 {
    // SAFETY: the caller's promise.
    let Some(refine) = (unsafe { of(refine) }) else {
        return 1;
    };
    refine.round_begin();
    refine.size()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_round_end(refine: *const Refinement) {
    // SAFETY: the caller's promise.
    if let Some(refine) = unsafe { of(refine) } {
        refine.round_end();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_size(refine: *const Refinement) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { of(refine) }.map_or(1, Refinement::size)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_part_begin(refine: *const Refinement, worker: u32, stage: u32) {
    // SAFETY: the caller's promise.
    if let Some(refine) = unsafe { of(refine) } {
        refine.meter().part_begin(worker, stage, ticks);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_part_end(refine: *const Refinement, worker: u32) {
    // SAFETY: the caller's promise.
    if let Some(refine) = unsafe { of(refine) } {
        refine.meter().part_end(worker, ticks);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_dispatch_begin(
    refine: *const Refinement,
    worker: u32,
    stage: u32,
) {
    // SAFETY: the caller's promise.
    if let Some(refine) = unsafe { of(refine) } {
        refine.meter().dispatch_begin(worker, stage, ticks);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_dispatch_end(refine: *const Refinement, worker: u32) {
    // SAFETY: the caller's promise.
    if let Some(refine) = unsafe { of(refine) } {
        refine.meter().dispatch_end(worker, ticks);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_holds(refine: *const Refinement) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { of(refine) }.map_or(1, |refine| i32::from(refine.state() == State::Holding))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_scheduling(refine: *const Refinement) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { of(refine) }.map_or(0.0, |refine| refine.last().scheduling)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn contech_refine_imbalance(refine: *const Refinement) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { of(refine) }.map_or(0.0, |refine| refine.last().imbalance)
}
