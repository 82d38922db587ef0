//! OpenMP programs that run with one thread: LLVM's libomp then executes each task where it is generated, which is
//! the serial execution that the profiler needs. Its entry points are intercepted: a task is a spawn from the place
//! that generates it, and a wait for tasks is a sync.
#![allow(
    unsafe_code,
    reason = "functions of libomp's C interface, and their return addresses"
)]

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use contech_guest::exports;

use crate::hooks;

/// A function of libomp, which is looked up at its first call.
#[derive(Debug)]
pub(crate) struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            address: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Its address; null if no library has it.
    pub(crate) fn get(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

type TakesTask = unsafe extern "C" fn(*mut c_void, i32, *mut c_void) -> c_int;
type Waits = unsafe extern "C" fn(*mut c_void, i32) -> c_int;

static TASK: Real = Real::new(c"__kmpc_omp_task");
static TASKWAIT: Real = Real::new(c"__kmpc_omp_taskwait");
static END_TASKGROUP: Real = Real::new(c"__kmpc_end_taskgroup");
static BARRIER: Real = Real::new(c"__kmpc_barrier");

exports! {
    __kmpc_omp_task [caller 3] = generated;
}

/// A task is generated and, with one thread, executed.
unsafe extern "C" fn generated(
    location: *mut c_void,
    thread: i32,
    task: *mut c_void,
    from: usize,
) -> c_int {
    let real = TASK.get();
    if real.is_null() {
        return 0;
    }
    // SAFETY: libomp's function of this name has this type.
    let real = unsafe { std::mem::transmute::<*mut c_void, TakesTask>(real) };
    hooks::spawns(from);
    // SAFETY: the arguments are the program's own.
    let done = unsafe { real(location, thread, task) };
    hooks::spawned();
    done
}

/// Calls `real`, and then syncs.
///
/// # Safety
/// `real` is a function of type [`Waits`].
unsafe fn wait(real: &Real, location: *mut c_void, thread: i32) -> c_int {
    let address = real.get();
    if address.is_null() {
        return 0;
    }
    // SAFETY: this function's contract.
    let real = unsafe { std::mem::transmute::<*mut c_void, Waits>(address) };
    // SAFETY: the arguments are the program's own.
    let done = unsafe { real(location, thread) };
    hooks::wait();
    done
}

/// Waits for the children of the task.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_omp_taskwait(location: *mut c_void, thread: i32) -> c_int {
    // SAFETY: libomp's functions of these names take these two arguments, and return nothing or a number that nobody
    // reads.
    unsafe { wait(&TASKWAIT, location, thread) }
}

/// Waits for the tasks of a group.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_end_taskgroup(location: *mut c_void, thread: i32) {
    // SAFETY: as above.
    unsafe { wait(&END_TASKGROUP, location, thread) };
}

/// Waits for all tasks of the team.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_barrier(location: *mut c_void, thread: i32) {
    // SAFETY: as above.
    unsafe { wait(&BARRIER, location, thread) };
}
