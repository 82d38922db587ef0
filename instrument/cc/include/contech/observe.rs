//! `contech/observe.h` for Rust: put this file beside yours and say `mod observe;`. Nothing to
//! link; while no observer is there, a call costs a look at a variable.
#![allow(dead_code, reason = "a program uses what it needs")]

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn find(name: &CStr) -> Option<usize> {
    // SAFETY: a null handle is any library of the program; the name is a C string.
    let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!found.is_null()).then(|| found as usize)
}

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal;)*) => {$(
        $(#[$doc])*
        pub fn $name() {
            static FOUND: OnceLock<Option<usize>> = OnceLock::new();
            if let Some(found) = FOUND.get_or_init(|| find($symbol)) {
                // SAFETY: the observer's function of that name takes and returns nothing.
                unsafe { std::mem::transmute::<usize, extern "C" fn()>(*found)() };
            }
        }
    )*};
}

marks! {
    /// The thread waits for work.
    idle_begin = c"__contech_idle_begin";
    /// It has some.
    idle_end = c"__contech_idle_end";
    /// The scheduler works.
    scheduling_begin = c"__contech_scheduling_begin";
    /// The program does.
    scheduling_end = c"__contech_scheduling_end";
    /// The parallel phase ends.
    phase_end = c"__contech_phase_end";
    /// Only what follows is measured.
    region_begin = c"__contech_region_begin";
    /// Up to here.
    region_end = c"__contech_region_end";
}

/// A parallel phase begins.
pub fn phase_begin(name: &CStr) {
    static FOUND: OnceLock<Option<usize>> = OnceLock::new();
    if let Some(found) = FOUND.get_or_init(|| find(c"__contech_phase_begin")) {
        // SAFETY: the observer's function of that name takes a C string.
        unsafe { std::mem::transmute::<usize, extern "C" fn(*const c_char)>(*found)(name.as_ptr()) };
    }
}
