//! C++ operator new and delete. Each is recorded only as itself, not again as the malloc below it.
//! The C++ library may be absent, or come with a library that is loaded later, so each function is
//! looked up when it is first called.

use contech_interpose::{exports, found};
use contech_trace::event::AllocKind;

use crate::active::allocating;
use crate::real::{Ptr, real};

type New = unsafe extern "C-unwind" fn(usize, usize, usize) -> Ptr;
type Delete = unsafe extern "C-unwind" fn(Ptr, usize, usize, usize);

/// Calls a form of operator new (which takes the size and up to two more arguments) and records it.
/// `bad_alloc` passes through.
#[inline(always)]
unsafe fn new(function: Option<New>, size: usize, second: usize, third: usize) -> Ptr {
    let Some(function) = function else {
        // There is no C++ library. Its operator new would call malloc first.
        // SAFETY: the caller's size is passed on.
        return unsafe { (real().malloc)(size) };
    };
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
unsafe fn delete(function: Option<Delete>, block: Ptr, second: usize, third: usize) {
    let a = if block.is_null() { None } else { allocating() };
    let _once = a.map(|a| {
        a.recorder.free(a.tls, block.addr());
        a.tls.allocating()
    });
    match function {
        // SAFETY: the caller's arguments are passed on.
        Some(function) => unsafe { function(block, second, third, 0) },
        // SAFETY: without a C++ library the block came from malloc.
        None => unsafe { (real().free)(block) },
    }
}

/// Exports the forms of the operators. Those with fewer arguments ignore the rest.
macro_rules! operators {
    ($($kind:ident $($name:ident)*;)*) => {$($(operators!(@ $kind $name);)*)*};
    (@ new $name:ident) => {
        const _: () = {
            found! { static REAL = $name(usize, usize, usize) -> Ptr; }
            unsafe extern "C-unwind" fn hook(size: usize, second: usize, third: usize) -> Ptr {
                // SAFETY: the caller's arguments, passed on to the function of the same name.
                unsafe { new(REAL.known(), size, second, third) }
            }
            exports! { $name = hook; }
        };
    };
    (@ delete $name:ident) => {
        const _: () = {
            found! { static REAL = $name(Ptr, usize, usize, usize); }
            unsafe extern "C-unwind" fn hook(block: Ptr, second: usize, third: usize) {
                // SAFETY: the caller's arguments, passed on to the function of the same name.
                unsafe { delete(REAL.known(), block, second, third) }
            }
            exports! { $name = hook; }
        };
    };
}

operators! {
    new _Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_t
        _ZnamSt11align_val_t _ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t;
    delete _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t
        _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t
        _ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t;
}
