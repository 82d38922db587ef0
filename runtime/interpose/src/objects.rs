//! The objects (executable, shared libraries) of the process, and where addresses are.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;

/// An object that is loaded.
#[derive(Debug)]
pub struct Object {
    /// Its path; empty for the executable.
    pub path: String,
    /// What is to be added to the addresses of its file.
    pub base: usize,
    /// Its first address.
    pub start: usize,
    /// Bytes from there to its end.
    pub len: usize,
}

/// All objects.
#[must_use]
pub fn objects() -> Vec<Object> {
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
    let end = loaded().map(|h| address(h.p_vaddr + h.p_memsz)).max().unwrap_or(0);
    let path = if info.dlpi_name.is_null() {
        String::new()
    } else {
        // SAFETY: names are C strings.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy().into_owned()
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
    /// First address and length of each part of the object that is left without these ranges. The
    /// ranges are ascending, in the file's own addresses.
    #[must_use]
    pub fn without(&self, ranges: &[Range<u64>]) -> Vec<(usize, usize)> {
        let place = |address: u64| self.base.wrapping_add(usize::try_from(address).unwrap_or(0));
        let (mut start, end) = (self.start, self.start + self.len);
        let mut left = Vec::with_capacity(ranges.len() + 1);
        for range in ranges {
            left.push((start, place(range.start).saturating_sub(start)));
            start = place(range.end);
        }
        left.push((start, end.saturating_sub(start)));
        left
    }

    /// Whether the address is in it.
    #[must_use]
    pub fn holds(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.len
    }
}

/// What the dynamic linker knows about an address.
#[must_use]
pub fn about(address: usize) -> Option<libc::Dl_info> {
    // SAFETY: the type is plain data for which zero is a value; the call below fills it.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let at = std::ptr::without_provenance(address);
    // SAFETY: `dladdr` accepts any address, and the record is live.
    let found = unsafe { libc::dladdr(at, &raw mut info) };
    (found != 0 && !info.dli_fname.is_null()).then_some(info)
}

/// The path of the object that the address is in, as the linker has it.
#[must_use]
pub fn path_at(address: usize) -> Option<&'static CStr> {
    // SAFETY: the linker keeps this C string.
    about(address).map(|info| unsafe { CStr::from_ptr(info.dli_fname) })
}

/// The name of that object's file.
#[must_use]
pub fn file_at(address: usize) -> Option<&'static [u8]> {
    path_at(address)?.to_bytes().rsplit(|byte| *byte == b'/').next()
}

/// The path of the program's executable; empty if it is not known.
#[must_use]
pub fn executable() -> String {
    let path = std::fs::read_link("/proc/self/exe");
    path.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}
