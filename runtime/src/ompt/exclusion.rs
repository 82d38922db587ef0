//! Records locks, critical sections and ordered regions.
//!
//! libomp reports the release of a lock after it happened, when another thread may already have acquired the lock. So a
//! release has no ticket of its own, but the ticket of its acquire, which was drawn while the lock was held.

use std::ffi::{c_int, c_uint};

use contech_trace::event::SyncOp::{
    self, CriticalEnter, CriticalExit, ObjectDestroy, ObjectInit, OmpLock, OmpUnlock, OrderedEnter,
    OrderedExit,
};

use super::abi::{Code, MUTEX_CRITICAL, MUTEX_ORDERED};
use super::callback;
use crate::real::Ptr;

fn object(wait: u64) -> Ptr {
    std::ptr::without_provenance_mut(usize::try_from(wait).unwrap_or(0))
}

fn ops(kind: c_int) -> (SyncOp, SyncOp) {
    match kind {
        MUTEX_CRITICAL => (CriticalEnter, CriticalExit),
        MUTEX_ORDERED => (OrderedEnter, OrderedExit),
        _ => (OmpLock, OmpUnlock),
    }
}

pub(super) unsafe extern "C" fn acquire(_: c_int, _: c_uint, _: c_uint, _wait: u64, _: Code) {
    callback(|a, worker| worker.acquiring.set(a.now()));
}

pub(super) unsafe extern "C" fn acquired(kind: c_int, wait: u64, _: Code) {
    callback(|a, worker| {
        let object = object(wait);
        let before = worker.acquiring.get();
        let ticket = a.in_order(ops(kind).0, object, 0, before, a.since(before));
        worker.held.borrow_mut().push((wait, ticket));
    });
}

pub(super) unsafe extern "C" fn released(kind: c_int, wait: u64, _: Code) {
    callback(|a, worker| {
        let mut held = worker.held.borrow_mut();
        let Some(at) = held.iter().rposition(|(lock, _)| *lock == wait) else {
            a.recorder
                .remark("OpenMP: a lock was released by another thread than the one that acquired it: no order follows from that");
            return;
        };
        let (_, ticket) = held.swap_remove(at);
        drop(held);
        a.timed(ops(kind).1, object(wait), ticket, a.now(), 0);
    });
}

pub(super) unsafe extern "C" fn init(_: c_int, _: c_uint, _: c_uint, wait: u64, _: Code) {
    callback(|a, _| a.instant(ObjectInit, object(wait), 0));
}

pub(super) unsafe extern "C" fn destroy(_: c_int, wait: u64, _: Code) {
    callback(|a, _| a.instant(ObjectDestroy, object(wait), 0));
}
