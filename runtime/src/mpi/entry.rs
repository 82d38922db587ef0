//! The functions of the MPI library. They are found by name when they are first called.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Release};

use contech_interpose::notice;
use contech_interpose::objects::path_at;

/// This recorder's own library, which has functions of the same names.
const OWN: &str = "libcontech_mpi.so";
/// Names of the libraries, for programs that do not reach them as their own dependences.
const LIBRARIES: [&CStr; 4] = [c"libmpi.so.40", c"libmpich.so.12", c"libmpi.so.12", c"libmpi.so"];

/// A function that is looked up only once.
pub(crate) struct Entry {
    /// The name, which ends in a zero byte.
    name: &'static str,
    address: AtomicUsize,
}

impl Entry {
    pub(crate) const fn new(name: &'static str) -> Self {
        Entry { name, address: AtomicUsize::new(0) }
    }

    /// The function's address. If there is none, the address of a function that says what is
    /// missing.
    pub(crate) fn address(&self) -> usize {
        match self.address.load(Acquire) {
            0 => {
                let found = find(self.name).unwrap_or(missing as *const () as usize);
                self.address.store(found, Release);
                found
            }
            found => found,
        }
    }
}

/// The address of a symbol (whose name ends in a zero byte), in any object except this recorder's
/// own.
pub(crate) fn find(name: &str) -> Option<usize> {
    let name = name.as_ptr().cast::<c_char>();
    let in_place = |place| {
        // SAFETY: the name is a C string; the place is a handle or a pseudo-handle.
        let found = unsafe { libc::dlsym(place, name) }.addr();
        (found != 0 && !is_own(found)).then_some(found)
    };
    in_place(libc::RTLD_NEXT).or_else(|| in_place(libc::RTLD_DEFAULT)).or_else(|| {
        LIBRARIES.iter().find_map(|library| {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
            // SAFETY: the name is a C string, and nothing is loaded that is not there already.
            let place = unsafe { libc::dlopen(library.as_ptr(), flags) };
            (!place.is_null()).then(|| in_place(place)).flatten()
        })
    })
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
        static ENTRY: $crate::mpi::entry::Entry =
            $crate::mpi::entry::Entry::new(concat!(stringify!($name), "\0"));
        type Function = unsafe extern "C-unwind" fn($($crate::mpi::entry::pmpi!(@word $argument)),*) -> std::ffi::c_int;
        // SAFETY: the function takes this many words, which are ints and pointers, and returns an
        // int.
        let function = unsafe { std::mem::transmute::<usize, Function>(ENTRY.address()) };
        // SAFETY: the arguments are the program's, or pointers to live values of the size the
        // function expects.
        unsafe { function($($argument),*) }
    }};
    (@word $argument:expr) => { usize };
}
pub(crate) use pmpi;
