//! What the program calls: instrumented code (`workspan::abi`), and the marks of `contech/cilk.h` in code that is not.
#![allow(
    unsafe_code,
    reason = "C ABI, and state that only the first thread touches"
)]

use workspan::abi::{Counters, Function};

use self::gate::Within;
use crate::clock::Told;
use crate::profile::Arrival;

mod asked;
mod gate;
mod start;

pub(crate) use asked::{At, catch_up, end_with, interrupted, write_at_the_end, write_now};
pub(crate) use gate::{is_measured, with};

/// An invocation, from a function's variable and a slot.
///
/// # Safety
/// What instrumented code passes: its variable, and the address of the return address on its stack.
#[inline(always)]
unsafe fn arrival<'f>(
    function: *const Function,
    slot: *const usize,
    counters: &Counters,
) -> Arrival<'f> {
    let spawn = counters.spawn;
    Arrival {
        // SAFETY: by this function's contract; only the owner's thread gets here.
        function: unsafe { &*function },
        slot: slot as usize,
        from: if spawn > 1 {
            usize::try_from(spawn).unwrap_or(0)
        } else {
            // SAFETY: as above.
            unsafe { *slot }
        },
        spawn: spawn != 0,
    }
}

/// The same, of an invocation that nobody says to be by other code than it returns to.
///
/// # Safety
/// As above.
#[inline(always)]
unsafe fn plain_arrival<'f>(
    function: *const Function,
    slot: *const usize,
    counters: &Counters,
) -> Arrival<'f> {
    // SAFETY: by this function's contract; only the owner's thread gets here.
    let (function, from) = unsafe { (&*function, *slot) };
    Arrival {
        function,
        slot: slot as usize,
        from,
        spawn: counters.spawn != 0,
    }
}

/// What the counters tell to the hook of the invocation at `slot`, once: the next one is told what is new.
pub(crate) fn told(counters: &mut Counters, slot: usize, own: u64, pending: bool) -> Told {
    let by = std::mem::take(&mut counters.foreign);
    Told {
        pending,
        ..Told::new(counters.operations, own, by, slot)
    }
}

/// `workspan::abi::ENTER`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn contech_ws_enter(
    function: *const Function,
    slot: *const usize,
    own: u64,
) {
    if let Some(Within { profile, counters }) = &mut Within::at_once()
        // SAFETY: called by instrumented code.
        && profile.enter_at_once(unsafe { plain_arrival(function, slot, counters) }, counters)
    {
        return;
    }
    // SAFETY: as above.
    unsafe { enter(function, slot, own) };
}

/// `ENTER` where anything is not as usual.
#[cold]
#[inline(never)]
unsafe extern "C" fn enter(function: *const Function, slot: *const usize, own: u64) {
    with(|profile, counters| {
        // SAFETY: called by instrumented code.
        let at = unsafe { arrival(function, slot, counters) };
        let (spawn, foreign) = (counters.spawn, counters.foreign);
        counters.spawn = 0;
        if !profile.enter(at, told(counters, at.slot, own, true)) {
            // It is none, and what was told is for the next one.
            (counters.spawn, counters.foreign) = (spawn, foreign);
        }
    });
}

/// `workspan::abi::LEAF`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn contech_ws_leaf(
    function: *const Function,
    slot: *const usize,
    own: u64,
) {
    if let Some(Within { profile, counters }) = &mut Within::at_once()
        // SAFETY: called by instrumented code.
        && profile.leaf_at_once(unsafe { plain_arrival(function, slot, counters) }, counters, own)
    {
        return;
    }
    // SAFETY: as above.
    unsafe { leaf(function, slot, own) };
}

/// `LEAF` where anything is not as usual.
#[cold]
#[inline(never)]
unsafe extern "C" fn leaf(function: *const Function, slot: *const usize, own: u64) {
    with(|profile, counters| {
        // SAFETY: called by instrumented code.
        let at = unsafe { arrival(function, slot, counters) };
        let (spawn, foreign) = (counters.spawn, counters.foreign);
        counters.spawn = 0;
        if !profile.leaf(at, told(counters, at.slot, own, false)) {
            (counters.spawn, counters.foreign) = (spawn, foreign);
        }
        counters.operations += own;
    });
}

/// `workspan::abi::DONE`.
#[unsafe(no_mangle)]
unsafe extern "C" fn contech_ws_done(
    function: *const Function,
    slot: *const usize,
    own: u64,
    entered: u64,
) {
    if entered == 0 {
        // SAFETY: called by instrumented code.
        unsafe { contech_ws_leaf(function, slot, own) };
    } else {
        // Without a sync all that is its own is before it.
        let synced = entered.checked_sub(2).unwrap_or(own);
        left(slot as usize, own, own.wrapping_sub(synced));
    }
}

/// `workspan::abi::LEAVE`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_ws_leave(slot: usize, own: u64) {
    left(slot, own, 0);
}

/// The invocation at `slot` returns, and has synced before the last `after` operations.
#[inline(never)]
extern "C" fn left(slot: usize, own: u64, after: u64) {
    if let Some(Within { profile, counters }) = &mut Within::at_once()
        && profile.leave_at_once(slot, counters, own, after)
    {
        return;
    }
    leave(slot, own, after);
}

/// The same where anything is not as usual.
#[cold]
#[inline(never)]
extern "C" fn leave(slot: usize, own: u64, after: u64) {
    with(|profile, counters| {
        counters.spawn = 0;
        let told = told(counters, 0, own, false);
        profile.leave(slot, told, after);
        counters.operations += own;
    });
}

/// `workspan::abi::SYNC`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn contech_ws_sync(slot: usize, own: u64) {
    with(|profile, counters| {
        counters.spawn = 0;
        let told = told(counters, 0, own, true);
        profile.sync(Some(slot), told);
    });
}

/// The next invocation is a spawn by the code before `from`.
pub(crate) fn spawns(from: usize) {
    with(|_, counters| counters.spawn = from as u64);
}

/// It was.
pub(crate) fn spawned() {
    with(|_, counters| counters.spawn = 0);
}

/// The innermost invocation waits for what it spawned.
pub(crate) fn sync() {
    contech_cilk_sync();
}

/// An ordered section of a loop begins, or ends.
pub(crate) fn ordered(begins: bool) {
    with(|profile, counters| {
        counters.spawn = 0;
        profile.ordered(begins, told(counters, 0, 0, false));
    });
}

/// The next call is a spawn (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_spawn() {
    with(|_, counters| counters.spawn = 1);
}

/// The function waits for what it spawned (`contech/cilk.h`, in code that is not instrumented).
#[unsafe(no_mangle)]
extern "C" fn contech_cilk_sync() {
    with(|profile, counters| {
        counters.spawn = 0;
        let told = told(counters, 0, 0, false);
        profile.sync(None, told);
    });
}
