//! Every construct: trace in, graph out.

use contech_trace::event::SyncOp::{
    Barrier, CondBroadcast, CondReacquire, CondRelease, CondSignal, CondTimeout, CondWake, Fork,
    MutexLock, MutexUnlock, ObjectDestroy, ObjectInit, OncePass, OnceRun, RwRead, RwUnlock,
    RwWrite, SemPost, SemWait, SpinLock, SpinUnlock, ThreadJoin,
};

use crate::graph::check;
use crate::trace::TraceBuilder;

const OBJECT: u64 = 0x1000;
const MUTEX: u64 = 0x2000;

/// A trace with children 1 .. n started by 0, without work.
pub(crate) fn children(n: u32) -> TraceBuilder {
    let mut t = TraceBuilder::new();
    for child in 1..=n {
        t.create(0, child);
    }
    t
}

pub(crate) fn end(mut t: TraceBuilder, n: u32) -> Vec<u8> {
    for child in 1..=n {
        t.join(0, child);
    }
    t.end(0);
    t.finish()
}

#[test]
fn a_program_without_threads_is_one_work_task() {
    let mut t = TraceBuilder::new();
    t.work(0);
    t.work(0);
    t.end(0);
    let c = check(t.finish(), "0:0 work 2");
    assert!(c.summary.complete, "{:?}", c.summary.notes);
    assert_eq!(c.graph.meta().command, ["program", "-x"]);
}

#[test]
fn create_precedes_the_child_and_its_end_precedes_join() {
    let mut t = TraceBuilder::new();
    t.work(0);
    t.create(0, 1);
    t.work(1);
    t.work(0);
    t.join(0, 1);
    t.work(0);
    t.end(0);
    let c = check(
        t.finish(),
        "0:0 work 1
         0:1 create 1
         0:2 work 1
         0:3 join 1 <- 1:0
         0:4 work 1
         1:0 work 1 <- 0:1",
    );
    let child = c.graph.contexts().nth(1).unwrap();
    assert_eq!(child.creator.unwrap().to_string(), "0:1");
    // Started at tick 30, ended at 40.
    assert_eq!((child.first_ns, child.last_ns), (30, 40));
    assert_eq!(
        child.flags,
        taskgraph::Context::ANNOUNCED | taskgraph::Context::JOINED
    );
}

#[test]
fn a_context_always_begins_with_a_work_task_but_has_no_other_empty_ones() {
    let mut t = children(1);
    t.sync(1, MutexLock, MUTEX);
    t.sync(1, MutexUnlock, MUTEX);
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 join 1 <- 1:2
         1:0 work 0 <- 0:1
         1:1 sync mutex_lock obj#1
         1:2 sync mutex_unlock obj#1",
    );
}

#[test]
fn a_mutex_orders_release_before_the_next_acquire_of_another_context() {
    let mut t = children(2);
    for context in [1, 1, 2, 0, 1] {
        t.sync(context, MutexLock, MUTEX);
        t.work(context);
        t.sync(context, MutexUnlock, MUTEX);
    }
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 sync mutex_lock obj#1 <- 2:3
         0:4 work 1
         0:5 sync mutex_unlock obj#1
         0:6 join 1 <- 1:9
         0:7 join 2 <- 2:3
         1:0 work 0 <- 0:1
         1:1 sync mutex_lock obj#1
         1:2 work 1
         1:3 sync mutex_unlock obj#1
         1:4 sync mutex_lock obj#1
         1:5 work 1
         1:6 sync mutex_unlock obj#1
         1:7 sync mutex_lock obj#1 <- 0:5
         1:8 work 1
         1:9 sync mutex_unlock obj#1
         2:0 work 0 <- 0:2
         2:1 sync mutex_lock obj#1 <- 1:6
         2:2 work 1
         2:3 sync mutex_unlock obj#1",
    );
}

#[test]
fn a_recursive_mutex_is_handed_over_at_its_last_release() {
    let mut t = children(1);
    for op in [MutexLock, MutexLock, MutexUnlock, MutexUnlock] {
        t.sync(1, op, MUTEX);
    }
    t.sync(0, MutexLock, MUTEX);
    t.sync(0, MutexUnlock, MUTEX);
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 sync mutex_lock obj#1 <- 1:4
         0:3 sync mutex_unlock obj#1
         0:4 join 1 <- 1:4
         1:0 work 0 <- 0:1
         1:1 sync mutex_lock obj#1
         1:2 sync mutex_lock obj#1
         1:3 sync mutex_unlock obj#1
         1:4 sync mutex_unlock obj#1",
    );
}

#[test]
fn a_spin_lock_is_ordered_as_a_mutex() {
    let mut t = children(1);
    t.sync(1, SpinLock, OBJECT);
    t.sync(1, SpinUnlock, OBJECT);
    t.sync(0, SpinLock, OBJECT);
    t.sync(0, SpinUnlock, OBJECT);
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 sync spin_lock obj#1 <- 1:2
         0:3 sync spin_unlock obj#1
         0:4 join 1 <- 1:2
         1:0 work 0 <- 0:1
         1:1 sync spin_lock obj#1
         1:2 sync spin_unlock obj#1",
    );
}

#[test]
fn readers_follow_the_last_writer_and_precede_the_next() {
    let mut t = children(3);
    t.sync(1, RwWrite, OBJECT);
    t.sync(1, RwUnlock, OBJECT);
    t.sync(2, RwRead, OBJECT);
    t.sync(3, RwRead, OBJECT);
    t.sync(2, RwUnlock, OBJECT);
    t.sync(3, RwUnlock, OBJECT);
    t.sync(0, RwWrite, OBJECT);
    t.sync(0, RwUnlock, OBJECT);
    t.sync(1, RwWrite, OBJECT);
    t.sync(1, RwUnlock, OBJECT);
    check(
        end(t, 3),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 create 3
         0:4 sync rw_write obj#1 <- 2:2 3:2
         0:5 sync rw_unlock obj#1
         0:6 join 1 <- 1:4
         0:7 join 2 <- 2:2
         0:8 join 3 <- 3:2
         1:0 work 0 <- 0:1
         1:1 sync rw_write obj#1
         1:2 sync rw_unlock obj#1
         1:3 sync rw_write obj#1 <- 0:5
         1:4 sync rw_unlock obj#1
         2:0 work 0 <- 0:2
         2:1 sync rw_read obj#1 <- 1:2
         2:2 sync rw_unlock obj#1
         3:0 work 0 <- 0:3
         3:1 sync rw_read obj#1 <- 1:2
         3:2 sync rw_unlock obj#1",
    );
}

#[test]
fn a_condition_wait_is_three_tasks_and_the_signal_precedes_the_wake() {
    let mut t = children(1);
    t.sync(1, MutexLock, MUTEX);
    let begin = t.last_ticket(OBJECT);
    t.sync_aux(1, CondRelease, MUTEX, OBJECT);
    t.sync(0, MutexLock, MUTEX);
    t.sync(0, CondSignal, OBJECT);
    t.sync(0, MutexUnlock, MUTEX);
    t.sync_aux(1, CondWake, OBJECT, begin);
    t.sync(1, CondReacquire, MUTEX);
    t.sync(1, MutexUnlock, MUTEX);
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 sync mutex_lock obj#1 <- 1:2
         0:3 sync cond_signal obj#2
         0:4 sync mutex_unlock obj#1
         0:5 join 1 <- 1:5
         1:0 work 0 <- 0:1
         1:1 sync mutex_lock obj#1
         1:2 sync cond_release obj#1
         1:3 sync cond_wake obj#2 <- 0:3
         1:4 sync cond_reacquire obj#1 <- 0:4
         1:5 sync mutex_unlock obj#1",
    );
}

#[test]
fn a_broadcast_wakes_many_and_a_signal_one() {
    let mut t = children(3);
    t.sync(0, CondSignal, OBJECT); // nobody waits: lost
    let begin = t.last_ticket(OBJECT);
    t.sync(0, CondSignal, OBJECT);
    t.sync(0, CondBroadcast, OBJECT);
    t.sync_aux(2, CondWake, OBJECT, begin);
    t.sync_aux(1, CondWake, OBJECT, begin);
    t.sync_aux(3, CondWake, OBJECT, begin);
    check(
        end(t, 3),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 create 3
         0:4 sync cond_signal obj#1
         0:5 sync cond_signal obj#1
         0:6 sync cond_broadcast obj#1
         0:7 join 1 <- 1:1
         0:8 join 2 <- 2:1
         0:9 join 3 <- 3:1
         1:0 work 0 <- 0:1
         1:1 sync cond_wake obj#1 <- 0:6
         2:0 work 0 <- 0:2
         2:1 sync cond_wake obj#1 <- 0:5
         3:0 work 0 <- 0:3
         3:1 sync cond_wake obj#1 <- 0:6",
    );
}

#[test]
fn spurious_wakes_and_timeouts_follow_nothing() {
    let mut t = children(2);
    t.sync(0, CondSignal, OBJECT);
    let begin = t.last_ticket(OBJECT);
    t.sync_aux(1, CondWake, OBJECT, begin); // the signal came before the wait
    let begin = t.last_ticket(OBJECT);
    t.sync(0, CondSignal, OBJECT);
    t.sync_aux(1, CondTimeout, OBJECT, begin);
    t.sync_aux(2, CondWake, OBJECT, begin); // the signal the timeout did not take
    let c = check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 sync cond_signal obj#1
         0:4 sync cond_signal obj#1
         0:5 join 1 <- 1:2
         0:6 join 2 <- 2:1
         1:0 work 0 <- 0:1
         1:1 sync cond_wake obj#1
         1:2 sync cond_timeout obj#1
         2:0 work 0 <- 0:2
         2:1 sync cond_wake obj#1 <- 0:4",
    );
    assert!(
        c.summary
            .notes
            .iter()
            .any(|n| n.contains("without a signal"))
    );
    assert!(c.summary.complete);
}

#[test]
fn semaphore_units_are_taken_in_order_after_the_initial_ones() {
    let mut t = children(2);
    t.sync_aux(0, ObjectInit, OBJECT, 1);
    t.sync(1, SemWait, OBJECT); // the initial unit
    t.sync(0, SemPost, OBJECT);
    t.sync(1, SemPost, OBJECT);
    t.sync(2, SemWait, OBJECT);
    t.sync(2, SemWait, OBJECT);
    t.sync(2, SemWait, OBJECT); // a unit nobody was seen to post
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 sync sem_post obj#1
         0:4 join 1 <- 1:2
         0:5 join 2 <- 2:3
         1:0 work 0 <- 0:1
         1:1 sync sem_wait obj#1
         1:2 sync sem_post obj#1
         2:0 work 0 <- 0:2
         2:1 sync sem_wait obj#1 <- 0:3
         2:2 sync sem_wait obj#1 <- 1:2
         2:3 sync sem_wait obj#1",
    );
}

#[test]
fn a_once_run_precedes_every_pass() {
    let mut t = children(2);
    t.sync(1, OnceRun, OBJECT);
    t.sync(2, OncePass, OBJECT);
    t.sync(0, OncePass, OBJECT);
    t.sync(1, OncePass, OBJECT);
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 sync once_pass obj#1 <- 1:1
         0:4 join 1 <- 1:2
         0:5 join 2 <- 2:1
         1:0 work 0 <- 0:1
         1:1 sync once_run obj#1
         1:2 sync once_pass obj#1
         2:0 work 0 <- 0:2
         2:1 sync once_pass obj#1 <- 1:1",
    );
}

#[test]
fn a_barrier_generation_is_one_task_of_the_smallest_context() {
    let mut t = children(2);
    for order in [[2, 1, 0], [0, 1, 2]] {
        for context in order {
            t.work(context);
            t.sync_aux(context, Barrier, OBJECT, 3);
        }
    }
    t.work(1);
    let c = check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 work 1
         0:4 barrier barrier obj#1 <- 1:0 2:0
         0:5 work 1
         0:6 barrier barrier obj#1 <- 1:1 2:1
         0:7 join 1 <- 1:2
         0:8 join 2 <- 2:1
         1:0 work 1 <- 0:1
         1:1 work 1 <- 0:4
         1:2 work 1 <- 0:6
         2:0 work 1 <- 0:2
         2:1 work 1 <- 0:4",
    );
    assert_eq!(c.summary.tasks.barrier, 2);
}

#[test]
fn barriers_that_follow_each_other_without_work_are_chained() {
    // Contexts 1 and 2 meet at one barrier, then 0 and 2 at another: 2 has no task of its own between.
    let mut t = children(2);
    t.sync_aux(1, Barrier, OBJECT, 2);
    t.sync_aux(2, Barrier, OBJECT, 2);
    t.sync_aux(0, Barrier, MUTEX, 2);
    t.sync_aux(2, Barrier, MUTEX, 2);
    t.sync(2, MutexLock, 0x3000);
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 barrier barrier obj#1 <- 1:1
         0:4 join 1 <- 1:1
         0:5 join 2 <- 2:1
         1:0 work 0 <- 0:1
         1:1 barrier barrier obj#2 <- 2:0
         2:0 work 0 <- 0:2
         2:1 sync mutex_lock obj#3 <- 0:3",
    );
}

#[test]
fn joining_a_context_that_ends_in_a_barrier_follows_the_barrier() {
    let mut t = children(2);
    t.sync_aux(1, Barrier, OBJECT, 2);
    t.sync_aux(2, Barrier, OBJECT, 2);
    check(
        end(t, 2),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         0:3 join 1 <- 1:1
         0:4 join 2 <- 1:1 2:0
         1:0 work 0 <- 0:1
         1:1 barrier barrier obj#1 <- 2:0
         2:0 work 0 <- 0:2",
    );
}

#[test]
fn an_unfinished_barrier_is_a_task_of_those_who_arrived() {
    let mut t = children(2);
    t.sync_aux(1, Barrier, OBJECT, 3);
    t.sync_aux(2, Barrier, OBJECT, 3);
    for context in 0..3 {
        t.end(context);
    }
    let c = check(
        t.finish(),
        "0:0 work 0
         0:1 create 1
         0:2 create 2
         1:0 work 0 <- 0:1
         1:1 barrier barrier obj#1 <- 2:0
         2:0 work 0 <- 0:2",
    );
    assert!(
        c.summary.notes.iter().any(|n| n.contains("2 of 3 arrived")),
        "{:?}",
        c.summary.notes
    );
}

#[test]
fn init_and_destroy_cut_the_chain_and_make_no_task() {
    let mut t = children(1);
    for cut in [ObjectDestroy, ObjectInit] {
        t.sync(1, MutexLock, MUTEX);
        t.sync(1, MutexUnlock, MUTEX);
        t.sync(0, cut, MUTEX);
        t.sync(0, MutexLock, MUTEX);
        t.sync(0, MutexUnlock, MUTEX);
    }
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 sync mutex_lock obj#1
         0:3 sync mutex_unlock obj#1
         0:4 sync mutex_lock obj#1
         0:5 sync mutex_unlock obj#1
         0:6 join 1 <- 1:4
         1:0 work 0 <- 0:1
         1:1 sync mutex_lock obj#1
         1:2 sync mutex_unlock obj#1
         1:3 sync mutex_lock obj#1 <- 0:3
         1:4 sync mutex_unlock obj#1",
    );
}

#[test]
fn failed_tries_have_the_name_of_their_object_and_no_edges() {
    let mut t = children(1);
    for (object, acquire) in [(1, MutexLock), (2, RwWrite), (3, SemWait)] {
        t.sync(1, acquire, object);
        t.sync(0, acquire.failed(), object);
    }
    check(
        end(t, 1),
        "0:0 work 0
         0:1 create 1
         0:2 sync mutex_try_fail obj#1
         0:3 sync rw_try_fail obj#2
         0:4 sync sem_try_fail obj#3
         0:5 join 1 <- 1:3
         1:0 work 0 <- 0:1
         1:1 sync mutex_lock obj#1
         1:2 sync rw_write obj#2
         1:3 sync sem_wait obj#3",
    );
}

#[test]
fn forks_and_delays_are_tasks_without_edges() {
    let mut t = TraceBuilder::new();
    t.work(0);
    t.sync(0, Fork, 4242);
    let before = t.tick();
    t.event(
        0,
        contech_trace::event::Event::Delay {
            before,
            duration: 1000,
        },
    );
    t.clock += 1000;
    t.work(0);
    t.end(0);
    let c = check(
        t.finish(),
        "0:0 work 1
         0:1 sync fork obj#1
         0:2 sync delay obj#2
         0:3 work 1",
    );
    let delay = c.graph.task("0:2".parse().unwrap()).unwrap();
    assert_eq!(delay.duration_ns(), 1000);
}

#[test]
fn joining_a_thread_without_records_is_noted() {
    let mut t = TraceBuilder::new();
    t.sync(0, ThreadJoin, 9);
    t.end(0);
    let c = check(t.finish(), "0:0 work 0\n0:1 join 9");
    assert!(
        c.summary
            .notes
            .iter()
            .any(|n| n.contains("left no records"))
    );
}

#[test]
fn unannounced_threads_are_noted_and_marked() {
    let mut t = TraceBuilder::new();
    t.start_as(1, false);
    t.work(1);
    t.end(1);
    t.end(0);
    let c = check(t.finish(), "0:0 work 0\n1:0 work 1");
    assert_eq!(c.graph.contexts().nth(1).unwrap().flags, 0);
    assert!(
        c.summary
            .notes
            .iter()
            .any(|n| n.contains("creation was not seen"))
    );
    assert!(c.summary.complete);
}
