//! The part of the OMPT interface that is used here, as OpenMP 5.2 (chapter 19) and LLVM's
//! `omp-tools.h` define it.
#![allow(missing_docs, reason = "the names are the standard's")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A word that belongs to the tool, in a thread, region or task of the OpenMP runtime.
pub type Data = *mut u64;
/// The type of any callback.
pub type Callback = unsafe extern "C" fn();
/// Looks up the runtime's functions by name.
pub type Lookup = unsafe extern "C" fn(*const c_char) -> Option<Callback>;
/// `ompt_set_callback`.
pub type SetCallback = unsafe extern "C" fn(c_int, Callback) -> c_int;

/// `ompt_start_tool_result_t`. The last field is a word for the tool, which this one does not use.
#[repr(C)]
#[derive(Debug)]
pub struct StartToolResult {
    initialize: unsafe extern "C" fn(Lookup, c_int, Data) -> c_int,
    finalize: unsafe extern "C" fn(Data),
    tool_data: u64,
}

/// The tool that libomp finds in a library. The library exports [`start_tool`] as
/// `ompt_start_tool`.
pub trait Tool {
    /// Whether there is something to listen for in the OpenMP runtime that gives itself this name.
    fn wants(runtime: &CStr) -> bool;

    /// The runtime has started.
    fn starts(set: SetCallback, lookup: Lookup);
}

/// `ompt_start_tool`, which libomp calls when it starts to ask for a tool. Null means that there is
/// none.
///
/// # Safety
/// libomp calls it.
pub unsafe extern "C" fn start_tool<T: Tool>(
    _version: c_uint,
    runtime: *const c_char,
) -> *const StartToolResult {
    let runtime = if runtime.is_null() {
        c""
    } else {
        // SAFETY: libomp passes a C string.
        unsafe { CStr::from_ptr(runtime) }
    };
    if !T::wants(runtime) {
        return std::ptr::null();
    }
    const { &StartToolResult { initialize: initialize::<T>, finalize, tool_data: 0 } }
}

unsafe extern "C" fn initialize<T: Tool>(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    // SAFETY: libomp passed its own function, which takes a C string.
    let Some(set) = (unsafe { lookup(c"ompt_set_callback".as_ptr()) }) else {
        return 0;
    };
    // SAFETY: the function of that name has this type.
    T::starts(unsafe { std::mem::transmute::<Callback, SetCallback>(set) }, lookup);
    1
}

unsafe extern "C" fn finalize(_: Data) {}

/// Something that the runtime reports by a callback of type `F`.
#[derive(Debug)]
pub struct Event<F> {
    number: c_int,
    name: &'static str,
    callback: PhantomData<F>,
}

impl<F: Copy> Event<F> {
    /// Lets the runtime call a function whenever it happens.
    #[must_use]
    pub fn to(self, function: F) -> Report {
        Report {
            number: self.number,
            name: self.name,
            // SAFETY: `F` is a function pointer, and libomp passes the arguments of its type.
            function: unsafe { std::mem::transmute_copy(&function) },
        }
    }
}

/// An event with a function to call.
#[derive(Debug)]
pub struct Report {
    number: c_int,
    name: &'static str,
    function: Callback,
}

/// Asks the runtime for reports. `unsure` gets the name of what it does not always report, with
/// what it says of that.
pub fn ask(set: SetCallback, reports: &[Report], mut unsure: impl FnMut(&'static str, c_int)) {
    for report in reports {
        // SAFETY: each function has the type of the callback of that number.
        let result = unsafe { set(report.number, report.function) };
        if result != SET_ALWAYS {
            unsure(report.name, result);
        }
    }
}

/// `ompt_dependence_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dependence {
    pub variable: u64,
    pub kind: c_uint,
}

macro_rules! events {
    ($($name:ident = $number:literal, $what:literal ($($arg:ty),*);)*) => {
        /// What can be asked for (`ompt_callbacks_t`).
        pub mod event {
            use super::{Code, Data, Dependence, Event, Frame, PhantomData, c_int, c_uint};
            $(pub const $name: Event<unsafe extern "C" fn($($arg),*)> = Event {
                number: $number,
                name: $what,
                callback: PhantomData,
            };)*
        }
    };
}

events! {
    THREAD_BEGIN = 1, "threads" (c_int, Data);
    PARALLEL_BEGIN = 3, "parallel regions" (Data, Frame, Data, c_uint, c_int, Code);
    PARALLEL_END = 4, "ends of parallel regions" (Data, Data, c_int, Code);
    TASK_CREATE = 5, "tasks" (Data, Frame, Data, c_int, c_int, Code);
    TASK_SCHEDULE = 6, "switches of tasks" (Data, c_int, Data);
    IMPLICIT_TASK = 7, "implicit tasks" (c_int, Data, Data, c_uint, c_uint, c_int);
    TARGET = 8, "target regions" (c_int, c_int, c_int, Data, u64, Code);
    SYNC_REGION_WAIT = 16, "waits" (c_int, c_int, Data, Data, Code);
    MUTEX_RELEASED = 17, "lock releases" (c_int, u64, Code);
    DEPENDENCES = 18, "dependences" (Data, *const Dependence, c_int);
    WORK = 20, "worksharing constructs" (c_int, c_int, Data, Data, u64, Code);
    MASKED = 21, "masked constructs" (c_int, Data, Data, Code);
    SYNC_REGION = 23, "barriers and waits" (c_int, c_int, Data, Data, Code);
    LOCK_INIT = 24, "new locks" (c_int, c_uint, c_uint, u64, Code);
    LOCK_DESTROY = 25, "ends of locks" (c_int, u64, Code);
    MUTEX_ACQUIRE = 26, "lock attempts" (c_int, c_uint, c_uint, u64, Code);
    MUTEX_ACQUIRED = 27, "locks" (c_int, u64, Code);
    CANCEL = 30, "cancellation" (Data, c_int, Code);
    REDUCTION = 31, "reductions" (c_int, c_int, Data, Data, Code);
}

/// `ompt_set_result_t`: the callback will be called whenever its event happens.
const SET_ALWAYS: c_int = 5;
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

/// `ompt_get_task_info`: level, then places for flags, the task's word, its frames, its region's
/// word and its number.
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
