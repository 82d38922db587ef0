//! Mapping and unmapping memory. The system calls are made here, because the C library's functions
//! of these names only make them.

use std::ffi::{c_int, c_long};

use contech_trace::event::Event;

use crate::active::allocating;
use crate::real::Ptr;

fn record(event: &Event) {
    if let Some(a) = allocating() {
        a.recorder.put(a.tls, event);
    }
}

/// Records that `call` unmaps memory.
fn unmapping(address: Ptr, length: usize, call: impl FnOnce() -> c_long) -> c_long {
    let Some(a) = allocating() else {
        return call();
    };
    let (addr, size) = (address.addr() as u64, length as u64);
    let done = |result: &c_long| succeeded(*result);
    a.recorder.announce_end(a.tls, &Event::Unmap { addr, size }, call, done)
}

fn succeeded(address: c_long) -> bool {
    address != -1
}

pub(crate) unsafe extern "C-unwind" fn mmap(
    address: Ptr,
    length: usize,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: i64,
) -> c_long {
    // SAFETY: the caller's arguments are passed on.
    let at =
        unsafe { libc::syscall(libc::SYS_mmap, address, length, protection, flags, file, offset) };
    if succeeded(at) {
        record(&Event::Map { addr: at.cast_unsigned(), size: length as u64 });
    }
    at
}

pub(crate) unsafe extern "C-unwind" fn munmap(address: Ptr, length: usize) -> c_int {
    // SAFETY: the caller's arguments are passed on.
    let call = || unsafe { libc::syscall(libc::SYS_munmap, address, length) };
    let result = unmapping(address, length, call);
    c_int::from(result == 0) - 1
}

pub(crate) unsafe extern "C-unwind" fn mremap(
    old: Ptr,
    old_length: usize,
    length: usize,
    flags: c_int,
    new: Ptr,
) -> c_long {
    // SAFETY: the caller's arguments are passed on. Without MREMAP_FIXED the kernel ignores the
    // last one.
    let call = || unsafe { libc::syscall(libc::SYS_mremap, old, old_length, length, flags, new) };
    let at = unmapping(old, old_length, call);
    if succeeded(at) {
        record(&Event::Map { addr: at.cast_unsigned(), size: length as u64 });
    }
    at
}
