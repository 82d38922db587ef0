//! MPI's blocking calls: waiting for messages. `MPI_X` and `PMPI_X` are both taken (Open MPI's Fortran calls the latter, MPICH's
//! the former) and lead to the library's `PMPI_X`. A call within a call is part of it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use contech_guest::{exports, for_each_mpi_function, lookup};
use contech_observation::State;

use crate::tls;
use crate::waits;

/// Any argument: all of them are words.
type Word = usize;
/// No call has more arguments; what is passed on beyond those of a call is the caller's stack, which nobody looks at.
type Call = unsafe extern "C-unwind" fn(
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
    Word,
) -> c_int;

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
                static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
                let caller = tls::block().caller.load(Relaxed);
                let mut real = REAL.load(Relaxed);
                if real.is_null() {
                    real = lookup::find(concat!(stringify!($profiled), "\0"), None);
                    REAL.store(real, Relaxed);
                }
                // SAFETY: a function of C takes words; more than it looks at do no harm.
                let real = unsafe { std::mem::transmute::<*mut c_void, Call>(real) };
                // SAFETY: the caller's arguments, passed on.
                waits::wait(State::$state, caller, || unsafe { real(a, b, c, d, e, f, g, h, i, j, k, l) })
            }
            exports! {
                $name [caller in __contech_observe_tls tls::CALLER] = hook;
                $profiled [caller in __contech_observe_tls tls::CALLER] = hook;
            }
        };
    };
}

for_each_mpi_function!(observe_mpi!);
