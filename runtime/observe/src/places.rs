//! Whose code an address is.

use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// An OpenMP library: threads it makes are its own.
pub(crate) const OPENMP: [&str; 3] = ["libomp", "libiomp", "libgomp"];
/// Libraries that make threads for the program.
const BETWEEN: [&str; 6] = [
    "libstdc++",
    "libc++",
    "libc.so",
    "libcontech_",
    "libgfortran",
    "libtbb",
];

/// What the linker knows of an address.
pub(crate) fn info(address: usize) -> Option<libc::Dl_info> {
    // SAFETY: plain data for which zero is a value; filled by the call below.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let at = std::ptr::without_provenance(address);
    // SAFETY: any address may be asked for; the record is live.
    let found = unsafe { libc::dladdr(at, &raw mut info) };
    (found != 0 && !info.dli_fname.is_null()).then_some(info)
}

fn file_begins_with(address: usize, names: &[&str]) -> bool {
    let Some(info) = info(address) else {
        return false;
    };
    // SAFETY: the linker's own C string.
    let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes();
    let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    names.iter().any(|name| file.starts_with(name.as_bytes()))
}

/// Whether a library is loaded.
pub(crate) fn is_loaded(name: &CStr) -> bool {
    // SAFETY: the name is a C string; nothing is loaded that is not there already.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    !handle.is_null()
}

/// The last caller that was an OpenMP library, and the last that was none: a program creates threads at few places.
static LAST: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Whether the address is in an OpenMP library.
pub(crate) fn is_openmp(address: usize) -> bool {
    for (answer, last) in LAST.iter().enumerate() {
        if last.load(Relaxed) == address {
            return answer == 1;
        }
    }
    let is = file_begins_with(address, &OPENMP);
    LAST[usize::from(is)].store(address, Relaxed);
    is
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
    // SAFETY: the unwinder's own context.
    let address = unsafe { _Unwind_GetIP(context) };
    if address == 0 || file_begins_with(address, &BETWEEN) {
        return GO_ON;
    }
    // SAFETY: `of_program` passed its own variable.
    unsafe { *to.cast::<usize>() = address };
    STOP
}

/// The place in the program that called the library that called from `caller`.
pub(crate) fn of_program(caller: usize) -> usize {
    if !file_begins_with(caller, &BETWEEN) {
        return caller;
    }
    let mut found = caller;
    // SAFETY: the callback is given the variable, which outlives the call.
    unsafe { _Unwind_Backtrace(each_frame, (&raw mut found).cast()) };
    found
}
