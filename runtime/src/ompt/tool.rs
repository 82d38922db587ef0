//! Lets libomp find this tool, and asks libomp for events.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use contech_guest::found;

use super::abi::{Callback, Data, Lookup, SET_ALWAYS, SetCallback, StartToolResult, event};
use super::team::WORKER;
use super::{exclusion, memory, parallel, sync, task};
use crate::current::{self, guarded};

/// True once libomp tells this tool what the program does.
pub(super) static LISTENS: AtomicBool = AtomicBool::new(false);

static RESULT: StartToolResult = StartToolResult {
    initialize,
    finalize,
    tool_data: AtomicU64::new(0),
};

/// `ompt_start_tool`, with which libomp asks for a tool when it starts. Returns null if nothing is recorded.
pub(crate) unsafe extern "C" fn start_tool(
    _version: c_uint,
    _runtime: *const c_char,
) -> *const StartToolResult {
    if current::recorder_or_due().is_some_and(|r| r.is_recording()) {
        &raw const RESULT
    } else {
        std::ptr::null()
    }
}

unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    guarded(|| {
        // SAFETY: the function is libomp's own, and the name is a C string.
        let set = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
        let Some(set) = set else { return };
        // SAFETY: the function of that name has this type.
        let set = unsafe { std::mem::transmute::<Callback, SetCallback>(set) };
        LISTENS.store(true, Relaxed);
        // SAFETY: libomp passed this function.
        unsafe { memory::initialize(lookup) };
        for (number, name, function) in callbacks() {
            // SAFETY: each function has the type of the callback of that number.
            let result = unsafe { set(number, function) };
            if result != SET_ALWAYS
                && let Some(recorder) = current::recorder()
            {
                recorder.remark(&format!(
                    "OpenMP: this libomp does not always report {name} (it says {result}): such constructs may be missing"
                ));
            }
        }
    });
    1
}

unsafe extern "C" fn finalize(_: Data) {}

macro_rules! callbacks {
    ($($number:ident, $name:literal, $function:path as fn($($arg:ty),*);)*) => {
        fn callbacks() -> Vec<(c_int, &'static str, Callback)> {
            vec![$((event::$number, $name, {
                let typed: unsafe extern "C" fn($($arg),*) = $function;
                // SAFETY: libomp calls the function with the arguments of its number, as the type says.
                unsafe { std::mem::transmute::<unsafe extern "C" fn($($arg),*), Callback>(typed) }
            }),)*]
        }
    };
}

use super::abi::{Code, Dependence, Frame};

callbacks! {
    THREAD_BEGIN, "threads", parallel::thread_begin as fn(c_int, Data);
    PARALLEL_BEGIN, "parallel regions", parallel::parallel_begin as fn(Data, Frame, Data, c_uint, c_int, Code);
    PARALLEL_END, "ends of parallel regions", parallel::parallel_end as fn(Data, Data, c_int, Code);
    IMPLICIT_TASK, "implicit tasks", parallel::implicit_task as fn(c_int, Data, Data, c_uint, c_uint, c_int);
    TASK_CREATE, "tasks", task::task_create as fn(Data, Frame, Data, c_int, c_int, Code);
    TASK_SCHEDULE, "switches of tasks", task::task_schedule as fn(Data, c_int, Data);
    DEPENDENCES, "dependences", task::dependences as fn(Data, *const Dependence, c_int);
    SYNC_REGION, "barriers and waits", sync::sync_region as fn(c_int, c_int, Data, Data, Code);
    SYNC_REGION_WAIT, "waits", sync::sync_region_wait as fn(c_int, c_int, Data, Data, Code);
    REDUCTION, "reductions", sync::reduction as fn(c_int, c_int, Data, Data, Code);
    WORK, "worksharing constructs", sync::work as fn(c_int, c_int, Data, Data, u64, Code);
    MASKED, "masked constructs", sync::masked as fn(c_int, Data, Data, Code);
    CANCEL, "cancellation", sync::cancel as fn(Data, c_int, Code);
    MUTEX_ACQUIRE, "lock attempts", exclusion::acquire as fn(c_int, c_uint, c_uint, u64, Code);
    MUTEX_ACQUIRED, "locks", exclusion::acquired as fn(c_int, u64, Code);
    MUTEX_RELEASED, "lock releases", exclusion::released as fn(c_int, u64, Code);
    LOCK_INIT, "new locks", exclusion::init as fn(c_int, c_uint, c_uint, u64, Code);
    LOCK_DESTROY, "ends of locks", exclusion::destroy as fn(c_int, u64, Code);
    TARGET, "target regions", sync::target as fn(c_int, c_int, c_int, Data, u64, Code);
}

/// Called before `__kmpc_omp_task_begin_if0`, with which the program generates a task and waits for it. In a team of
/// one libomp's own flag for that says nothing, because all tasks are undeferred there. `stack` is the program's stack
/// pointer. Returns the real function.
pub(crate) unsafe extern "C" fn before_begin_if0(_location: usize, stack: usize) -> usize {
    found! { static REAL = __kmpc_omp_task_begin_if0(); }
    WORKER.with(|worker| {
        worker.undeferred.set(true);
        worker.stack.set(stack);
    });
    REAL.get() as usize
}
