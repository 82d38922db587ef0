//! The functions that this library stands in front of, as the next object in the search order
//! defines them.

use std::ffi::{c_int, c_uint};

pub(crate) use contech_interpose::functions::{Routine, Time};
pub(crate) use contech_interpose::threads::Ptr;
use contech_interpose::threads::{Body, Body11};
use contech_interpose::{for_each_function, real_functions};
use libc::timespec;

for_each_function! { real_functions! {
    pthread_exit: (Ptr) -> !;
    thrd_exit: (c_int) -> !;
    pthread_setcanceltype: (c_int, *mut c_int) -> c_int;

    malloc: (usize) -> Ptr;
    calloc: (usize, usize) -> Ptr;
    realloc: (Ptr, usize) -> Ptr;
    reallocarray: (Ptr, usize, usize) -> Ptr;
    free: (Ptr);
    posix_memalign: (*mut Ptr, usize, usize) -> c_int;
    aligned_alloc: (usize, usize) -> Ptr;
    memalign: (usize, usize) -> Ptr;
    valloc: (usize) -> Ptr;

    fork: () -> c_int;
    fprintf: () -> c_int;
    __fprintf_chk: () -> c_int;
    fscanf: () -> c_int;
    __isoc99_fscanf: () -> c_int;
    longjmp: () -> c_int;
    _longjmp: () -> c_int;
    siglongjmp: () -> c_int;
    __longjmp_chk: () -> c_int;
} }
