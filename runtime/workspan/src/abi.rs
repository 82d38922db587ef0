//! The contract between the pass and the on-line profiler: what code compiled with `--contech-mode=workspan` refers to.
//!
//! Instrumented code counts its operations (IR instructions, as in a recording) in a register and takes them from
//! [`State::left`] before calls. It adds an [`Event`] to the thread's log when an invocation is going to call something,
//! before it returns, where it waits for what it spawned, and, in place of the first two, when it returns without having
//! called anything. The log is read when [`DUE`] is called, two thousand operations at a time: so hooks keep nothing of the
//! program waiting (a leaf's cache misses overlap with the next one's, as they do without), and what they cost is
//! nearly all measured where it is spent. A *slot* is the address of the
//! invocation's return address on the stack: it tells the call site and which invocations still exist. *Own* are the
//! operations in the register. `LOOP_*`, for loops whose iterations may run in parallel, take them from what is left, too.
//!
//! An event, in this order, so that a signal handler's events in between do no harm:
//!
//! ```text
//! left -= acc + EVENT_OPERATIONS; acc = 0       one instruction
//! event = log(next); next += sizeof(Event)      one instruction
//! event.own = acc, .slot = slot, .from = return address, .left = left
//! event.what = &function + kind + spawn; spawn = 0
//! if left < least: DUE()
//! ```

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};

/// Symbol of the [`State`], thread-local (initial-exec).
pub const STATE: &str = "contech_ws_state";
/// `void ()`, which changes no general register but r11 (LLVM's `preserve_most`): the log is to be read.
pub const DUE: &str = "contech_ws_due";
/// What an event takes of [`State::left`] besides operations: so the log is never longer than it has room for.
pub const EVENT_OPERATIONS: u64 = 8;

/// [`Event::what`], its lowest bits: an invocation is going to call something.
pub const ENTER: u64 = 1;
/// An invocation returns without having called anything: all that it executed is its own.
pub const LEAF: u64 = 2;
/// An invocation that told [`ENTER`] returns.
pub const LEAVE: u64 = 3;
/// [`LEAVE`] if [`Event::synced`] is not zero, else [`LEAF`].
pub const DONE: u64 = 4;
/// The invocation waits for what it spawned.
pub const SYNC: u64 = 5;
/// An iteration of a loop with [`LOOP_CALLS`] has ended; [`Event::from`] are its flags (by [`LOOP_NEXT`]).
pub const NEXT: u64 = 6;
/// Which of them it is.
pub const KIND: u64 = 7;
/// With [`ENTER`], [`LEAF`] or [`DONE`]: the invocation is a spawn.
pub const SPAWN: u64 = 8;
/// All of these: what is left is the address of the [`Function`], of which `LEAVE` and `SYNC` have none.
pub const FLAGS: u64 = KIND | SPAWN;

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
/// What `contech/cilk.h` calls before a call that is a spawn; becomes a store to [`State::spawn`].
pub const CILK_SPAWN: &str = "contech_cilk_spawn";
/// What `contech/cilk.h` calls for a sync; becomes a [`SYNC`].
pub const CILK_SYNC: &str = "contech_cilk_sync";

/// What instrumented code of a thread counts and logs; all zero at first. Atomic for signal handlers' sake: every access
/// is a plain one of the thread's own, but that another thread may ask for the profile by [`State::least`].
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct State {
    /// Less one for every operation told, and [`EVENT_OPERATIONS`] for every event.
    pub left: AtomicI64,
    /// When fewer are left the next event is the last: [`DUE`].
    pub least: AtomicI64,
    /// Where the next event is put, in bytes behind [`State::few`].
    pub next: AtomicUsize,
    /// Not zero when code was called whose operations are not counted: only the clock knows its time. It is the caller's
    /// slot; `least` is more than there can be left then.
    pub foreign: AtomicU64,
    /// [`SPAWN`] when the next call is a spawn, else zero.
    pub spawn: AtomicU64,
    unused: [u64; 3],
    /// Room for events of a thread that nobody measures, or not yet.
    pub few: [Event; FEW],
}

/// Events of [`State::few`].
pub const FEW: usize = 8;

/// What is logged.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Event {
    /// Kind, [`SPAWN`] and function. Written last: zero while the event is not whole.
    pub what: AtomicU64,
    /// The slot.
    pub slot: AtomicUsize,
    /// The return address (`ENTER`, `LEAF` and `DONE`).
    pub from: AtomicUsize,
    /// What was left, the event included.
    pub left: AtomicI64,
    /// Operations of the invocation since it called something, or began (`ENTER`, `LEAF` and `DONE`).
    pub own: AtomicU64,
    /// With `DONE`, one if the invocation entered; two or more if it has also synced, without telling, when its own
    /// operations were two less than that.
    pub synced: AtomicU64,
}

impl State {
    /// That of a thread that has executed nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            left: AtomicI64::new(0),
            least: AtomicI64::new(0),
            next: AtomicUsize::new(0),
            foreign: AtomicU64::new(0),
            spawn: AtomicU64::new(0),
            unused: [0; 3],
            few: [const { Event::new() }; FEW],
        }
    }
}

impl Event {
    /// Not whole.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            what: AtomicU64::new(0),
            slot: AtomicUsize::new(0),
            from: AtomicUsize::new(0),
            left: AtomicI64::new(0),
            own: AtomicU64::new(0),
            synced: AtomicU64::new(0),
        }
    }
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
