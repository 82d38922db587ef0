//! Which objects (executable, shared libraries) of the process make calls that are recorded.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_interpose::mask::Blocked;
use contech_interpose::objects::{Object, objects};
use contech_runtime_core::Recorder;
use contech_trace::abi::MODULE_FORTRAN;

use crate::fortran;
use crate::ompt;

/// Libraries whose calls count as the program's. Those of C++ carry out its std::thread, std::mutex
/// and kin. The C library and the dynamic linker make no such calls of their own, but they call the
/// program back (qsort, exit handlers, constructors). If the program's last act there is a jump to
/// a function of this library, the return address lies in their code.
const ALSO: [&str; 5] = ["/libstdc++.so", "/libc++.so", "/libc++abi.so", "/libc.so", "/ld-linux"];

/// First address and length of an object's code and data.
struct Place(AtomicUsize, AtomicUsize);

impl Place {
    const fn nowhere() -> Self {
        Place(AtomicUsize::new(0), AtomicUsize::new(0))
    }

    fn set(&self, object: Option<&Object>) {
        if let Some(object) = object {
            self.0.store(object.start, Relaxed);
            self.1.store(object.len, Relaxed);
        }
    }

    #[inline(always)]
    fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.0.load(Relaxed)) < self.1.load(Relaxed)
    }
}

/// This library, and the dynamic linker.
static OWN: Place = Place::nowhere();
static LINKER: Place = Place::nowhere();

/// Whether the code at this address is this library's. Always false before the first
/// `refresh_callers`.
pub(crate) fn is_own(address: usize) -> bool {
    OWN.holds(address)
}

/// Whether the code at this address is the dynamic linker's. The linker allocates in the middle of
/// a block (at the first use of a thread-local variable of a library), when the cursor in
/// thread-local storage is behind the one in the program's register. An event written then would
/// tear the record apart.
#[inline(always)]
pub(crate) fn is_linker(address: usize) -> bool {
    LINKER.holds(address)
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
    OWN.set(objects.iter().find(|o| o.holds(own)));
    // SAFETY: the call reads the auxiliary vector of this process. A program that is linked
    // statically has no linker; nobody loads anything there.
    let linker = unsafe { libc::getauxval(libc::AT_BASE) };
    LINKER.set(objects.iter().find(|o| linker != 0 && o.base as u64 == linker));
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
