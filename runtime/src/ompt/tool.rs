//! Lets libomp find this tool, and asks libomp for events.

use std::ffi::{CStr, c_int, c_uint};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use contech_interpose::{exports, found};
use contech_runtime_core::Recorder;
use contech_trace::event::SyncOp;

use super::abi::{Code, Data, Dependence, Frame, Lookup, Report, SetCallback, Tool, ask, event};
use super::node::Task;
use super::team::WORKER;
use super::{callback, exclusion, memory, parallel, sync, task};
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

/// What libomp is asked for: the arguments of its callback, and a function that gets the thread, if
/// it records, and what it needs of these.
macro_rules! reports {
    ($($event:ident($($argument:ident: $type:ty),*) $module:ident::$does:ident($($given:expr),*);)*) => {
        fn reports() -> Vec<Report> {
            vec![event::THREAD_BEGIN.to(parallel::thread_begin), $({
                #[allow(unused_unsafe, reason = "some need neither a task nor a list")]
                unsafe extern "C" fn report($($argument: $type),*) {
                    // SAFETY: libomp passes null or words of tasks that live, which only this
                    // thread uses now, and lists of the length it says.
                    callback(|a, worker| unsafe { $module::$does(a, worker, $($given),*) });
                }
                event::$event.to(report)
            }),*]
        }
    };
}

reports! {
    PARALLEL_BEGIN(task: Data, _frame: Frame, parallel: Data, _size: c_uint, _flags: c_int, _at: Code)
        parallel::parallel_begin(Task::of(task), parallel);
    PARALLEL_END(parallel: Data, task: Data, _flags: c_int, _at: Code)
        parallel::parallel_end(parallel, Task::of(task));
    IMPLICIT_TASK(end: c_int, parallel: Data, task: Data, size: c_uint, index: c_uint, _flags: c_int)
        parallel::implicit_task(end, parallel, Task::of(task), (size, index));
    TASK_CREATE(parent: Data, _frame: Frame, task: Data, flags: c_int, _depends: c_int, _at: Code)
        task::create(Task::of(parent), Task::of(task), flags);
    TASK_SCHEDULE(prior: Data, status: c_int, next: Data)
        task::schedule(Task::of(prior), status, Task::of(next));
    DEPENDENCES(task: Data, list: *const Dependence, count: c_int)
        task::dependences(Task::of(task), slice(list, count));
    SYNC_REGION(kind: c_int, end: c_int, _parallel: Data, task: Data, _at: Code)
        sync::region(kind, end, Task::of(task));
    SYNC_REGION_WAIT(kind: c_int, end: c_int, _parallel: Data, task: Data, _at: Code)
        sync::wait(kind, end, Task::of(task));
    REDUCTION(_kind: c_int, end: c_int, _parallel: Data, _task: Data, _at: Code) sync::reduction(end);
    WORK(kind: c_int, end: c_int, _parallel: Data, _task: Data, _n: u64, _at: Code) sync::work(kind, end);
    MASKED(end: c_int, _parallel: Data, _task: Data, _at: Code) sync::mark(end, SyncOp::Masked);
    CANCEL(_task: Data, flags: c_int, _at: Code) sync::cancel(flags);
    MUTEX_ACQUIRE(_kind: c_int, _hint: c_uint, _how: c_uint, _lock: u64, _at: Code) exclusion::acquire();
    MUTEX_ACQUIRED(kind: c_int, lock: u64, _at: Code) exclusion::acquired(kind, lock);
    MUTEX_RELEASED(kind: c_int, lock: u64, _at: Code) exclusion::released(kind, lock);
    LOCK_INIT(_kind: c_int, _hint: c_uint, _how: c_uint, lock: u64, _at: Code) exclusion::init(lock);
    LOCK_DESTROY(_kind: c_int, lock: u64, _at: Code) exclusion::destroy(lock);
    TARGET(_kind: c_int, _end: c_int, device: c_int, _task: Data, _id: u64, _at: Code) sync::target(device);
}

/// # Safety
/// A list of that length is there, or null.
unsafe fn slice<'a, T>(list: *const T, count: c_int) -> &'a [T] {
    match usize::try_from(count) {
        // SAFETY: by contract.
        Ok(count) if !list.is_null() => unsafe { std::slice::from_raw_parts(list, count) },
        _ => &[],
    }
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
