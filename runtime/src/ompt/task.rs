//! Records how explicit tasks are generated, run, suspended and ended.

use std::ffi::c_int;

use contech_trace::event::SyncOp::{
    DependIn, DependInout, DependInoutset, DependMutexinoutset, DoacrossPost, DoacrossWait,
    Fulfill, OmpLock, OmpUnlock, TaskCreate, TaskJoin,
};
use contech_trace::event::{Arrival, SyncOp};

use super::abi::{
    DEPENDENCE_OUT_ALL_MEMORY, DEPENDENCE_SINK, DEPENDENCE_SOURCE, Dependence, STATUS_CANCEL,
    STATUS_COMPLETE, STATUS_DETACH, STATUS_EARLY_FULFILL, STATUS_LATE_FULFILL,
    STATUS_TASKWAIT_COMPLETE, TASK_EXPLICIT, TASK_FINAL, TASK_TARGET, TASK_TASKWAIT,
    TASK_UNDEFERRED, TASK_UNTIED,
};
use super::memory;
use super::node::{Node, Task};
use super::team::Worker;
use super::word::Word;
use super::{enter, running};
use crate::active::{Active, OWN_OBJECTS, object};

pub(super) fn create(a: Active, worker: &Worker, parent: Task, task: Task, flags: c_int) {
    if flags & TASK_TASKWAIT != 0 {
        generate_wait(a, parent, task);
    } else if flags & (TASK_EXPLICIT | TASK_TARGET) != 0 {
        generate(a, worker, parent, task, flags);
    }
}

fn generate(a: Active, worker: &Worker, parent: Task, task: Task, flags: c_int) {
    let generating = parent.word();
    let context = a.recorder.reserve_contexts(1);
    memory::generated(a, worker, task);
    a.with_aux(TaskCreate, object(context.into()), 0, 0, a.now(), 0);
    if !generating.has(Word::GENERATED) {
        parent.set_word(generating.with(Word::GENERATED));
    }
    // In a team of one libomp calls every task undeferred. In a region, whose team may be larger
    // another time, `before_begin_if0` tells which tasks really are. Outside of regions all are,
    // always.
    let asked = worker.undeferred.take();
    let always = worker.team.get().1 > 1 || worker.region.get().is_null();
    let said = flags & TASK_UNDEFERRED != 0 && always;
    let mut bits = 0;
    if asked || said || generating.has(Word::FINAL) {
        bits |= Word::UNDEFERRED;
    }
    if flags & TASK_FINAL != 0 {
        bits |= Word::FINAL;
    }
    if flags & TASK_UNTIED != 0 {
        bits |= Word::UNTIED;
    }
    task.write(Word::new(context, bits));
}

/// Notes a taskwait with dependences, which libomp treats as a task although the program generated
/// none.
fn generate_wait(a: Active, parent: Task, task: Task) {
    task.write(Word::new(u32::MAX, Word::STARTED));
    task.put(Node::new(parent.word().context(), a.now()));
    parent.set_word(parent.word().with(Word::WAITS));
}

/// Notes the dependences of a task that has not begun.
pub(super) fn dependences(a: Active, worker: &Worker, task: Task, list: &[Dependence]) {
    let Some(first) = list.first() else { return };
    if matches!(first.kind, DEPENDENCE_SOURCE | DEPENDENCE_SINK) {
        return doacross(a, worker, list);
    }
    if list.iter().any(|d| d.kind >= DEPENDENCE_OUT_ALL_MEMORY) {
        a.recorder.remark(
            "OpenMP: dependences on omp_all_memory are recorded as dependences on one item of that name",
        );
    }
    let new = || Node::new(running(worker).1.context(), a.now());
    let mut node = task.take().unwrap_or_else(new);
    node.add(a, list);
    task.put(node);
}

/// The event of a dependence of this type (`ompt_dependence_type_t`).
fn dependence(kind: u32) -> SyncOp {
    match kind {
        1 => DependIn,
        4 => DependMutexinoutset,
        7 => DependInoutset,
        _ => DependInout,
    }
}

/// Records a dependence of a doacross loop, in which the iteration vector stands in place of
/// variables.
fn doacross(a: Active, worker: &Worker, list: &[Dependence]) {
    let mut hash = u64::from(worker.team.get().0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for d in list {
        hash = (hash ^ d.variable).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 29;
    }
    let op = if list[0].kind == DEPENDENCE_SOURCE { DoacrossPost } else { DoacrossWait };
    a.instant(op, object(hash & (OWN_OBJECTS - 1) | OWN_OBJECTS), 0);
}

pub(super) fn schedule(a: Active, worker: &Worker, prior: Task, status: c_int, next: Task) {
    match status {
        STATUS_EARLY_FULFILL | STATUS_LATE_FULFILL => {
            let context = prior.word().context();
            a.with_aux(Fulfill, object(context.into()), 0, 0, a.now(), 0);
        }
        STATUS_TASKWAIT_COMPLETE => wait_ends(a, worker, prior),
        STATUS_CANCEL if prior != worker.task.get() => discard(a, worker, prior),
        _ => switch(a, worker, prior, status, next),
    }
}

/// The thread leaves the task that was running in it, and runs another one now.
fn switch(a: Active, worker: &Worker, prior: Task, status: c_int, next: Task) {
    let left = prior.word();
    let ends = matches!(status, STATUS_COMPLETE | STATUS_CANCEL | STATUS_DETACH);
    let ours = left.has(Word::VALID) && !left.has(Word::ENDED);
    if !ends {
        settle(a, worker, prior);
    } else if ours && left.has(Word::UNTIED) && prior != worker.task.get() {
        // Another thread has run the task's last part, and this one was the last to leave a part
        // before.
        a.recorder.publish(a.tls);
        enter(a, left.next_piece(), Arrival::Resumes);
    }
    if ours && ends {
        if let Some(node) = prior.take() {
            for (variable, ticket) in node.held {
                let item = object(variable | OWN_OBJECTS);
                a.timed(OmpUnlock, item, ticket, a.now(), 0);
            }
        }
        a.recorder.end_entered(a.tls);
    } else if ours && left.has(Word::UNTIED) {
        a.recorder.publish(a.tls);
    }
    let Some(how) = go_on(a, worker, next) else {
        return;
    };
    // Each part of an untied task is a call of the task's function.
    let part = how == Arrival::Resumes && !ends && worker.untied.get();
    if how == Arrival::Begins || part {
        memory::task_begins(a, worker);
    }
    if how == Arrival::Begins {
        depend(a, next);
    }
    if ours && ends && left.has(Word::UNDEFERRED) {
        a.with_aux(TaskJoin, object(left.context().into()), 0, 0, a.now(), 0);
    }
}

/// Lets the thread go on in a task. Returns nothing for a task that is not recorded.
fn go_on(a: Active, worker: &Worker, task: Task) -> Option<Arrival> {
    worker.task.set(task);
    let word = task.word();
    worker.untied.set(word.has(Word::UNTIED));
    if !word.has(Word::VALID) {
        return None;
    }
    let how = if !word.has(Word::STARTED) {
        Arrival::Begins
    } else if word.has(Word::WAITS) {
        Arrival::Waits
    } else {
        Arrival::Resumes
    };
    let word = word.with(Word::STARTED).next_piece();
    task.set_word(word);
    enter(a, word, how);
    Some(how)
}

/// Finds the thread in the task that really runs. A thread that has run the last part of an untied
/// task leaves the task in silence if another thread has not yet left a part before; that one will
/// end the task. The word of the task that was left may be gone.
pub(super) fn settle(a: Active, worker: &Worker, running: Task) {
    if worker.untied.get() && !running.is_none() && running != worker.task.get() {
        a.recorder.publish(a.tls);
        go_on(a, worker, running);
    }
}

/// Records the dependences of a task that begins. It keeps its node if it holds something.
fn depend(a: Active, task: Task) {
    let Some(mut node) = task.take() else {
        return;
    };
    record_items(a, &node, a.now());
    let hold = |variable| {
        let item = object(variable | OWN_OBJECTS);
        (variable, a.in_order(OmpLock, item, 0, a.now(), 0))
    };
    node.held = node.exclusive().map(hold).collect();
    if !node.held.is_empty() {
        task.put(node);
    }
}

fn record_items(a: Active, node: &Node, before: u64) {
    let mut before = before;
    for item in &node.items {
        let aux = u64::from(node.parent);
        let taken = a.since(before);
        a.with_aux(dependence(item.kind), object(item.variable), item.ticket, aux, before, taken);
        before = a.now();
    }
}

/// Records the end of a taskwait with dependences, which has this task.
fn wait_ends(a: Active, worker: &Worker, task: Task) {
    if let Some(node) = task.take() {
        let (running, word) = running(worker);
        running.set_word(word.without(Word::WAITS));
        record_items(a, &node, node.before);
    }
}

/// Records the end of a task that was cancelled before it began.
fn discard(a: Active, worker: &Worker, task: Task) {
    drop(task.take());
    let word = task.word();
    if word.has(Word::VALID) && !word.has(Word::STARTED | Word::ENDED) {
        enter(a, word.next_piece(), Arrival::Begins);
        a.recorder.end_entered(a.tls);
        let how =
            if running(worker).1.has(Word::WAITS) { Arrival::Waits } else { Arrival::Resumes };
        enter(a, running(worker).1, how);
    }
}
