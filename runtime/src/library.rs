//! The marks of libraries that run tasks (`contech/tasks.rs`): which code is the library's own, and where tasks are
//! generated, begin, end and are waited for.

use std::ptr::without_provenance_mut;

use contech_runtime_core::library::Kept;
use contech_runtime_core::{Recorder, tls};
use contech_trace::event::SyncOp::{
    TaskCreate, TaskJoin, TaskgroupBegin, TaskgroupEnd, ThreadCreate,
};
use contech_trace::event::{Arrival, Event, SyncOp};

use crate::active::Active;
use crate::current::{self, guarded};
use crate::tls::block;

/// The calling thread, if it records, in its program or in a library.
fn recording() -> Option<Active> {
    let recorder = current::recorder_or_due()?;
    let tls = block();
    (recorder.is_recording() && !tls.is_quiet() && tls.takes_part())
        .then_some(Active { tls, recorder })
}

/// Marks the thread-local variables of a thread that a library made: nothing orders the tasks that use them.
fn fresh_variables(a: Active) {
    if let Some(base) = a.recorder.base(a.tls) {
        // SAFETY: the call has no arguments.
        let this = usize::try_from(unsafe { libc::pthread_self() }).unwrap_or(0);
        let (addr, size) = (base as u64, this.saturating_sub(base) as u64);
        a.recorder.put(a.tls, &Event::Fresh { addr, size });
    }
}

/// Lets a thread that a library makes begin in that library.
pub(crate) fn begin_thread(recorder: &'static Recorder) {
    let here = 0u8;
    recorder.begin_in_library(block(), (&raw const here).addr());
}

/// Whether the calling thread is in a library.
pub(crate) fn is_inside() -> bool {
    block().role() == tls::LIBRARY
}

pub(crate) unsafe extern "C" fn enter(kept: *mut Kept) {
    let entered =
        recording().and_then(|a| guarded(|| a.recorder.enter_library(a.tls, kept.addr())));
    // SAFETY: the caller passes room for the result.
    unsafe { kept.write(entered.unwrap_or(Kept::NOTHING)) };
}

/// Leaves a library after a wait for the task, for the group that began (`task` is the greatest number), or for
/// nothing (`task` is 0).
pub(crate) unsafe extern "C" fn leave(kept: *const Kept, task: u64) {
    // SAFETY: the caller passes what `enter` wrote.
    let kept = unsafe { kept.read() };
    let Some(a) = recording().filter(|_| kept.counts()) else {
        return;
    };
    guarded(|| {
        let how = if task == 0 {
            Arrival::Resumes
        } else {
            Arrival::Waits
        };
        if a.recorder.leave_library(a.tls, &kept, how) {
            fresh_variables(a);
        }
        let (op, object) = match task {
            0 => return,
            u64::MAX => (TaskgroupEnd, 0),
            _ => (TaskJoin, usize::try_from(task).unwrap_or(0)),
        };
        let taken = a.since(kept.before);
        a.timed(op, without_provenance_mut(object), 0, kept.before, taken);
    });
}

fn create(op: SyncOp) -> u64 {
    let task = recording().and_then(|a| guarded(|| a.recorder.create_task(a.tls, op)));
    task.flatten().map_or(0, u64::from)
}

/// The calling thread's context generates a task, which `leave` or the end of a group waits for. Returns the task; 0
/// if it is not known.
pub(crate) extern "C" fn create_task() -> u64 {
    create(TaskCreate)
}

/// Does what [`create_task`] does for a task that nothing waits for.
pub(crate) extern "C" fn create_detached() -> u64 {
    create(ThreadCreate)
}

pub(crate) unsafe extern "C" fn begin(task: u64, kept: *mut Kept) {
    let here = kept.addr();
    let begun = recording().and_then(|a| {
        guarded(|| {
            let task = u32::try_from(task).ok().filter(|task| *task > 0);
            let begun = a.recorder.begin_task(a.tls, task, here);
            fresh_variables(a);
            begun
        })
    });
    // SAFETY: the caller passes room for the result.
    unsafe { kept.write(begun.unwrap_or(Kept::NOTHING)) };
}

pub(crate) unsafe extern "C" fn end(kept: *const Kept) {
    // SAFETY: the caller passes what `begin` wrote.
    let kept = unsafe { kept.read() };
    if let Some(a) = recording().filter(|_| kept.counts()) {
        guarded(|| a.recorder.end_task(a.tls, &kept));
    }
}

/// A group of tasks begins, which ends when the library is left.
pub(crate) extern "C" fn begin_group() {
    if let Some(a) = recording().filter(|_| !is_inside()) {
        guarded(|| a.instant(TaskgroupBegin, std::ptr::null_mut(), 0));
    }
}
