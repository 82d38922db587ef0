//! Records barriers, taskwait, taskgroup, reductions, and marks of worksharing constructs.

use std::ffi::c_int;

use contech_trace::event::SyncOp;
use contech_trace::event::SyncOp::{
    Barrier, Reduction, TaskWait, TaskgroupBegin, TaskgroupEnd, TasksJoin, WorkEnd,
};

use super::abi::{
    BEGIN, CANCEL_ACTIVATED, END, REGION_BARRIER_PARALLEL, REGION_BARRIER_TEAMS, REGION_REDUCTION,
    REGION_TASKGROUP, REGION_TASKWAIT, WORK_SINGLE_OTHER,
};
use super::exclusion;
use super::node::Task;
use super::parallel::end_implicit;
use super::running;
use super::task::settle;
use super::team::{Wait, Worker};
use super::word::Word;
use crate::active::{Active, OWN_OBJECTS, object};

pub(super) fn region(a: Active, worker: &Worker, kind: c_int, endpoint: c_int, task: Task) {
    match (kind, endpoint) {
        (REGION_BARRIER_PARALLEL | REGION_BARRIER_TEAMS, BEGIN) => end_implicit(a, worker, task),
        (REGION_BARRIER_PARALLEL | REGION_BARRIER_TEAMS | REGION_REDUCTION, _) => {}
        (REGION_TASKGROUP, BEGIN) => a.with_aux(TaskgroupBegin, object(0), 0, 0, a.now(), 0),
        (REGION_TASKWAIT, BEGIN) => begin_wait(a, worker, task, None),
        // Its wait has callbacks of its own.
        (REGION_TASKGROUP, _) => {}
        (_, BEGIN) => {
            begin_wait(a, worker, task, Some(worker.team.get()));
        }
        (_, END) => {
            settle(a, worker, task);
            end_wait(a, worker, kind, task);
        }
        _ => {}
    }
}

/// Only the wait of a taskgroup is recorded here, because it begins after the region does. It ends
/// before the region does, too: libomp combines the partial results of the tasks in between.
pub(super) fn wait(a: Active, worker: &Worker, kind: c_int, endpoint: c_int, task: Task) {
    match (kind, endpoint) {
        (REGION_TASKGROUP, BEGIN) => begin_wait(a, worker, task, None),
        (REGION_TASKGROUP, _) => {
            settle(a, worker, task);
            end_wait(a, worker, kind, task);
        }
        _ => {}
    }
}

/// Notes that the running task begins to wait: at a barrier of `(first context, size)`, if there is
/// one.
fn begin_wait(a: Active, worker: &Worker, task: Task, barrier: Option<(u32, u32)>) {
    task.set_word(task.word().with(Word::WAITS));
    let (object, ticket, participants) = match barrier {
        Some((first, size)) => {
            let object = u64::from(first) | OWN_OBJECTS;
            let key = usize::try_from(object).unwrap_or(0);
            (object, a.ticket(key), size)
        }
        None => (0, 0, 0),
    };
    worker.waits.borrow_mut().push(Wait { before: a.now(), object, ticket, participants });
}

fn end_wait(a: Active, worker: &Worker, kind: c_int, task: Task) {
    let Some(wait) = worker.waits.borrow_mut().pop() else {
        return;
    };
    let word = task.word();
    let mut now = word.without(Word::WAITS);
    let before = wait.before;
    let taken = a.since(before);
    match kind {
        REGION_TASKWAIT => a.timed(TaskWait, object(0), 0, before, taken),
        REGION_TASKGROUP => a.timed(TaskgroupEnd, object(0), 0, before, taken),
        _ => {
            let mut arrival = (before, taken);
            if word.has(Word::GENERATED) {
                // A thread that generated tasks waits for them, and then for the others of the
                // team.
                now = now.without(Word::GENERATED);
                a.timed(TasksJoin, object(0), 0, before, taken);
                arrival = (before + taken, 0);
            }
            let (at, aux) = (object(wait.object), wait.participants.into());
            a.with_aux(Barrier, at, wait.ticket, aux, arrival.0, arrival.1);
        }
    }
    task.set_word(now);
}

/// Records a reduction. If the running task waits at a barrier, partial results are combined there:
/// it has waited for them, and goes on waiting afterwards. Otherwise a lock may be taken for that.
pub(super) fn reduction(a: Active, worker: &Worker, endpoint: c_int) {
    let ends = endpoint == END;
    if !running(worker).1.has(Word::WAITS) {
        return exclusion::reduction(a, worker, ends);
    }
    if let Some(wait) = worker.waits.borrow_mut().last_mut()
        && wait.object != 0
    {
        let before = if ends { a.now() } else { wait.before };
        let taken = if ends { 0 } else { a.since(before) };
        a.in_order(Reduction, object(wait.object), ends.into(), before, taken);
        wait.before = before + taken;
    }
}

pub(super) fn work(a: Active, worker: &Worker, kind: c_int, endpoint: c_int) {
    if kind != WORK_SINGLE_OTHER {
        mark(a, worker, endpoint, work_share(kind));
    }
}

/// Notes that a construct begins or ends.
pub(super) fn mark(a: Active, _: &Worker, endpoint: c_int, begin: SyncOp) {
    let op = if endpoint == END { WorkEnd } else { begin };
    a.with_aux(op, object(0), 0, 0, a.now(), 0);
}

/// The event of a worksharing construct (`ompt_work_t`).
fn work_share(kind: c_int) -> SyncOp {
    match kind {
        2 => SyncOp::Sections,
        3 => SyncOp::Single,
        7 => SyncOp::Taskloop,
        1 | 6 | 10..=13 => SyncOp::Loop,
        _ => SyncOp::Other,
    }
}

pub(super) fn cancel(a: Active, worker: &Worker, flags: c_int) {
    if flags & CANCEL_ACTIVATED != 0 {
        mark(a, worker, BEGIN, SyncOp::Cancel);
    }
}

/// Notes offloading, of which only the host's part is seen.
pub(super) fn target(a: Active, _: &Worker, device: c_int) {
    if device >= 0 {
        a.recorder.remark("OpenMP: target regions were offloaded: what devices do is not recorded");
    }
}
