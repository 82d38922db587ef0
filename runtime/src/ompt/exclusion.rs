//! Records locks, critical sections, ordered regions, and reductions that combine partial results
//! under a lock.
//!
//! libomp reports the release of a lock after it happened, when another thread may already have
//! acquired the lock. So a release has no ticket of its own, but the ticket of its acquire, which
//! was drawn while the lock was held.

use std::ffi::c_int;

use contech_interpose::in_front_of;
use contech_trace::event::SyncOp::{
    self, CriticalEnter, CriticalExit, ObjectDestroy, ObjectInit, OmpLock, OmpUnlock, OrderedEnter,
    OrderedExit,
};

use super::abi::{MUTEX_CRITICAL, MUTEX_ORDERED};
use super::callback;
use super::team::Worker;
use crate::active::{Active, object};
use crate::real::Ptr;

fn ops(kind: c_int) -> (SyncOp, SyncOp) {
    match kind {
        MUTEX_CRITICAL => (CriticalEnter, CriticalExit),
        MUTEX_ORDERED => (OrderedEnter, OrderedExit),
        _ => (OmpLock, OmpUnlock),
    }
}

pub(super) fn acquire(a: Active, worker: &Worker) {
    worker.acquiring.set(a.now());
}

pub(super) fn acquired(a: Active, worker: &Worker, kind: c_int, wait: u64) {
    let before = worker.acquiring.get();
    let ticket = a.in_order(ops(kind).0, object(wait), 0, before, a.since(before));
    worker.held.borrow_mut().push((wait, ticket));
}

pub(super) fn released(a: Active, worker: &Worker, kind: c_int, wait: u64) {
    let mut held = worker.held.borrow_mut();
    let Some(at) = held.iter().rposition(|(lock, _)| *lock == wait) else {
        a.recorder
            .remark("OpenMP: a lock was released by another thread than the one that acquired it: no order follows from that");
        return;
    };
    let (_, ticket) = held.swap_remove(at);
    drop(held);
    a.timed(ops(kind).1, object(wait), ticket, a.now(), 0);
}

/// Stands for the lock that a thread is about to take for a reduction.
const ABOUT_TO: u64 = 1;

/// Notes that the thread is about to combine its partial result with those of others outside of a
/// barrier, or has done so. libomp says nothing of the lock that it takes for that. A thread that
/// is alone takes none.
pub(super) fn reduction(a: Active, worker: &Worker, ends: bool) {
    let lock = worker.combining.take();
    if ends && lock > ABOUT_TO {
        released(a, worker, MUTEX_CRITICAL, lock);
    } else if !ends && worker.team.get().1 > 1 {
        worker.acquiring.set(a.now());
        worker.combining.set(ABOUT_TO);
    }
}

// Functions of libomp with which a thread begins to combine its partial result: location, thread,
// number and bytes of the variables, the variables, a function that combines them, and a lock.
in_front_of! {
    __kmpc_reduce(at: Ptr, thread: c_int, count: c_int, size: usize, data: Ptr, combine: Ptr, lock: Ptr) -> c_int => |call| {
        combines(lock, call)
    };
    __kmpc_reduce_nowait(at: Ptr, thread: c_int, count: c_int, size: usize, data: Ptr, combine: Ptr, lock: Ptr) -> c_int => |call| {
        combines(lock, call)
    };
}

/// Records that `call` has taken the lock of a reduction, if the thread's callback said that it is
/// about to.
fn combines(lock: Ptr, call: impl FnOnce() -> c_int) -> c_int {
    let result = call();
    callback(|a, worker| {
        if worker.combining.get() == ABOUT_TO {
            let lock = lock.expose_provenance() as u64;
            acquired(a, worker, MUTEX_CRITICAL, lock);
            worker.combining.set(lock);
        }
    });
    result
}

pub(super) fn init(a: Active, _: &Worker, wait: u64) {
    a.instant(ObjectInit, object(wait), 0);
}

pub(super) fn destroy(a: Active, _: &Worker, wait: u64) {
    a.instant(ObjectDestroy, object(wait), 0);
}
