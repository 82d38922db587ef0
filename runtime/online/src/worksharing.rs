//! What happens at the edges of the iterations of a work-sharing loop: reductions follow the iterations, and ordered
//! sections follow each other.
#![allow(unsafe_code, reason = "functions of libomp's C interface")]

use std::ffi::{c_int, c_void};

use crate::hooks;
use crate::openmp::Real;
use crate::regions;

static REDUCE: Real = Real::new(c"__kmpc_reduce");
static REDUCE_NOWAIT: Real = Real::new(c"__kmpc_reduce_nowait");
static ORDERED: Real = Real::new(c"__kmpc_ordered");
static END_ORDERED: Real = Real::new(c"__kmpc_end_ordered");
static DOACROSS: Real = Real::new(c"__kmpc_doacross_init");
static END_DOACROSS: Real = Real::new(c"__kmpc_doacross_fini");

/// `__kmpc_reduce`: location, thread, number, size and address of the variables, combiner, lock.
type Reduces = unsafe extern "C" fn(
    *mut c_void,
    i32,
    i32,
    usize,
    *mut c_void,
    *mut c_void,
    *mut c_void,
) -> c_int;
type Section = unsafe extern "C" fn(*mut c_void, i32);
type Dependent = unsafe extern "C" fn(*mut c_void, i32, c_int, *mut c_void);

/// A reduction begins; returns libomp's function for it, which is that of [`REDUCE`] or [`REDUCE_NOWAIT`].
fn reduction(real: &Real) -> Option<Reduces> {
    let real = real.get();
    if real.is_null() {
        return None;
    }
    hooks::wait();
    // SAFETY: libomp's functions of these names have this type.
    Some(unsafe { std::mem::transmute::<*mut c_void, Reduces>(real) })
}

/// Combines the results of the iterations, after waiting for them.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_reduce(
    location: *mut c_void,
    thread: i32,
    count: i32,
    size: usize,
    data: *mut c_void,
    combine: *mut c_void,
    lock: *mut c_void,
) -> c_int {
    let Some(real) = reduction(&REDUCE) else {
        return 0;
    };
    // SAFETY: the arguments are the program's own.
    unsafe { real(location, thread, count, size, data, combine, lock) }
}

/// The same without a barrier.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_reduce_nowait(
    location: *mut c_void,
    thread: i32,
    count: i32,
    size: usize,
    data: *mut c_void,
    combine: *mut c_void,
    lock: *mut c_void,
) -> c_int {
    let Some(real) = reduction(&REDUCE_NOWAIT) else {
        return 0;
    };
    // SAFETY: the arguments are the program's own.
    unsafe { real(location, thread, count, size, data, combine, lock) }
}

/// Calls a function with a location and a thread.
///
/// # Safety
/// `real` is a function of type [`Section`].
unsafe fn call(real: &Real, location: *mut c_void, thread: i32) {
    let address = real.get();
    if address.is_null() {
        return;
    }
    // SAFETY: this function's contract.
    let real = unsafe { std::mem::transmute::<*mut c_void, Section>(address) };
    // SAFETY: the arguments are the program's own.
    unsafe { real(location, thread) };
}

/// An ordered section begins; it follows those of the iterations before.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_ordered(location: *mut c_void, thread: i32) {
    // SAFETY: libomp's function of this name has this type.
    unsafe { call(&ORDERED, location, thread) };
    hooks::ordered(true);
}

/// An ordered section ends.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_end_ordered(location: *mut c_void, thread: i32) {
    hooks::ordered(false);
    // SAFETY: as above.
    unsafe { call(&END_ORDERED, location, thread) };
}

/// A loop begins whose iterations wait for others (`ordered(n)`). It is not known which of them could run in
/// parallel, so the profile treats none as parallel.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_doacross_init(
    location: *mut c_void,
    thread: i32,
    count: c_int,
    dimensions: *mut c_void,
) {
    let real = DOACROSS.get();
    if real.is_null() {
        return;
    }
    regions::begin_serial(regions::level());
    // SAFETY: libomp's function of this name has this type.
    let real = unsafe { std::mem::transmute::<*mut c_void, Dependent>(real) };
    // SAFETY: the arguments are the program's own.
    unsafe { real(location, thread, count, dimensions) };
}

/// The loop of [`__kmpc_doacross_init`] ends.
#[unsafe(no_mangle)]
unsafe extern "C" fn __kmpc_doacross_fini(location: *mut c_void, thread: i32) {
    regions::end_serial(regions::level());
    // SAFETY: libomp's function of this name has this type.
    unsafe { call(&END_DOACROSS, location, thread) };
}
