//! The objects (executable, shared libraries) of the process, and which of them make calls that are recorded.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_guest::mask::Blocked;
use contech_runtime_core::Recorder;
use contech_trace::abi::MODULE_FORTRAN;

use crate::fortran;
use crate::ompt;

pub(crate) struct Object {
    /// Empty for the executable.
    pub(crate) path: String,
    pub(crate) base: usize,
    start: usize,
    len: usize,
}

/// Libraries whose calls count as the program's. Those of C++ carry out its std::thread, std::mutex and kin. The C
/// library and the dynamic linker make no such calls of their own, but they call the program back (qsort, exit
/// handlers, constructors). If the program's last act there is a jump to a function of this library, the return address
/// lies in their code.
const ALSO: [&str; 5] = [
    "/libstdc++.so",
    "/libc++.so",
    "/libc++abi.so",
    "/libc.so",
    "/ld-linux",
];

pub(crate) fn objects() -> Vec<Object> {
    let mut list: Vec<Object> = Vec::new();
    // SAFETY: the callback gets back the pointer to the list, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut list).cast()) };
    list
}

unsafe extern "C" fn collect(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    list: *mut c_void,
) -> c_int {
    // SAFETY: the linker passes a valid record, and the list of `objects`.
    let (info, list) = unsafe { (&*info, &mut *list.cast::<Vec<Object>>()) };
    // SAFETY: the record's program headers are an array of that length.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
    let address = |offset: u64| info.dlpi_addr.wrapping_add(offset);
    let start = loaded().map(|h| address(h.p_vaddr)).min().unwrap_or(0);
    let end = loaded()
        .map(|h| address(h.p_vaddr + h.p_memsz))
        .max()
        .unwrap_or(0);
    let path = if info.dlpi_name.is_null() {
        String::new()
    } else {
        // SAFETY: names are C strings.
        unsafe { CStr::from_ptr(info.dlpi_name) }
            .to_string_lossy()
            .into_owned()
    };
    let size = |n: u64| usize::try_from(n).unwrap_or(0);
    list.push(Object {
        path,
        base: size(info.dlpi_addr),
        start: size(start),
        len: size(end - start),
    });
    0
}

impl Object {
    /// First address and length of each part of the object that is left without these ranges. The ranges are ascending,
    /// in the file's own addresses.
    fn without(&self, ranges: &[Range<u64>]) -> Vec<(usize, usize)> {
        let place = |address: u64| {
            self.base
                .wrapping_add(usize::try_from(address).unwrap_or(0))
        };
        let (mut start, end) = (self.start, self.start + self.len);
        let mut left = Vec::with_capacity(ranges.len() + 1);
        for range in ranges {
            left.push((start, place(range.start).saturating_sub(start)));
            start = place(range.end);
        }
        left.push((start, end.saturating_sub(start)));
        left
    }

    pub(crate) fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.len
    }
}

/// First address and length of this library.
static OWN: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// Whether the code at this address is this library's. Always false before the first `refresh_callers`.
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
        let not = if fortran(object) {
            fortran::library(&object.path)
        } else {
            Vec::new()
        };
        ranges.extend(object.without(&not));
    }
    recorder.callers.replace(ranges);
}
