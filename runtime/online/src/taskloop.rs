//! Loops whose iterations are divided into tasks. With one thread, libomp executes each of these tasks before it
//! makes the next, within the call that makes them. Each task is a spawn from the loop.
#![allow(
    unsafe_code,
    reason = "functions and structures of libomp's C interface"
)]

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use contech_guest::{found, in_front_of};

use crate::hooks;
use crate::openmp::Ptr;

found! {
    static THREADS = omp_get_num_threads() -> c_int;
}

/// The deepest nest of loops that is followed.
const DEEP: usize = 64;

/// The return address of the last loop's call.
static FROM: AtomicUsize = AtomicUsize::new(0);
/// The loops that are being executed: their number, the code of their tasks, and the places that called them.
static DEPTH: AtomicUsize = AtomicUsize::new(0);
static CODE: [AtomicPtr<c_void>; DEEP] = [const { AtomicPtr::new(std::ptr::null_mut()) }; DEEP];
static PLACES: [AtomicUsize; DEEP] = [const { AtomicUsize::new(0) }; DEEP];

/// The head of libomp's `kmp_task_t`.
#[repr(C)]
struct Task {
    shared: *mut c_void,
    code: *mut c_void,
}

type Code = unsafe extern "C" fn(i32, *mut Task) -> c_int;

/// Executes a task of the innermost loop.
unsafe extern "C" fn execute(thread: i32, task: *mut Task) -> c_int {
    let at = DEPTH.load(Ordering::Relaxed).wrapping_sub(1);
    let (Some(code), Some(place)) = (CODE.get(at), PLACES.get(at)) else {
        return 0;
    };
    // SAFETY: the compiler gave this address as the code of the loop's tasks.
    let code = unsafe { std::mem::transmute::<*mut c_void, Code>(code.load(Ordering::Relaxed)) };
    hooks::spawns(place.load(Ordering::Relaxed));
    // SAFETY: the arguments are libomp's for this code.
    let done = unsafe { code(thread, task) };
    hooks::spawned();
    done
}

/// Whether the thread is alone in its team, so that it executes tasks where it makes them.
fn is_alone() -> bool {
    // SAFETY: the function has no arguments.
    THREADS
        .known()
        .is_some_and(|threads| unsafe { threads() } == 1)
}

/// Follows the tasks of a loop while `make` makes them. If the condition is false, the tasks are not parallel.
///
/// # Safety
/// The task is one that libomp allocated.
unsafe fn follow(task: *mut Task, condition: c_int, make: impl FnOnce()) {
    let from = FROM.load(Ordering::Relaxed);
    let depth = DEPTH.load(Ordering::Relaxed);
    if condition == 0 || !hooks::is_measured() || !is_alone() || depth >= DEEP {
        return make();
    }
    // SAFETY: this function's contract, and nobody else has the task yet.
    let code = unsafe { std::mem::replace(&mut (*task).code, execute as Code as *mut c_void) };
    CODE[depth].store(code, Ordering::Relaxed);
    PLACES[depth].store(from, Ordering::Relaxed);
    DEPTH.store(depth + 1, Ordering::Relaxed);
    make();
    DEPTH.store(depth, Ordering::Relaxed);
}

// Functions of libomp that divide the iterations of a loop into tasks. Libomp's own function makes the tasks, which are
// followed. The two differ by a modifier of the grain.
in_front_of! {
    __kmpc_taskloop [caller in FROM] (
        at: Ptr, thread: c_int, task: *mut Task, condition: c_int, lower: Ptr, upper: Ptr, step: i64, no_group: c_int,
        schedule: c_int, grain: u64, duplicate: Ptr
    ) => |call| {
        // SAFETY: the compiler's code got the task from libomp.
        unsafe { follow(task, condition, call) }
    };
    __kmpc_taskloop_5 [caller in FROM] (
        at: Ptr, thread: c_int, task: *mut Task, condition: c_int, lower: Ptr, upper: Ptr, step: i64, no_group: c_int,
        schedule: c_int, grain: u64, modifier: c_int, duplicate: Ptr
    ) => |call| {
        // SAFETY: the compiler's code got the task from libomp.
        unsafe { follow(task, condition, call) }
    };
}
