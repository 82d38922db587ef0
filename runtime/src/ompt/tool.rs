//! Lets libomp find this tool, and asks libomp for events.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_interpose::{exports, found};
use contech_runtime_core::Recorder;

use super::abi::{Lookup, Report, SetCallback, Tool, ask, event};
use super::team::WORKER;
use super::{exclusion, memory, parallel, sync, task};
use crate::current::{self, guarded};

/// True once libomp tells this tool what the program does.
pub(super) static LISTENS: AtomicBool = AtomicBool::new(false);

struct Recorded;

// With this, libomp asks for a tool when it starts.
exports!(@ ompt_start_tool [] contech_interpose::ompt::start_tool::<Recorded>);

impl Tool for Recorded {
    fn wants(_runtime: &CStr) -> bool {
        current::recorder_or_due().is_some_and(Recorder::is_recording)
    }

    fn starts(set: SetCallback, lookup: Lookup) {
        guarded(|| {
            LISTENS.store(true, Relaxed);
            // SAFETY: libomp passed this function.
            unsafe { memory::initialize(lookup) };
            ask(set, &reports(), |name, result| {
                if let Some(recorder) = current::recorder() {
                    recorder.remark(&format!(
                        "OpenMP: this libomp does not always report {name} (it says {result}): such constructs may be missing"
                    ));
                }
            });
        });
    }
}

fn reports() -> [Report; 19] {
    [
        event::THREAD_BEGIN.to(parallel::thread_begin),
        event::PARALLEL_BEGIN.to(parallel::parallel_begin),
        event::PARALLEL_END.to(parallel::parallel_end),
        event::IMPLICIT_TASK.to(parallel::implicit_task),
        event::TASK_CREATE.to(task::task_create),
        event::TASK_SCHEDULE.to(task::task_schedule),
        event::DEPENDENCES.to(task::dependences),
        event::SYNC_REGION.to(sync::sync_region),
        event::SYNC_REGION_WAIT.to(sync::sync_region_wait),
        event::REDUCTION.to(sync::reduction),
        event::WORK.to(sync::work),
        event::MASKED.to(sync::masked),
        event::CANCEL.to(sync::cancel),
        event::MUTEX_ACQUIRE.to(exclusion::acquire),
        event::MUTEX_ACQUIRED.to(exclusion::acquired),
        event::MUTEX_RELEASED.to(exclusion::released),
        event::LOCK_INIT.to(exclusion::init),
        event::LOCK_DESTROY.to(exclusion::destroy),
        event::TARGET.to(sync::target),
    ]
}

/// Called before `__kmpc_omp_task_begin_if0`, with which the program generates a task and waits for
/// it. In a team of one libomp's own flag for that says nothing, because all tasks are undeferred
/// there. `stack` is the program's stack pointer. Returns the real function.
pub(crate) unsafe extern "C" fn before_begin_if0(_location: usize, stack: usize) -> usize {
    found! { static REAL = __kmpc_omp_task_begin_if0(); }
    WORKER.with(|worker| {
        worker.undeferred.set(true);
        worker.stack.set(stack);
    });
    REAL.get() as usize
}
