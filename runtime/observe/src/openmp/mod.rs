//! OpenMP: what LLVM's libomp tells a tool (OMPT), and the cost of making tasks and handing out iterations, which
//! libomp does not tell.

mod costs;
mod frames;
mod late;
mod regions;
mod tasks;

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use contech_guest::ompt::{Callback, Code, Data, Frame, Lookup, SetCallback, StartToolResult};

use crate::{clock, options, places, tls};

/// The numbers of callbacks, each with the observer's function.
macro_rules! callbacks {
    ($($number:ident, $function:path as fn($($arg:ty),*);)*) => {
        [$((contech_guest::ompt::event::$number, {
            let typed: unsafe extern "C" fn($($arg),*) = $function;
            // SAFETY: libomp calls the function with the arguments of its number, as the type says.
            unsafe { std::mem::transmute::<unsafe extern "C" fn($($arg),*), contech_guest::ompt::Callback>(typed) }
        }),)*]
    };
}
use callbacks;

/// The OpenMP library's name, as the library gives it.
static NAME: OnceLock<String> = OnceLock::new();
/// Whether libomp tells the observer what the program does.
static LISTENS: AtomicBool = AtomicBool::new(false);

static RESULT: StartToolResult = StartToolResult {
    initialize,
    finalize,
    tool_data: AtomicU64::new(0),
};

/// `ompt_start_tool`, which libomp calls when it starts to ask for a tool. Null means that there is no tool.
pub(crate) unsafe extern "C" fn start_tool(
    _: c_uint,
    name: *const c_char,
) -> *const StartToolResult {
    if options::options().is_none() {
        return std::ptr::null();
    }
    if !name.is_null() {
        // SAFETY: libomp passes a C string.
        let name = unsafe { CStr::from_ptr(name) };
        let _ = NAME.set(name.to_string_lossy().into_owned());
    }
    &raw const RESULT
}

unsafe extern "C" fn initialize(lookup: Lookup, _device: c_int, _data: Data) -> c_int {
    // SAFETY: libomp passed its own function, which takes a C string.
    let Some(set) = (unsafe { lookup(c"ompt_set_callback".as_ptr()) }) else {
        return 0;
    };
    // SAFETY: the function of that name has this type.
    let set = unsafe { std::mem::transmute::<Callback, SetCallback>(set) };
    LISTENS.store(true, Relaxed);
    register(
        set,
        &callbacks! {
            THREAD_BEGIN, regions::thread_begin as fn(c_int, Data);
            PARALLEL_BEGIN, regions::parallel_begin as fn(Data, Frame, Data, c_uint, c_int, Code);
            PARALLEL_END, regions::parallel_end as fn(Data, Data, c_int, Code);
            IMPLICIT_TASK, regions::implicit_task as fn(c_int, Data, Data, c_uint, c_uint, c_int);
            SYNC_REGION, regions::sync_region as fn(c_int, c_int, Data, Data, Code);
            WORK, regions::work as fn(c_int, c_int, Data, Data, u64, Code);
            TASK_SCHEDULE, tasks::task_schedule as fn(Data, c_int, Data);
        },
    );
    late::start(set, [&late::MUTEXES, &regions::GROUPS]);
    1
}

fn register(set: SetCallback, callbacks: &[(c_int, Callback)]) {
    for (number, function) in callbacks {
        // SAFETY: each function has the type of the callback of that number.
        unsafe { set(*number, *function) };
    }
}

unsafe extern "C" fn finalize(_: Data) {}

/// The OpenMP library's name, as the library gives it; empty if there is none.
pub(crate) fn name() -> String {
    NAME.get().cloned().unwrap_or_default()
}

/// A note about a loaded OpenMP library that cannot be observed.
pub(crate) fn note() -> Option<String> {
    if LISTENS.load(Relaxed) {
        return None;
    }
    if places::is_loaded(c"libgomp.so.1") {
        return Some(
            "libgomp is loaded, which tells no tool what it does: waiting in its barriers and for work counts as running, \
             and its parallel regions are not seen; compile with clang-22 -fopenmp, or run the program as it is on \
             LLVM's library, which has libgomp's functions, too: LD_PRELOAD=/usr/lib/llvm-22/lib/libomp.so"
                .to_owned(),
        );
    }
    let other = places::is_loaded(c"libomp.so.5") || places::is_loaded(c"libiomp5.so");
    // A libomp that never started has nothing to tell either, so it needs no note.
    let deaf = std::env::var_os("OMP_TOOL").is_some_and(|tool| tool == "disabled") || asked();
    (other && deaf).then(|| {
        "this program's libomp does not use OMPT (built without it, or OMP_TOOL=disabled): waiting in it counts as \
         running; use Debian's libomp-22-dev and unset OMP_TOOL"
            .to_owned()
    })
}

/// Whether libomp has started, and so has asked for a tool.
fn asked() -> bool {
    NAME.get().is_some()
}

/// The calling thread's lane, and the current time.
fn event() -> Option<(&'static crate::lane::Lane, u64)> {
    Some((tls::lane()?, clock::now()))
}
