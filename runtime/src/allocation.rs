//! malloc and its kin. They are recorded for any caller, because memory that the program gets from
//! a library is the program's memory.

use std::ffi::c_int;

use contech_trace::event::{AllocKind, Event};

use crate::active::{Active, allocating, allocating_for};
use crate::bootstrap;
use crate::real::{Ptr, real, real_if_ready};

#[inline(always)]
fn record(a: impl FnOnce() -> Option<Active>, kind: AllocKind, block: Ptr, size: usize) -> Ptr {
    if !block.is_null()
        && let Some(a) = a()
    {
        a.recorder.alloc(a.tls, kind, block.addr(), size);
    }
    block
}

pub(crate) unsafe extern "C-unwind" fn malloc(size: usize, caller: usize) -> Ptr {
    let Some(real) = real_if_ready() else {
        return bootstrap::alloc(size, 1).cast();
    };
    // SAFETY: the caller's arguments are passed on, as everywhere below.
    record(|| allocating_for(caller), AllocKind::Malloc, unsafe { (real.malloc)(size) }, size)
}

pub(crate) unsafe extern "C-unwind" fn calloc(count: usize, size: usize, caller: usize) -> Ptr {
    let Some(real) = real_if_ready() else {
        return bootstrap::alloc(count.saturating_mul(size), 1).cast();
    };
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    let block = unsafe { (real.calloc)(count, size) };
    record(|| allocating_for(caller), AllocKind::Calloc, block, count.wrapping_mul(size))
}

/// Records a change of size. The old block is gone, unless it grew or shrank in place, or there is
/// no memory.
fn change(a: Active, old: Ptr, size: usize, call: impl FnOnce() -> Ptr) -> Ptr {
    let new = if old.is_null() {
        call()
    } else {
        let addr = old.addr() as u64;
        let gone = |new: &Ptr| {
            if new.is_null() { size == 0 } else { *new != old }
        };
        a.recorder.announce_end(a.tls, &Event::Free { addr }, call, gone)
    };
    if !new.is_null() {
        a.recorder.alloc(a.tls, AllocKind::Realloc, new.addr(), size);
    }
    new
}

pub(crate) unsafe extern "C-unwind" fn realloc(old: Ptr, size: usize, caller: usize) -> Ptr {
    if bootstrap::owns(old.cast()) {
        // SAFETY: the caller's arguments are passed on, as in `malloc`.
        let new = unsafe { malloc(size, caller) };
        if !new.is_null() {
            // SAFETY: the old block is the bootstrap's and has that size; the new one has `size`
            // bytes.
            unsafe {
                let kept = bootstrap::size(old.cast()).min(size);
                new.cast::<u8>().copy_from_nonoverlapping(old.cast(), kept);
            }
        }
        return new;
    }
    let Some(real) = real_if_ready() else {
        return bootstrap::alloc(size, 1).cast();
    };
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    let call = || unsafe { (real.realloc)(old, size) };
    match allocating_for(caller) {
        Some(a) => change(a, old, size, call),
        None => call(),
    }
}

pub(crate) unsafe extern "C-unwind" fn reallocarray(
    old: Ptr,
    count: usize,
    size: usize,
    caller: usize,
) -> Ptr {
    match count.checked_mul(size) {
        // This is what the C library's function does. Calling that one would record the change
        // twice. SAFETY: the caller's arguments are passed on, as in `malloc`.
        Some(bytes) => unsafe { realloc(old, bytes, caller) },
        // The C library's function fails and sets errno.
        // SAFETY: the caller's arguments are passed on, as in `malloc`.
        None => unsafe { (real().reallocarray)(old, count, size) },
    }
}

pub(crate) unsafe extern "C-unwind" fn free(block: Ptr, caller: usize) {
    if bootstrap::owns(block.cast()) {
        return;
    }
    let Some(real) = real_if_ready() else { return };
    // The event comes before the block is free, because afterwards another thread may have the
    // block.
    if !block.is_null()
        && let Some(a) = allocating_for(caller)
    {
        a.recorder.free(a.tls, block.addr());
    }
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    unsafe { (real.free)(block) };
}

pub(crate) unsafe extern "C-unwind" fn posix_memalign(
    block: *mut Ptr,
    align: usize,
    size: usize,
) -> c_int {
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    let result = unsafe { (real().posix_memalign)(block, align, size) };
    if result == 0 {
        // SAFETY: success stored the block there.
        record(allocating, AllocKind::Aligned, unsafe { block.read() }, size);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn aligned_alloc(align: usize, size: usize) -> Ptr {
    let Some(real) = real_if_ready() else {
        return bootstrap::alloc(size, align).cast();
    };
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    record(allocating, AllocKind::Aligned, unsafe { (real.aligned_alloc)(align, size) }, size)
}

pub(crate) unsafe extern "C-unwind" fn memalign(align: usize, size: usize) -> Ptr {
    let Some(real) = real_if_ready() else {
        return bootstrap::alloc(size, align).cast();
    };
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    record(allocating, AllocKind::Aligned, unsafe { (real.memalign)(align, size) }, size)
}

pub(crate) unsafe extern "C-unwind" fn valloc(size: usize) -> Ptr {
    // SAFETY: the caller's arguments are passed on, as in `malloc`.
    record(allocating, AllocKind::Aligned, unsafe { (real().valloc)(size) }, size)
}
