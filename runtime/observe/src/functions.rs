//! Hooks for the functions in [`contech_interpose::functions`].

use std::ffi::{c_int, c_uint};

use contech_interpose::functions::Family;
use contech_interpose::threads::Threads;
use contech_interpose::{exports, for_each_function};
use contech_observation::State;
use libc::timespec;

use crate::Observed;
use crate::locks::sampled;
use crate::real::{Ptr, Time, real};
use crate::waits::wait;

/// Exports each observed function as a hook that passes the call on and notes that the thread
/// waits.
macro_rules! observe {
    ($($name:ident $(@ $version:literal)? ($($arguments:tt)*) $(-> $ret:ty)?: $does:tt $state:tt;)*) => {$(
        observe!(@ $name ($($arguments)*) ($($ret)?) $does $state);
    )*};
    (@ $name:ident $arguments:tt $ret:tt $does:tt []) => {};
    (@ $name:ident ($($arg:ident: $ty:ty),*) $ret:tt $does:tt [own $module:ident]) => {
        exports! { $name [after $($arg)*] = crate::$module::$name; }
    };
    (@ $name:ident ($thread:ident: $thread_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt $does:tt [join]) => {
        observe!(# $name ($thread: $thread_ty $(, $arg: $ty)*) $ret caller call => Observed::join($thread, caller, call));
    };
    (@ $name:ident ($thread:ident: $thread_ty:ty) $ret:tt $does:tt [detach]) => {
        observe!(# $name ($thread: $thread_ty) $ret _caller call => Observed::detach($thread, call));
    };
    // The clock is not read for a lock or semaphore that is free.
    (@ $name:ident ($o:ident: $o_ty:ty $(, $arg:ident: $ty:ty)*) $ret:tt [acquire $family:ident $op:ident $try:ident] [$state:ident]) => {
        observe!(# $name ($o: $o_ty $(, $arg: $ty)*) $ret caller call => {
            // SAFETY: the caller's lock or semaphore.
            let attempt = || unsafe { (real().$try)($o) };
            let free = Family::$family.try_first(|| match State::$state {
                State::Condition => attempt(),
                _ => sampled(caller, true, attempt),
            });
            free.unwrap_or_else(|| wait(State::$state, caller, call))
        });
    };
    (@ $name:ident $arguments:tt $ret:tt $does:tt [$state:ident]) => {
        observe!(# $name $arguments $ret caller call => wait(State::$state, caller, call));
    };
    (# $name:ident ($($arg:ident: $ty:ty),*) ($ret:ty) $caller:ident $call:ident => $observed:expr) => {
        const _: () = {
            unsafe extern "C-unwind" fn hook($($arg: $ty,)* $caller: usize) -> $ret {
                // SAFETY: the caller's arguments, passed on.
                let $call = || unsafe { (real().$name)($($arg),*) };
                $observed
            }
            exports! { $name [after $($arg)*] = hook; }
        };
    };
}

for_each_function!(observe!);
