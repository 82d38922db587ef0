//! Which objects (executable, shared libraries) of the process make calls that are recorded.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_interpose::mask::Blocked;
use contech_interpose::objects::{Object, objects};
use contech_runtime_core::Recorder;
use contech_trace::abi::MODULE_FORTRAN;

use crate::fortran;
use crate::loader;
use crate::ompt;

/// Libraries whose calls count as the program's. Those of C++ carry out its std::thread, std::mutex
/// and kin. The C library and the dynamic linker make no such calls of their own, but they call the
/// program back (qsort, exit handlers, constructors). If the program's last act there is a jump to
/// a function of this library, the return address lies in their code.
const ALSO: [&str; 5] = ["/libstdc++.so", "/libc++.so", "/libc++abi.so", "/libc.so", "/ld-linux"];

/// First address and length of this library.
static OWN: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// Whether the code at this address is this library's. Always false before the first
/// `refresh_callers`.
pub(crate) fn is_own(address: usize) -> bool {
    address.wrapping_sub(OWN.0.load(Relaxed)) < OWN.1.load(Relaxed)
}

/// Finds out again which objects' calls are recorded.
pub(crate) fn refresh_callers(recorder: &'static Recorder) {
    let _blocked = Blocked::new();
    let modules = recorder.module_addresses();
    // This library itself calls thread bodies, signal handlers and once-routines.
    let own = refresh_callers as *const () as usize;
    let counts = |o: &Object| {
        o.holds(own)
            || modules.iter().any(|(m, _)| o.holds(*m))
            || ALSO.iter().any(|name| o.path.contains(name))
    };
    let objects = objects();
    objects.iter().for_each(|o| ompt::loaded(&o.path));
    loader::find(&objects);
    if let Some(object) = objects.iter().find(|o| o.holds(own)) {
        OWN.0.store(object.start, Relaxed);
        OWN.1.store(object.len, Relaxed);
    }
    let fortran = |o: &Object| {
        let calls = |flags: &u64| flags & MODULE_FORTRAN != 0;
        modules.iter().any(|(m, flags)| o.holds(*m) && calls(flags))
    };
    let mut ranges = Vec::new();
    for object in objects.iter().filter(|o| counts(o)) {
        let not = if fortran(object) { fortran::library(&object.path) } else { Vec::new() };
        ranges.extend(object.without(&not));
    }
    recorder.callers.replace(ranges);
}
