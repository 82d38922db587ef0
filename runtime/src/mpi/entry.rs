//! The functions of the MPI library. They are found by name when they are first called.

use std::ffi::{CStr, c_char, c_int, c_void};

use contech_interpose::lookup::loaded;
use contech_interpose::notice;
use contech_interpose::objects::path_at;

/// This recorder's own library, which has functions of the same names.
const OWN: &str = "libcontech_mpi.so";
/// Names of the libraries, for programs that do not reach them as their own dependences.
const LIBRARIES: [&CStr; 4] = [c"libmpi.so.40", c"libmpich.so.12", c"libmpi.so.12", c"libmpi.so"];

/// A function of the library to call (its name ends in a zero byte): if there is none, one that
/// says what is missing.
pub(crate) fn function(name: &str) -> Option<*mut c_void> {
    find(name).or(Some(missing as *mut c_void))
}

/// A symbol (whose name ends in a zero byte), in any object except this recorder's own.
pub(crate) fn find(name: &str) -> Option<*mut c_void> {
    let name = name.as_ptr().cast::<c_char>();
    let in_place = |place| {
        // SAFETY: the name is a C string; the place is a handle or a pseudo-handle.
        let found = unsafe { libc::dlsym(place, name) };
        (!found.is_null() && !is_own(found.addr())).then_some(found)
    };
    in_place(libc::RTLD_NEXT)
        .or_else(|| in_place(libc::RTLD_DEFAULT))
        .or_else(|| LIBRARIES.iter().find_map(|library| in_place(loaded(library)?)))
}

fn is_own(address: usize) -> bool {
    path_at(address).is_some_and(|path| path.to_bytes().ends_with(OWN.as_bytes()))
}

extern "C-unwind" fn missing() -> c_int {
    notice::say(
        "the program called an MPI function that is not in a shared library: link MPI dynamically (libmpi.so, libmpich.so)",
    );
    // SAFETY: this ends the process, as a call of a missing function would.
    unsafe { libc::abort() }
}

/// What `ask` stores at the address that it gets.
pub(crate) fn stored<T: Default>(ask: impl FnOnce(usize) -> c_int) -> T {
    let mut value = T::default();
    ask((&raw mut value).expose_provenance());
    value
}

/// Calls a function of the MPI library. Each argument is a word, and what C passes as an int is its
/// low half.
macro_rules! pmpi {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        type Function = unsafe extern "C-unwind" fn($($crate::mpi::entry::pmpi!(@word $argument)),*) -> std::ffi::c_int;
        static REAL: contech_interpose::lookup::LateFunction<Function> =
            // SAFETY: the function takes this many words, which are ints and pointers, and returns
            // an int.
            unsafe { contech_interpose::lookup::LateFunction::new(concat!(stringify!($name), "\0"), $crate::mpi::entry::function) };
        // SAFETY: the arguments are the program's, or pointers to live values of the size the
        // function expects.
        unsafe { (REAL.get())($($argument),*) }
    }};
    (@word $argument:expr) => { usize };
}
pub(crate) use pmpi;
