//! What of the OMPT interface is used here, as OpenMP 5.2 (chapter 19) and LLVM's `omp-tools.h` define it.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A word that belongs to the tool, in a thread, region or task of the OpenMP runtime.
pub(super) type Data = *mut u64;
/// Any callback.
pub(super) type Callback = unsafe extern "C" fn();
/// Gives the runtime's functions by name.
pub(super) type Lookup = unsafe extern "C" fn(*const c_char) -> Option<Callback>;
/// `ompt_set_callback`.
pub(super) type SetCallback = unsafe extern "C" fn(c_int, Callback) -> c_int;

/// `ompt_start_tool_result_t`.
#[repr(C)]
pub(crate) struct StartToolResult {
    pub(super) initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    pub(super) finalize: unsafe extern "C" fn(Data),
    pub(super) tool_data: AtomicU64,
}

/// `ompt_dependence_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Dependence {
    pub(super) variable: u64,
    pub(super) kind: c_uint,
}

/// Numbers of the callbacks (`ompt_callbacks_t`).
pub(super) mod event {
    use std::ffi::c_int;
    pub(in super::super) const THREAD_BEGIN: c_int = 1;
    pub(in super::super) const PARALLEL_BEGIN: c_int = 3;
    pub(in super::super) const PARALLEL_END: c_int = 4;
    pub(in super::super) const TASK_CREATE: c_int = 5;
    pub(in super::super) const TASK_SCHEDULE: c_int = 6;
    pub(in super::super) const IMPLICIT_TASK: c_int = 7;
    pub(in super::super) const TARGET: c_int = 8;
    pub(in super::super) const SYNC_REGION_WAIT: c_int = 16;
    pub(in super::super) const MUTEX_RELEASED: c_int = 17;
    pub(in super::super) const DEPENDENCES: c_int = 18;
    pub(in super::super) const WORK: c_int = 20;
    pub(in super::super) const MASKED: c_int = 21;
    pub(in super::super) const SYNC_REGION: c_int = 23;
    pub(in super::super) const LOCK_INIT: c_int = 24;
    pub(in super::super) const LOCK_DESTROY: c_int = 25;
    pub(in super::super) const MUTEX_ACQUIRE: c_int = 26;
    pub(in super::super) const MUTEX_ACQUIRED: c_int = 27;
    pub(in super::super) const CANCEL: c_int = 30;
    pub(in super::super) const REDUCTION: c_int = 31;
}

/// `ompt_set_result_t`: the callback will be called whenever its event happens.
pub(super) const SET_ALWAYS: c_int = 5;
/// `ompt_scope_endpoint_t`.
pub(super) const BEGIN: c_int = 1;
pub(super) const END: c_int = 2;
/// `ompt_thread_t`: the program's own thread.
pub(super) const THREAD_INITIAL: c_int = 1;
/// `ompt_task_flag_t`.
pub(super) const TASK_EXPLICIT: c_int = 0x4;
pub(super) const TASK_TARGET: c_int = 0x8;
pub(super) const TASK_TASKWAIT: c_int = 0x10;
pub(super) const TASK_UNDEFERRED: c_int = 0x0800_0000;
pub(super) const TASK_UNTIED: c_int = 0x1000_0000;
pub(super) const TASK_FINAL: c_int = 0x2000_0000;
/// `ompt_task_status_t`.
pub(super) const STATUS_COMPLETE: c_int = 1;
pub(super) const STATUS_CANCEL: c_int = 3;
pub(super) const STATUS_DETACH: c_int = 4;
pub(super) const STATUS_EARLY_FULFILL: c_int = 5;
pub(super) const STATUS_LATE_FULFILL: c_int = 6;
pub(super) const STATUS_TASKWAIT_COMPLETE: c_int = 8;
/// `ompt_sync_region_t`; every other number is a barrier.
pub(super) const REGION_TASKWAIT: c_int = 5;
pub(super) const REGION_TASKGROUP: c_int = 6;
pub(super) const REGION_REDUCTION: c_int = 7;
pub(super) const REGION_BARRIER_PARALLEL: c_int = 9;
pub(super) const REGION_BARRIER_TEAMS: c_int = 10;
/// `ompt_work_t`: another context runs the single construct.
pub(super) const WORK_SINGLE_OTHER: c_int = 4;
/// `ompt_mutex_t`.
pub(super) const MUTEX_CRITICAL: c_int = 5;
pub(super) const MUTEX_ORDERED: c_int = 7;
/// `ompt_dependence_type_t`.
pub(super) const DEPENDENCE_MUTEXINOUTSET: c_uint = 4;
pub(super) const DEPENDENCE_SOURCE: c_uint = 5;
pub(super) const DEPENDENCE_SINK: c_uint = 6;
pub(super) const DEPENDENCE_OUT_ALL_MEMORY: c_uint = 34;
/// `ompt_cancel_flag_t`: cancellation was asked for here.
pub(super) const CANCEL_ACTIVATED: c_int = 0x10;

/// Frames are of no interest.
pub(super) type Frame = *const c_void;
/// Address in the program, of no interest.
pub(super) type Code = *const c_void;

/// The value of a word.
///
/// # Safety
/// The OpenMP runtime passed the word, or it is null.
pub(super) unsafe fn read(word: Data) -> u64 {
    if word.is_null() {
        return 0;
    }
    // SAFETY: a live word of the runtime's, aligned as its type is.
    unsafe { AtomicU64::from_ptr(word) }.load(Relaxed)
}

/// Sets a word.
///
/// # Safety
/// As for [`read`].
pub(super) unsafe fn write(word: Data, value: u64) {
    if !word.is_null() {
        // SAFETY: as in `read`.
        unsafe { AtomicU64::from_ptr(word) }.store(value, Relaxed);
    }
}
