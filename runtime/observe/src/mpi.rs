//! MPI's blocking calls wait for messages. Both `MPI_X` and `PMPI_X` are intercepted (Open MPI's
//! Fortran calls the latter, MPICH's the former), and both call the library's `PMPI_X`. A call
//! within another call is a part of it.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::{exports, for_each_mpi_function, found};
use contech_observation::State;

use crate::tls;
use crate::waits;

/// An argument of any call, since all of them are machine words. No call has more than twelve. If a
/// call has fewer, the rest are words of the caller's stack, which the call ignores.
type Word = usize;

macro_rules! observe_mpi {
    ($($name:ident $profiled:ident $exported:ident: $recorded:tt $state:tt;)*) => {$(
        observe_mpi!(@ $name $profiled $state);
    )*};
    (@ $name:ident $profiled:ident []) => {};
    (@ $name:ident $profiled:ident [$state:ident]) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "the longest call")]
            unsafe extern "C-unwind" fn hook(
                a: Word, b: Word, c: Word, d: Word, e: Word, f: Word, g: Word, h: Word, i: Word, j: Word, k: Word, l: Word,
            ) -> c_int {
                // A C function whose arguments are words ignores additional words.
                found! {
                    static REAL = $profiled(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word) -> c_int;
                }
                let caller = tls::block().caller.load(Relaxed);
                // SAFETY: the caller's arguments are passed on.
                waits::wait(State::$state, caller, || unsafe { REAL.get()(a, b, c, d, e, f, g, h, i, j, k, l) })
            }
            exports! {
                $name [caller in __contech_observe_tls tls::CALLER] = hook;
                $profiled [caller in __contech_observe_tls tls::CALLER] = hook;
            }
        };
    };
}

for_each_mpi_function!(observe_mpi!);
