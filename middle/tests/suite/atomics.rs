//! Atomic variables, fences and futexes: trace in, graph out.

use contech_trace::event::SyncOp::{
    AtomicFail, AtomicLoad, AtomicRmw, AtomicSpun, AtomicStore, Fence, FutexTimeout, FutexWait,
    FutexWake, MutexLock,
};

use crate::graph::check;
use crate::rules::{children, end};

const X: u64 = 0x1000;
const Y: u64 = 0x2000;
const RELAXED: u64 = 0;
const ACQUIRE: u64 = 2;
const RELEASE: u64 = 3;
const BOTH: u64 = 4;

#[test]
fn an_acquire_comes_after_the_release_it_reads() {
    let mut t = children(2);
    t.sync_aux(1, AtomicStore, X, RELEASE);
    t.sync_aux(2, AtomicLoad, X, ACQUIRE);
    t.sync_aux(2, AtomicLoad, X, ACQUIRE);
    t.sync_aux(1, AtomicStore, X, RELEASE);
    t.sync_aux(2, AtomicFail, X, ACQUIRE);
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 join 1 <- 1:2
         0:4 join 2 <- 2:3
         1:0 work 0 <- 0:1
         1:1 sync atomic_store obj#1
         1:2 sync atomic_store obj#1
         2:0 work 0 <- 0:2
         2:1 sync atomic_load obj#1 <- 1:1
         2:2 sync atomic_load obj#1
         2:3 sync atomic_fail obj#1 <- 1:2",
    );
}

#[test]
fn relaxed_operations_order_nothing_and_a_relaxed_store_ends_a_release_sequence() {
    let mut t = children(2);
    t.sync_aux(1, AtomicStore, X, RELEASE);
    t.sync_aux(2, AtomicLoad, X, RELAXED);
    t.sync_aux(1, AtomicRmw, X, RELAXED);
    t.sync_aux(2, AtomicLoad, X, ACQUIRE); // of the release sequence
    t.sync_aux(1, AtomicStore, X, RELEASE);
    t.sync_aux(1, AtomicStore, X, RELAXED);
    t.sync_aux(2, AtomicLoad, X, ACQUIRE);
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 join 1 <- 1:4
         0:4 join 2 <- 2:3
         1:0 work 0 <- 0:1
         1:1 sync atomic_store obj#1
         1:2 sync atomic_rmw obj#1
         1:3 sync atomic_store obj#1
         1:4 sync atomic_store obj#1
         2:0 work 0 <- 0:2
         2:1 sync atomic_load obj#1
         2:2 sync atomic_load obj#1 <- 1:1
         2:3 sync atomic_load obj#1",
    );
}

#[test]
fn a_counter_of_references_orders_every_drop_before_the_last() {
    let mut t = children(3);
    t.sync_aux(1, AtomicRmw, X, RELEASE);
    t.sync_aux(2, AtomicRmw, X, RELEASE);
    t.sync_aux(3, AtomicRmw, X, BOTH);
    t.sync_aux(1, AtomicRmw, X, BOTH);
    check(
        end(t, 3),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 create 3
         0:4 join 1 <- 1:2
         0:5 join 2 <- 2:1
         0:6 join 3 <- 3:1
         1:0 work 0 <- 0:1
         1:1 sync atomic_rmw obj#1
         1:2 sync atomic_rmw obj#1 <- 3:1
         2:0 work 0 <- 0:2
         2:1 sync atomic_rmw obj#1
         3:0 work 0 <- 0:3
         3:1 sync atomic_rmw obj#1 <- 1:1 2:1",
    );
}

#[test]
fn fences_make_relaxed_operations_order() {
    let mut t = children(2);
    t.sync_aux(1, Fence, 0, RELEASE);
    t.sync_aux(1, AtomicStore, X, RELAXED);
    t.sync_aux(1, AtomicStore, Y, RELAXED);
    t.sync_aux(2, AtomicLoad, X, RELAXED);
    t.sync_aux(2, Fence, 0, ACQUIRE);
    t.sync_aux(2, AtomicLoad, Y, RELAXED); // no fence after it
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 join 1 <- 1:3
         0:4 join 2 <- 2:3
         1:0 work 0 <- 0:1
         1:1 sync fence obj#1
         1:2 sync atomic_store obj#2
         1:3 sync atomic_store obj#3
         2:0 work 0 <- 0:2
         2:1 sync atomic_load obj#2
         2:2 sync fence obj#1 <- 1:2
         2:3 sync atomic_load obj#3",
    );
}

#[test]
fn the_first_try_of_a_spin_wait_is_no_task() {
    let mut t = children(1);
    t.sync_aux(1, AtomicSpun, X, ACQUIRE);
    t.sync_aux(1, AtomicLoad, X, ACQUIRE | 1000 << 8);
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 join 1 <- 1:1
         1:0 work 0 <- 0:1
         1:1 sync atomic_load obj#1",
    );
}

#[test]
fn a_lock_where_an_atomic_variable_is_does_not_mix_with_it() {
    let mut t = children(2);
    t.sync_aux(1, AtomicStore, X, RELEASE);
    t.sync(1, MutexLock, X);
    t.sync_aux(2, AtomicLoad, X, ACQUIRE);
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 join 1 <- 1:2
         0:4 join 2 <- 2:1
         1:0 work 0 <- 0:1
         1:1 sync atomic_store obj#1
         1:2 sync mutex_lock obj#1
         2:0 work 0 <- 0:2
         2:1 sync atomic_load obj#1 <- 1:1",
    );
}

#[test]
fn a_wake_comes_before_as_many_waits_as_it_woke() {
    let mut t = children(3);
    t.sync_aux(0, FutexWake, X, 0);
    t.sync_aux(0, FutexWake, X, 2);
    t.sync_aux(1, FutexWait, X, 0);
    t.sync_aux(3, FutexTimeout, X, 0);
    t.sync_aux(2, FutexWait, X, 0);
    t.sync_aux(3, FutexWait, X, 0);
    check(
        end(t, 3),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 create 3
         0:4 sync futex_wake obj#1
         0:5 sync futex_wake obj#1
         0:6 join 1 <- 1:1
         0:7 join 2 <- 2:1
         0:8 join 3 <- 3:2
         1:0 work 0 <- 0:1
         1:1 sync futex_wait obj#1 <- 0:5
         2:0 work 0 <- 0:2
         2:1 sync futex_wait obj#1 <- 0:5
         3:0 work 0 <- 0:3
         3:1 sync futex_timeout obj#1
         3:2 sync futex_wait obj#1",
    );
}
