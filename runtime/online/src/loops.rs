//! What instrumented code calls for loops over iterations (`workspan::abi`, `LOOP_*`).
#![allow(unsafe_code, reason = "C ABI, and a return address")]

use std::arch::naked_asm;

use workspan::abi::{self, Counters, Function};

use crate::hooks::{on_the_stack, with};
use crate::profile::{Iterations, Looping, Memory};
use crate::regions;

/// Adds operations told, and takes what a hook needs of the counters.
fn told(counters: &mut Counters, own: u64) -> (u64, bool) {
    counters.operations += own;
    counters.spawn = 0;
    let foreign = std::mem::take(&mut counters.foreign) != 0;
    (counters.operations, foreign)
}

/// # Safety
/// What instrumented code passes: the loop's variable, and the slot of the invocation it is in.
unsafe fn looping<'f>(variable: *mut Function, slot: usize, flags: u64) -> Looping<'f> {
    Looping {
        // SAFETY: by this function's contract; only the owner's thread gets here.
        variable: unsafe { &*variable },
        // SAFETY: as above.
        remember: unsafe { Memory::new(variable) },
        slot,
        flags,
    }
}

/// `workspan::abi::LOOP_BEGIN`.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_begin(
    variable: *mut Function,
    slot: usize,
    own: u64,
    flags: u64,
) {
    // The return address as fifth argument.
    naked_asm!("mov r8, [rsp]", "jmp {begins}", begins = sym begins)
}

unsafe extern "C" fn begins(
    variable: *mut Function,
    slot: usize,
    own: u64,
    flags: u64,
    from: usize,
) {
    with(|profile, counters| {
        let told = told(counters, own);
        if on_the_stack(slot) {
            let serial = flags & abi::LOOP_TEAMS == 0 && regions::is_serial();
            // SAFETY: called by instrumented code.
            let at = unsafe { looping(variable, slot, flags) };
            profile.loop_begins(&at, from, serial, told);
        }
    });
}

/// `workspan::abi::LOOP_TOLD`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_told(
    variable: *mut Function,
    slot: usize,
    own: u64,
    work: u64,
    longest: u64,
    count: u64,
) {
    with(|profile, counters| {
        let told = told(counters, own);
        if on_the_stack(slot) {
            // SAFETY: called by instrumented code.
            let at = unsafe { looping(variable, slot, 0) };
            let iterations = Iterations {
                count,
                work,
                longest,
            };
            profile.loop_told(&at, iterations, own, told);
        }
    });
}

/// `workspan::abi::LOOP_BULK`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_bulk(
    variable: *mut Function,
    slot: usize,
    own: u64,
    bytes: u64,
) {
    with(|profile, counters| {
        let told = told(counters, own);
        if on_the_stack(slot) {
            // SAFETY: called by instrumented code.
            let at = unsafe { looping(variable, slot, 0) };
            profile.loop_copied(&at, bytes, told.0);
        }
    });
}

/// `workspan::abi::LOOP_NEXT`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_next(
    variable: *mut Function,
    slot: usize,
    own: u64,
    flags: u64,
) {
    with(|profile, counters| {
        let (operations, foreign) = told(counters, own);
        if on_the_stack(slot) {
            // SAFETY: called by instrumented code.
            let at = unsafe { looping(variable, slot, flags) };
            profile.loop_goes_on(&at, operations, foreign);
        }
    });
}

/// `workspan::abi::LOOP_END`.
#[unsafe(no_mangle)]
extern "C" fn contech_ws_loop_end(slot: usize, own: u64, flags: u64) {
    with(|profile, counters| {
        let (operations, foreign) = told(counters, own);
        if on_the_stack(slot) {
            profile.loop_ends(slot, flags, operations, foreign);
        }
    });
}

/// `workspan::abi::LOOP_CHUNKS`.
#[unsafe(no_mangle)]
extern "C" fn contech_ws_loop_chunks(_slot: usize, own: u64) {
    with(|profile, counters| {
        let (operations, foreign) = told(counters, own);
        profile.advance(operations, foreign);
    });
}
