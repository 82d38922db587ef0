//! The contract between the pass and the on-line profiler: what code compiled with `--contech-mode=workspan` refers to.
//!
//! Instrumented code counts its operations (IR instructions, as in a recording) in a register and adds them to
//! [`Counters::operations`] before calls. It calls `ENTER` when an invocation is going to call something, `LEAVE` before
//! it returns, and `LEAF` instead of both when it returns without having called anything. A *slot* is the address of the
//! invocation's return address on the stack: it tells the call site and which invocations still exist. *Own* are the
//! operations in the register: `LEAF`, `LEAVE` and `DONE` add them to the counter, the others leave them where they are.
//! `LOOP_*`, for loops whose iterations may run in parallel, add them, too.

use std::cell::Cell;

/// Symbol of the [`Counters`].
pub const COUNTERS: &str = "contech_ws_counters";
/// `void (Function *, slot, u64 own)`.
pub const ENTER: &str = "contech_ws_enter";
/// `void (Function *, slot, u64 own)`.
pub const LEAF: &str = "contech_ws_leaf";
/// `void (Function *, slot, u64 own, u64 entered)`: `LEAVE` if entered, else `LEAF`. If entered is two or more the
/// invocation has synced, without telling, when its own operations were two less than that.
pub const DONE: &str = "contech_ws_done";
/// `void (slot, u64 own)`.
pub const LEAVE: &str = "contech_ws_leave";
/// `void (slot, u64 own)`: the invocation waits for what it spawned.
pub const SYNC: &str = "contech_ws_sync";
/// `void (Function *of the loop, slot, u64 operations, u64 flags)`: a work-sharing loop begins in the invocation. The
/// loop's variable is like a function's; flags are `LOOP_*`, and above [`LOOP_DEPTH`] how many loops with
/// [`LOOP_CALLS`] of the same invocation it is in.
pub const LOOP_BEGIN: &str = "contech_ws_loop_begin";
/// `void (Function *, slot, u64 operations, u64 within, u64 longest, u64 count)`: a loop that calls nothing has ended.
/// Of its operations `within` are those of the `count` iterations, `longest` those of the longest.
pub const LOOP_TOLD: &str = "contech_ws_loop_told";
/// `void (Function *, slot, u64 operations, u64 flags)`: an iteration of a loop with [`LOOP_CALLS`] has ended, and perhaps
/// the next one begins.
pub const LOOP_NEXT: &str = "contech_ws_loop_next";
/// `void (slot, u64 operations, u64 flags)`: a loop with [`LOOP_CALLS`] has ended.
pub const LOOP_END: &str = "contech_ws_loop_end";
/// `void (Function *, slot, u64 operations, u64 bytes)`: a loop that became one call, which sets or copies so many bytes,
/// has ended.
pub const LOOP_BULK: &str = "contech_ws_loop_bulk";
/// `void (slot, u64 operations)`: chunks of a loop begin to be handed out.
pub const LOOP_CHUNKS: &str = "contech_ws_loop_chunks";
/// The loop's iterations are those of a chunk: what came before it in the invocation handed the chunk out.
pub const LOOP_IN_CHUNKS: u64 = 1;
/// Teams share the iterations, not threads of a parallel region.
pub const LOOP_TEAMS: u64 = 2;
/// Each iteration is told: it calls.
pub const LOOP_CALLS: u64 = 4;
/// Where in the flags the depth is.
pub const LOOP_DEPTH: u32 = 8;
/// Loops within loops of one invocation that are told apart: as many as fit below a return address' slot.
pub const LOOPS_DEEP: u64 = 6;
/// What `contech/cilk.h` calls before a call that is a spawn; becomes a store to [`Counters::spawn`].
pub const CILK_SPAWN: &str = "contech_cilk_spawn";
/// What `contech/cilk.h` calls for a sync; becomes a call of [`SYNC`].
pub const CILK_SYNC: &str = "contech_cilk_sync";

/// What instrumented code counts.
#[repr(C)]
#[derive(Debug)]
pub struct Counters {
    /// Operations executed and told so far.
    pub operations: u64,
    /// Not zero when code was called whose operations are not counted: only the clock knows its time. By instrumented
    /// code it is its slot.
    pub foreign: u64,
    /// Not zero when the next call is a spawn; greater than one, the address that spawns.
    pub spawn: u64,
}

/// The variable of a function or of a loop.
#[repr(C)]
#[derive(Debug)]
pub struct Function {
    /// Where its code is.
    pub code: usize,
    /// Its number, once it has one; zero before.
    pub number: Cell<u32>,
    /// Of a loop, the number of its call site, once it has one; zero before.
    pub site: Cell<u32>,
}

/// Words of a [`Function`].
pub const FUNCTION_WORDS: usize = size_of::<Function>() / 8;
