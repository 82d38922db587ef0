//! Functions of libomp whose time is the runtime's own work: making tasks, and handing out
//! iterations. About every 16th call of a thread is timed, and counts for those since the last
//! timed one. The other calls cost two more instructions.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::{exports, found};
use contech_observation::State;

use crate::sites::bump;
use crate::{clock, tls};

type Ptr = *mut c_void;

macro_rules! timed {
    ($($index:literal $name:ident, $real:ident, $slow:ident($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {$(
        found! { static $real = $name($($ty),*) -> $ret; }
        exports! {
            $name [counted __contech_observe_tls tls::LEFT + 4 * $index, $slow] = $real;
        }

        unsafe extern "C-unwind" fn $slow($($arg: $ty),*) -> $ret {
            // The first call of a thread comes here, so it is known when the stub jumps to it.
            let real = $real.get();
            // SAFETY: the caller's arguments are passed on.
            time($index, || unsafe { real($($arg),*) })
        }
    )*};
}

timed! {
    0 __kmpc_omp_task_alloc, ALLOC, alloc(at: Ptr, thread: c_int, flags: c_int, task: usize, shared: usize, body: Ptr) -> Ptr;
    1 __kmpc_omp_task, TASK, task(at: Ptr, thread: c_int, task: Ptr) -> c_int;
    2 __kmpc_omp_task_with_deps, DEPS, deps(at: Ptr, thread: c_int, task: Ptr, n: c_int, list: Ptr, m: c_int, more: Ptr) -> c_int;
    3 __kmpc_dispatch_next_4, NEXT_4, next_4(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int;
    4 __kmpc_dispatch_next_4u, NEXT_4U, next_4u(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int;
    5 __kmpc_dispatch_next_8, NEXT_8, next_8(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int;
    6 __kmpc_dispatch_next_8u, NEXT_8U, next_8u(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int;
}

/// The functions from this index on hand out parts of loops.
const PARTS: usize = 3;

/// Ticks measured for an empty call: the cost of reading the clock twice.
pub(super) const READING: u64 = 40;

/// A call that takes more ticks was interrupted: its time counts, but does not stand for other
/// calls.
const UNUSUAL: u64 = 20_000;

/// Times a call, which stands for the calls since the last one that was timed.
fn time<R>(index: usize, call: impl FnOnce() -> R) -> R {
    let weight = tls::block().next_gap(index);
    if index >= PARTS
        && let Some(lane) = tls::lane()
    {
        bump(&lane.pieces, weight);
    }
    let Some(lane) = tls::lane().filter(|lane| lane.is_running()) else {
        return call();
    };
    let part = &lane.openmp;
    // A task that runs within a timed call may itself make tasks in timed calls, so the outer
    // call's values are kept.
    let outer = part.timed.swap(part.depth() + 1, Relaxed);
    let nested = part.nested.swap(0, Relaxed);
    let nested_from = part.nested_from.load(Relaxed);
    let before = clock::now();
    let result = call();
    let now = clock::now();
    let passed = now.saturating_sub(before);
    let own = passed.saturating_sub(part.nested.load(Relaxed) + READING);
    part.timed.store(outer, Relaxed);
    part.nested.store(nested, Relaxed);
    part.nested_from.store(nested_from, Relaxed);
    let usual = part.usual.load(Relaxed);
    let others = if own > UNUSUAL {
        usual
    } else {
        part.usual.store(usual - usual / 8 + own / 8, Relaxed);
        own
    };
    lane.reassign(State::Scheduling, own + others * (weight - 1), weight, now);
    result
}
