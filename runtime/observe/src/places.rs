//! Finds which library an address is in.

use std::ffi::{c_int, c_void};

use contech_interpose::objects::file_at;

/// OpenMP libraries: the threads that they create are their own, not the program's.
pub(crate) const OPENMP: [&str; 3] = ["libomp", "libiomp", "libgomp"];
/// Libraries that create threads for the program.
const BETWEEN: [&str; 6] =
    ["libstdc++", "libc++", "libc.so", "libcontech_", "libgfortran", "libtbb"];

fn file_begins_with(address: usize, names: &[&str]) -> bool {
    file_at(address).is_some_and(|file| names.iter().any(|name| file.starts_with(name.as_bytes())))
}

/// Whether the address is in an OpenMP library.
pub(crate) fn is_openmp(address: usize) -> bool {
    file_begins_with(address, &OPENMP)
}

type Context = *mut c_void;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(Context, *mut c_void) -> c_int,
        to: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: Context) -> usize;
}

unsafe extern "C" fn each_frame(context: Context, to: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const STOP: c_int = 4;
    // SAFETY: the unwinder passes its own context.
    let address = unsafe { _Unwind_GetIP(context) };
    if address == 0 || file_begins_with(address, &BETWEEN) {
        return GO_ON;
    }
    // SAFETY: `of_program` passes a pointer to its own variable.
    unsafe { *to.cast::<usize>() = address };
    STOP
}

/// The place in the program that called the library that `caller` is in; `caller` itself if it is
/// in the program.
pub(crate) fn of_program(caller: usize) -> usize {
    if !file_begins_with(caller, &BETWEEN) {
        return caller;
    }
    let mut found = caller;
    // SAFETY: the callback gets a pointer to the variable, which outlives the call.
    unsafe { _Unwind_Backtrace(each_frame, (&raw mut found).cast()) };
    found
}
