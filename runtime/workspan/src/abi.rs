//! The contract between the pass and the on-line profiler: what code compiled with
//! `--contech-mode=workspan` refers to.
//!
//! Instrumented code counts its operations (IR instructions, as in a recording) in a register and
//! subtracts them from [`State::left`] before calls. It adds an [`Event`] to the thread's log when
//! an invocation is going to call something, before it returns, and where it waits for what it
//! spawned. An invocation that returns without having called anything adds one event in place of
//! the first two. Each call of [`DUE`] reads the log, about every two thousand operations. So hooks
//! do not make the program wait (a leaf's cache misses overlap with the next leaf's, as they do
//! without hooks), and nearly all of their cost is measured where it is spent. A *slot* is the
//! address of the invocation's return address on the stack: it tells the call site, and which
//! invocations still exist. The *own* operations are those in the register.
//!
//! An event is made in this order, so that a signal handler's events in between do no harm:
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

/// Symbol of the [`State`], which is thread-local (initial-exec).
pub const STATE: &str = "contech_ws_state";
/// `void ()`: reads the log. It changes no general register but r11 (LLVM's `preserve_most`).
pub const DUE: &str = "contech_ws_due";
/// What an event subtracts from [`State::left`] in addition to operations, so that the log never
/// outgrows its room.
pub const EVENT_OPERATIONS: u64 = 8;

/// In the lowest bits of [`Event::what`]: an invocation is going to call something.
pub const ENTER: u64 = 1;
/// An invocation returns without having called anything, so everything it executed is its own.
pub const LEAF: u64 = 2;
/// An invocation that reported [`ENTER`] returns.
pub const LEAVE: u64 = 3;
/// [`LEAVE`] if [`Event::synced`] is not zero, otherwise [`LEAF`].
pub const DONE: u64 = 4;
/// The invocation waits for what it spawned.
pub const SYNC: u64 = 5;
/// Mask of the kind.
pub const KIND: u64 = 7;
/// With [`ENTER`], [`LEAF`] or [`DONE`]: the invocation is a spawn.
pub const SPAWN: u64 = 8;
/// Mask of all of these; the other bits are the address of the [`Function`], which `LEAVE` and
/// `SYNC` do not have.
pub const FLAGS: u64 = KIND | SPAWN;

/// The function that `contech/cilk.h` calls before a call that is a spawn; the pass turns it into a
/// store to [`State::spawn`].
pub const CILK_SPAWN: &str = "contech_cilk_spawn";
/// The function that `contech/cilk.h` calls for a sync; the pass turns it into a [`SYNC`].
pub const CILK_SYNC: &str = "contech_cilk_sync";

/// What instrumented code of a thread counts and logs; all zero at first. The fields are atomic for
/// the sake of signal handlers. Every access is a plain one of the thread's own, except that
/// another thread may ask for the profile through [`State::least`].
#[repr(C, align(64))]
#[derive(Debug)]
pub struct State {
    /// Decreases by one for every operation reported, and by [`EVENT_OPERATIONS`] for every event.
    pub left: AtomicI64,
    /// When less than this is left, the next event is the last before the log is read ([`DUE`]).
    pub least: AtomicI64,
    /// Where the next event goes, as a distance in bytes from [`State::few`].
    pub next: AtomicUsize,
    /// The slot of the caller if code was called whose operations are not counted, otherwise zero.
    /// Only the clock knows the time of such code, so `least` is then set above everything that can
    /// be left.
    pub foreign: AtomicU64,
    /// [`SPAWN`] if the next call is a spawn, otherwise zero.
    pub spawn: AtomicU64,
    unused: [u64; 3],
    /// Room for events of a thread that is not measured, or not measured yet.
    pub few: [Event; FEW],
}

/// Number of events in [`State::few`].
pub const FEW: usize = 8;

/// An entry of the log.
#[repr(C)]
#[derive(Debug)]
pub struct Event {
    /// Kind, [`SPAWN`] and function. It is written last: zero means that the event is not whole.
    pub what: AtomicU64,
    /// The slot.
    pub slot: AtomicUsize,
    /// The return address (`ENTER`, `LEAF` and `DONE`).
    pub from: AtomicUsize,
    /// The value of [`State::left`] after this event.
    pub left: AtomicI64,
    /// Operations of the invocation since it called something, or since it began (`ENTER`, `LEAF`
    /// and `DONE`).
    pub own: AtomicU64,
    /// With `DONE`: one if the invocation entered. If the invocation has also synced without an
    /// event, the number of its own operations at the sync, plus two.
    pub synced: AtomicU64,
}

/// The variable of a function.
#[repr(C)]
#[derive(Debug)]
pub struct Function {
    /// Address of the code.
    pub code: usize,
    /// Number of the function, once it has one; zero before.
    pub number: Cell<u32>,
}

/// Number of words of a [`Function`].
pub const FUNCTION_WORDS: usize = size_of::<Function>() / 8;
