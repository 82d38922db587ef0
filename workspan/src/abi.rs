//! The contract between the pass and the on-line profiler: what code compiled with `--contech-mode=workspan` refers to.
//!
//! Instrumented code counts its operations (IR instructions, as in a recording) in a register and adds them to
//! [`Counters::operations`] before calls and returns. It calls `ENTER` when an invocation is going to call something,
//! `LEAVE` before it returns, and `LEAF` instead of both when it returns without having called anything. A *slot* is the
//! address of the invocation's return address on the stack: it tells the call site and which invocations still exist.

/// Symbol of the [`Counters`].
pub const COUNTERS: &str = "contech_ws_counters";
/// `void (Function *, slot, u64 operations so far)`.
pub const ENTER: &str = "contech_ws_enter";
/// `void (Function *, slot, u64 operations)`.
pub const LEAF: &str = "contech_ws_leaf";
/// `void (Function *, slot, u64 operations, u64 entered)`: `LEAVE` if entered, else `LEAF`.
pub const DONE: &str = "contech_ws_done";
/// `void (slot)`.
pub const LEAVE: &str = "contech_ws_leave";
/// `void (slot)`: the invocation waits for what it spawned.
pub const SYNC: &str = "contech_ws_sync";
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
    /// Not zero when code was called whose operations are not counted: only the clock knows its time.
    pub foreign: u64,
    /// Not zero when the next call is a spawn; greater than one, the address that spawns.
    pub spawn: u64,
}

/// Call sites a function remembers, most recent first in use.
pub const REMEMBERED: usize = 4;

/// A function's own variable, zero but for the code address.
#[repr(C)]
#[derive(Debug)]
pub struct Function {
    /// Where its code is.
    pub code: usize,
    /// Its number plus one, once it has one.
    pub number: u64,
    /// Return addresses it was called from.
    pub from: [usize; REMEMBERED],
    /// The numbers of those call sites.
    pub sites: [u32; REMEMBERED],
}

/// Words of a [`Function`].
pub const FUNCTION_WORDS: usize = size_of::<Function>() / 8;
