//! What happens at the edges of the iterations of a work-sharing loop: reductions follow the iterations, and ordered
//! sections follow each other.
#![allow(unsafe_code, reason = "functions of libomp's C interface")]

use std::ffi::c_int;

use contech_guest::in_front_of;

use crate::hooks;
use crate::openmp::Ptr;
use crate::regions;

in_front_of! {
    // Combines the results of the iterations, after waiting for them: location, thread, number, size and address of the
    // variables, combiner, lock.
    __kmpc_reduce(at: Ptr, thread: c_int, count: c_int, size: usize, data: Ptr, combine: Ptr, lock: Ptr) -> c_int => |call| {
        hooks::wait();
        call()
    };
    // The same without a barrier.
    __kmpc_reduce_nowait(at: Ptr, thread: c_int, count: c_int, size: usize, data: Ptr, combine: Ptr, lock: Ptr) -> c_int => |call| {
        hooks::wait();
        call()
    };
    // An ordered section begins; it follows those of the iterations before.
    __kmpc_ordered(at: Ptr, thread: c_int) => |call| {
        call();
        hooks::ordered(true);
    };
    __kmpc_end_ordered(at: Ptr, thread: c_int) => |call| {
        hooks::ordered(false);
        call();
    };
    // A loop begins whose iterations wait for others (`ordered(n)`). It is not known which of them could run in
    // parallel, so the profile treats none as parallel.
    __kmpc_doacross_init(at: Ptr, thread: c_int, count: c_int, dimensions: Ptr) => |call| {
        regions::begin_serial(regions::level());
        call();
    };
    __kmpc_doacross_fini(at: Ptr, thread: c_int) => |call| {
        regions::end_serial(regions::level());
        call();
    };
}
