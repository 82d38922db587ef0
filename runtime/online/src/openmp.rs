//! OpenMP programs that run with one thread: LLVM's libomp then executes each task where it is generated, which is
//! the serial execution that the profiler needs. Its entry points are intercepted: a task is a spawn from the place
//! that generates it, and a wait for tasks is a sync.
#![allow(
    unsafe_code,
    reason = "functions of libomp's C interface, and their return addresses"
)]

use std::ffi::{c_int, c_void};

use contech_guest::in_front_of;

use crate::hooks;

pub(crate) type Ptr = *mut c_void;

/// Calls `real`, and then says that the task waits for its children.
fn wait<R>(real: impl FnOnce() -> R) -> R {
    let done = real();
    hooks::wait();
    done
}

in_front_of! {
    // A task is generated and, with one thread, executed.
    __kmpc_omp_task [caller 3] (at: Ptr, thread: c_int, task: Ptr; from) -> c_int => |call| {
        hooks::spawns(from);
        let done = call();
        hooks::spawned();
        done
    };
    // Waits for the children of the task, for the tasks of a group, and for all tasks of the team.
    __kmpc_omp_taskwait(at: Ptr, thread: c_int) -> c_int => |call| wait(call);
    __kmpc_end_taskgroup(at: Ptr, thread: c_int) => |call| wait(call);
    __kmpc_barrier(at: Ptr, thread: c_int) => |call| wait(call);
}
