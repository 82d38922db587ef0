//! Explicit tasks.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::ompt::{
    self, Data, STATUS_CANCEL, STATUS_COMPLETE, STATUS_DETACH, STATUS_EARLY_FULFILL,
    STATUS_LATE_FULFILL, STATUS_TASKWAIT_COMPLETE,
};

use super::frames::{Kind, pop, push_task};
use crate::lane::Lane;
use crate::sites::bump;
use crate::{clock, tls};

/// Value of an explicit task's word after the task has begun.
const BEGUN: u64 = 1;

pub(super) unsafe extern "C" fn task_schedule(prior: Data, status: c_int, next: Data) {
    if matches!(status, STATUS_EARLY_FULFILL | STATUS_LATE_FULFILL | STATUS_TASKWAIT_COMPLETE) {
        return;
    }
    let Some(lane) = tls::lane() else { return };
    // SAFETY: libomp passed the words of tasks that live, and no other thread uses these words now.
    let (left, entered) = unsafe { (ompt::read(prior), ompt::read(next)) };
    if matches!(status, STATUS_COMPLETE | STATUS_CANCEL | STATUS_DETACH) {
        // A task that was cancelled before it began has not run.
        if left == BEGUN {
            pop(lane, Kind::Task, clock::now);
            timed(lane, false);
        }
        return;
    }
    if entered <= BEGUN {
        // SAFETY: the task's word is valid, as above.
        unsafe { ompt::write(next, BEGUN) };
        timed(lane, true);
        push_task(lane, clock::now);
        bump(&lane.pieces, 1);
        lane.openmp.dynamic.store(true, Relaxed);
    }
}

/// Subtracts the time of a task that runs within a call that is being timed: it is not the call's
/// own time.
fn timed(lane: &Lane, begins: bool) {
    let part = &lane.openmp;
    if part.timed.load(Relaxed) != part.depth() + 1 {
        return;
    }
    if begins {
        part.nested_from.store(clock::now(), Relaxed);
    } else {
        let passed = clock::now().saturating_sub(part.nested_from.load(Relaxed));
        bump(&part.nested, passed);
    }
}
