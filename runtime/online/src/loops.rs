//! The functions that instrumented code calls for loops over iterations (`workspan::abi`, `LOOP_*`).
#![allow(unsafe_code, reason = "C ABI, and a return address")]

use contech_guest::exports;
use workspan::abi::{self, Function};

use crate::hooks::{self, with_own};
use crate::profile::{Iterations, Looping, Own, Profile, Told};
use crate::regions;

/// Reports on a loop of the invocation at `slot`, if that invocation is on the owner's stack.
fn in_invocation(slot: usize, operations: u64, f: impl FnOnce(&mut Profile, Told)) {
    let own = Own {
        slot,
        operations,
        is_foreign: false,
    };
    with_own(own, |profile, told| {
        if profile.on_the_stack(slot) {
            f(profile, told);
        }
    });
}

/// # Safety
/// The arguments are those that instrumented code passes: the loop's variable, and the slot of the invocation.
unsafe fn looping<'f>(variable: *const Function, slot: usize, flags: u64) -> Looping<'f> {
    Looping {
        // SAFETY: this function's contract, and only the owner's thread gets here.
        variable: unsafe { &*variable },
        slot,
        flags,
    }
}

// `workspan::abi::LOOP_BEGIN`.
exports! {
    contech_ws_loop_begin [caller 4] = begins;
}

unsafe extern "C" fn begins(
    variable: *const Function,
    slot: usize,
    own: u64,
    flags: u64,
    from: usize,
) {
    in_invocation(slot, own, |profile, told| {
        let serial = flags & abi::LOOP_TEAMS == 0 && regions::is_serial();
        // SAFETY: instrumented code calls this.
        let at = unsafe { looping(variable, slot, flags) };
        profile.loop_begins(&at, from, serial, told);
    });
}

/// `workspan::abi::LOOP_TOLD`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_told(
    variable: *const Function,
    slot: usize,
    own: u64,
    work: u64,
    longest: u64,
    count: u64,
) {
    in_invocation(slot, own, |profile, told| {
        // SAFETY: instrumented code calls this.
        let at = unsafe { looping(variable, slot, 0) };
        let iterations = Iterations {
            count,
            work,
            longest,
        };
        profile.loop_told(&at, iterations, told);
    });
}

/// `workspan::abi::LOOP_BULK`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_bulk(
    variable: *const Function,
    slot: usize,
    own: u64,
    bytes: u64,
) {
    let own = Own {
        slot,
        operations: own,
        is_foreign: true,
    };
    with_own(own, |profile, told| {
        if profile.on_the_stack(slot) {
            // SAFETY: instrumented code calls this.
            let at = unsafe { looping(variable, slot, 0) };
            profile.loop_copied(&at, bytes, told);
        }
    });
}

/// `workspan::abi::LOOP_NEXT`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_loop_next(
    variable: *const Function,
    slot: usize,
    own: u64,
    flags: u64,
) {
    let what = variable.expose_provenance() as u64 + abi::NEXT;
    let flags = usize::try_from(flags).unwrap_or(0);
    if hooks::event(what, slot, flags, own) {
        hooks::contech_ws_due();
    }
}

/// `workspan::abi::LOOP_END`.
#[unsafe(no_mangle)]
extern "C" fn contech_ws_loop_end(slot: usize, own: u64, flags: u64) {
    in_invocation(slot, own, |profile, told| {
        profile.loop_ends(slot, flags, told);
    });
}

/// `workspan::abi::LOOP_CHUNKS`.
#[unsafe(no_mangle)]
extern "C" fn contech_ws_loop_chunks(slot: usize, own: u64) {
    let own = Own {
        slot,
        operations: own,
        is_foreign: false,
    };
    with_own(own, Profile::advance);
}
