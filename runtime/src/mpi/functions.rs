//! Records the functions in [`contech_interpose::mpi`].

use std::ffi::c_int;

use contech_interpose::{exports, for_each_mpi_function};
use contech_trace::event::SyncOp;

use super::collective::{begins, closes, fences, marks, meets, opens};
use super::communicator::{divides, forgets, makes, makes_later};
use super::entry::pmpi;
use super::message::{
    exchanges, looks, matches, posts, posts_matched, receives, receives_matched, sends,
};
use super::request::{cancels, frees, prepares, starts};
use super::setup::{aborts, finalises, initialises};
use super::wait;

/// Exports each function: one of this recorder's gets what it needs of the arguments, and the call.
macro_rules! record {
    ($($name:ident $real:ident $exported:ident: [$($does:tt)*] $state:tt;)*) => {$(
        record!(@ $real $exported $($does)*);
    )*};
    (@ $real:ident $exported:ident own $function:ident) => {
        exports! { $exported = wait::$function; }
    };
    (@ $real:ident $exported:ident ($($argument:ident)*) status $does:ident $($given:tt)*) => {
        record!(# $exported ($($argument)* status) {
            $does($($given,)* status, |status| pmpi!($real($($argument,)* status)))
        });
    };
    (@ $real:ident $exported:ident ($($argument:ident)*) $does:ident as $op:ident $($given:tt)*) => {
        record!(# $exported ($($argument)*) {
            $does(SyncOp::$op, $($given,)* || pmpi!($real($($argument),*)))
        });
    };
    (@ $real:ident $exported:ident ($($argument:ident)*) $does:ident $($given:tt)*) => {
        record!(# $exported ($($argument)*) {
            $does($($given,)* || pmpi!($real($($argument),*)))
        });
    };
    (# $exported:ident ($($argument:ident)*) $recorded:block) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "as MPI has it")]
            extern "C-unwind" fn hook($($argument: usize),*) -> c_int $recorded
            exports! { $exported = hook; }
        };
    };
}

for_each_mpi_function!(record!);
