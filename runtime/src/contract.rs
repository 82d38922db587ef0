//! Exports the functions that instrumented code calls, as the contract says.

use contech_interpose::exports;
use contech_trace::abi::{Ptr, Word};
use contech_trace::for_each_runtime_fn;

use crate::atomic::{
    begin as atomic_begin, end as atomic_end, fence, loaded as atomic_loaded, turn,
};
use crate::flush::{check_flush, flush};
use crate::fortran::array;
use crate::modules::{register, unregister};
use crate::text::{alike, text};

macro_rules! define {
    ($($(#[$doc:meta])* $name:ident: $function:ident = $symbol:ident($($arg:ident),*) $(-> $ret:ident)?, $convention:ident;)*) => {
        $(define!(@ $convention $function $symbol ($($arg),*) ($($ret)?));)*
    };
    (@ Caller $function:ident $symbol:ident ($($arg:ident),*) $ret:tt) => {
        exports! { $symbol [after $($arg)*] = $function; }
        define!(# $function ($($arg,)* usize) $ret);
    };
    (@ $convention:ident $function:ident $symbol:ident ($($arg:ident),*) $ret:tt) => {
        exports! { $symbol = $function; }
        define!(# $function ($($arg),*) $ret);
    };
    (# $function:ident ($($arg:ty),*) ($($ret:ty)?)) => {
        const _: unsafe extern "C" fn($($arg),*) $(-> $ret)? = $function;
    };
}

for_each_runtime_fn!(define!);
