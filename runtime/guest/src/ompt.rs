//! The part of the OMPT interface that is used here, as OpenMP 5.2 (chapter 19) and LLVM's `omp-tools.h` define it.
#![allow(missing_docs, reason = "the names are the standard's")]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A word that belongs to the tool, in a thread, region or task of the OpenMP runtime.
pub type Data = *mut u64;
/// The type of any callback.
pub type Callback = unsafe extern "C" fn();
/// Looks up the runtime's functions by name.
pub type Lookup = unsafe extern "C" fn(*const c_char) -> Option<Callback>;
/// `ompt_set_callback`.
pub type SetCallback = unsafe extern "C" fn(c_int, Callback) -> c_int;

/// `ompt_start_tool_result_t`.
#[repr(C)]
#[derive(Debug)]
pub struct StartToolResult {
    pub initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    pub finalize: unsafe extern "C" fn(Data),
    pub tool_data: AtomicU64,
}

/// `ompt_dependence_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dependence {
    pub variable: u64,
    pub kind: c_uint,
}

/// Numbers of the callbacks (`ompt_callbacks_t`).
pub mod event {
    use std::ffi::c_int;
    pub const THREAD_BEGIN: c_int = 1;
    pub const PARALLEL_BEGIN: c_int = 3;
    pub const PARALLEL_END: c_int = 4;
    pub const TASK_CREATE: c_int = 5;
    pub const TASK_SCHEDULE: c_int = 6;
    pub const IMPLICIT_TASK: c_int = 7;
    pub const TARGET: c_int = 8;
    pub const SYNC_REGION_WAIT: c_int = 16;
    pub const MUTEX_RELEASED: c_int = 17;
    pub const DEPENDENCES: c_int = 18;
    pub const WORK: c_int = 20;
    pub const MASKED: c_int = 21;
    pub const SYNC_REGION: c_int = 23;
    pub const LOCK_INIT: c_int = 24;
    pub const LOCK_DESTROY: c_int = 25;
    pub const MUTEX_ACQUIRE: c_int = 26;
    pub const MUTEX_ACQUIRED: c_int = 27;
    pub const CANCEL: c_int = 30;
    pub const REDUCTION: c_int = 31;
}

/// `ompt_set_result_t`: the callback will be called whenever its event happens.
pub const SET_ALWAYS: c_int = 5;
/// `ompt_scope_endpoint_t`.
pub const BEGIN: c_int = 1;
pub const END: c_int = 2;
/// `ompt_thread_t`: the program's own thread.
pub const THREAD_INITIAL: c_int = 1;
/// `ompt_task_flag_t`.
pub const TASK_EXPLICIT: c_int = 0x4;
pub const TASK_TARGET: c_int = 0x8;
pub const TASK_TASKWAIT: c_int = 0x10;
pub const TASK_UNDEFERRED: c_int = 0x0800_0000;
pub const TASK_UNTIED: c_int = 0x1000_0000;
pub const TASK_FINAL: c_int = 0x2000_0000;
/// `ompt_task_status_t`.
pub const STATUS_COMPLETE: c_int = 1;
pub const STATUS_CANCEL: c_int = 3;
pub const STATUS_DETACH: c_int = 4;
pub const STATUS_EARLY_FULFILL: c_int = 5;
pub const STATUS_LATE_FULFILL: c_int = 6;
pub const STATUS_TASKWAIT_COMPLETE: c_int = 8;
/// `ompt_sync_region_t`; every other number is a barrier.
pub const REGION_TASKWAIT: c_int = 5;
pub const REGION_TASKGROUP: c_int = 6;
pub const REGION_REDUCTION: c_int = 7;
pub const REGION_BARRIER_PARALLEL: c_int = 9;
pub const REGION_BARRIER_TEAMS: c_int = 10;
/// `ompt_work_t`: another context runs the single construct.
pub const WORK_SINGLE_OTHER: c_int = 4;
/// `ompt_mutex_t`.
pub const MUTEX_CRITICAL: c_int = 5;
pub const MUTEX_ORDERED: c_int = 7;
/// `ompt_dependence_type_t`.
pub const DEPENDENCE_MUTEXINOUTSET: c_uint = 4;
pub const DEPENDENCE_SOURCE: c_uint = 5;
pub const DEPENDENCE_SINK: c_uint = 6;
pub const DEPENDENCE_OUT_ALL_MEMORY: c_uint = 34;
/// `ompt_cancel_flag_t`: cancellation was asked for here.
pub const CANCEL_ACTIVATED: c_int = 0x10;

/// `ompt_get_task_info`: level, then places for flags, the task's word, its frames, its region's word and its number.
pub type GetTaskInfo = unsafe extern "C" fn(
    c_int,
    *mut c_int,
    *mut Data,
    *mut *const Frames,
    *mut Data,
    *mut c_int,
) -> c_int;

/// `ompt_frame_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Frames {
    /// The function of libomp, or of the program's where there is none, that called the task.
    pub exit: usize,
    /// The function of libomp that the task called.
    pub enter: usize,
    /// Flags of `exit`.
    pub exit_flags: c_int,
    /// Flags of `enter`.
    pub enter_flags: c_int,
}

/// `ompt_frame_flag_t`: the frame is the program's.
pub const FRAME_APPLICATION: c_int = 1;

/// Frames of the encountering task, which are not used here.
pub type Frame = *const c_void;
/// Address in the program.
pub type Code = *const c_void;

/// The value of a word.
///
/// # Safety
/// The OpenMP runtime passed the word, or it is null.
#[inline]
pub unsafe fn read(word: Data) -> u64 {
    if word.is_null() {
        return 0;
    }
    // SAFETY: the caller promises a live word of the runtime, which is aligned as its type is.
    unsafe { AtomicU64::from_ptr(word) }.load(Relaxed)
}

/// Sets a word.
///
/// # Safety
/// The same as for [`read`].
#[inline]
pub unsafe fn write(word: Data, value: u64) {
    if !word.is_null() {
        // SAFETY: the same holds as in `read`.
        unsafe { AtomicU64::from_ptr(word) }.store(value, Relaxed);
    }
}
