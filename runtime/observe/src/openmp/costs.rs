//! Functions of libomp whose time is the runtime's own work: making tasks, and handing out
//! iterations. About every 16th call of a thread is timed, and counts for those since the last
//! timed one. The other calls cost a few more instructions.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::in_front_of;
use contech_observation::State;

use crate::real::Ptr;
use crate::sites::bump;
use crate::{clock, tls};

in_front_of! {
    __kmpc_omp_task_alloc(at: Ptr, thread: c_int, flags: c_int, task: usize, shared: usize, body: Ptr) -> Ptr => |call| sampled(0, call);
    __kmpc_omp_task(at: Ptr, thread: c_int, task: Ptr) -> c_int => |call| sampled(1, call);
    __kmpc_omp_task_with_deps(at: Ptr, thread: c_int, task: Ptr, n: c_int, list: Ptr, m: c_int, more: Ptr) -> c_int => |call| sampled(2, call);
    __kmpc_dispatch_next_4(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int => |call| sampled(3, call);
    __kmpc_dispatch_next_4u(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int => |call| sampled(4, call);
    __kmpc_dispatch_next_8(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int => |call| sampled(5, call);
    __kmpc_dispatch_next_8u(at: Ptr, thread: c_int, last: Ptr, lower: Ptr, upper: Ptr, stride: Ptr) -> c_int => |call| sampled(6, call);
}

/// The functions from this index on hand out parts of loops.
const PARTS: usize = 3;

/// Ticks measured for an empty call: the cost of reading the clock twice.
pub(super) const READING: u64 = 40;

#[inline(always)]
fn sampled<R>(index: usize, call: impl FnOnce() -> R) -> R {
    match tls::block().is_timed(index) {
        None => call(),
        Some(weight) => time(index, weight, call),
    }
}

/// Times a call, which stands for so many calls.
#[cold]
#[inline(never)]
fn time<R>(index: usize, weight: u64, call: impl FnOnce() -> R) -> R {
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
    lane.reassign(State::Scheduling, tls::stands_for(own, weight), now);
    result
}
