//! C++ operator new and delete. Each is recorded only as itself, not again as the malloc below it.
//! The C++ library may be absent, or come with a library that is loaded later, so each function is
//! looked up when it is first called.

use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use contech_interpose::lookup;
use contech_trace::event::AllocKind;

use crate::active::allocating;
use crate::real::{Ptr, real};

type New = unsafe extern "C-unwind" fn(usize, usize, usize) -> Ptr;
type Delete = unsafe extern "C-unwind" fn(Ptr, usize, usize, usize);

/// C++ runtime libraries, to search if their functions are not globally visible.
const LIBRARIES: [&CStr; 3] = [c"libstdc++.so.6", c"libc++abi.so.1", c"libc++.so.1"];

#[cold]
fn look_up(symbol: &CStr, cache: &AtomicPtr<std::ffi::c_void>) -> Ptr {
    let mut found = lookup::next(symbol);
    for library in LIBRARIES {
        if !found.is_null() {
            break;
        }
        // SAFETY: the names are C strings; nothing is loaded that is not there already.
        unsafe {
            let handle = libc::dlopen(library.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if !handle.is_null() {
                found = libc::dlsym(handle, symbol.as_ptr());
            }
        }
    }
    cache.store(found, Relaxed);
    found
}

#[inline(always)]
fn find(symbol: &CStr, cache: &AtomicPtr<std::ffi::c_void>) -> Ptr {
    let found = cache.load(Relaxed);
    if found.is_null() { look_up(symbol, cache) } else { found }
}

/// Calls a form of operator new (which takes the size and up to two more arguments) and records it.
/// `bad_alloc` passes through.
#[inline(always)]
unsafe fn new(found: Ptr, size: usize, second: usize, third: usize) -> Ptr {
    if found.is_null() {
        // There is no C++ library. Its operator new would call malloc first.
        // SAFETY: the caller's size is passed on.
        return unsafe { (real().malloc)(size) };
    }
    // SAFETY: the symbol is an operator new; the forms with fewer arguments ignore the rest.
    let function = unsafe { std::mem::transmute::<Ptr, New>(found) };
    let Some(a) = allocating() else {
        // SAFETY: the caller's arguments, passed on.
        return unsafe { function(size, second, third) };
    };
    let block = {
        // An exception drops the guard on its way, and a new-handler does not end threads.
        let _once = a.tls.allocating();
        // SAFETY: the caller's arguments are passed on.
        unsafe { function(size, second, third) }
    };
    if !block.is_null() {
        a.recorder.alloc(a.tls, AllocKind::New, block.addr(), size);
    }
    block
}

/// Calls a form of operator delete and records it.
#[inline(always)]
unsafe fn delete(found: Ptr, block: Ptr, second: usize, third: usize) {
    let a = if block.is_null() { None } else { allocating() };
    let _once = a.map(|a| {
        a.recorder.free(a.tls, block.addr());
        a.tls.allocating()
    });
    if found.is_null() {
        // SAFETY: without a C++ library the block came from malloc.
        unsafe { (real().free)(block) };
    } else {
        // SAFETY: the symbol is an operator delete; the forms with fewer arguments ignore the rest.
        unsafe { std::mem::transmute::<Ptr, Delete>(found)(block, second, third, 0) };
    }
}

macro_rules! operators {
    ($($kind:ident $name:ident = $symbol:literal;)*) => {$(
        operators!(@ $kind $name $symbol);
    )*};
    (@ new $name:ident $symbol:literal) => {
        pub(crate) unsafe extern "C-unwind" fn $name(size: usize, second: usize, third: usize) -> Ptr {
            static FOUND: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());
            // SAFETY: the caller's arguments, passed on to the function of the same name.
            unsafe { new(find($symbol, &FOUND), size, second, third) }
        }
    };
    (@ delete $name:ident $symbol:literal) => {
        pub(crate) unsafe extern "C-unwind" fn $name(block: Ptr, second: usize, third: usize) {
            static FOUND: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(std::ptr::null_mut());
            // SAFETY: the caller's arguments, passed on to the function of the same name.
            unsafe { delete(find($symbol, &FOUND), block, second, third) }
        }
    };
}

operators! {
    new one = c"_Znwm";
    new many = c"_Znam";
    new one_nothrow = c"_ZnwmRKSt9nothrow_t";
    new many_nothrow = c"_ZnamRKSt9nothrow_t";
    new one_aligned = c"_ZnwmSt11align_val_t";
    new many_aligned = c"_ZnamSt11align_val_t";
    new one_aligned_nothrow = c"_ZnwmSt11align_val_tRKSt9nothrow_t";
    new many_aligned_nothrow = c"_ZnamSt11align_val_tRKSt9nothrow_t";
    delete drop_one = c"_ZdlPv";
    delete drop_many = c"_ZdaPv";
    delete drop_one_sized = c"_ZdlPvm";
    delete drop_many_sized = c"_ZdaPvm";
    delete drop_one_aligned = c"_ZdlPvSt11align_val_t";
    delete drop_many_aligned = c"_ZdaPvSt11align_val_t";
    delete drop_one_sized_aligned = c"_ZdlPvmSt11align_val_t";
    delete drop_many_sized_aligned = c"_ZdaPvmSt11align_val_t";
    delete drop_one_nothrow = c"_ZdlPvRKSt9nothrow_t";
    delete drop_many_nothrow = c"_ZdaPvRKSt9nothrow_t";
    delete drop_one_aligned_nothrow = c"_ZdlPvSt11align_val_tRKSt9nothrow_t";
    delete drop_many_aligned_nothrow = c"_ZdaPvSt11align_val_tRKSt9nothrow_t";
}
