//! MPI's blocking calls: waiting for messages. `MPI_X` and `PMPI_X` are both taken (Open MPI's Fortran calls the latter, MPICH's
//! the former) and lead to the library's `PMPI_X`. A call within a call is part of it.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use contech_guest::{exports, lookup};
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

macro_rules! blocking {
    ($($name:ident $profiled:ident $inner:ident;)*) => {$(
        exports! {
            $name [caller in __contech_observe_tls tls::CALLER] = $inner;
            $profiled [caller in __contech_observe_tls tls::CALLER] = $inner;
        }

        #[allow(non_snake_case, clippy::too_many_arguments, reason = "the symbol's name; the longest call")]
        unsafe extern "C-unwind" fn $inner(
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
            waits::wait(State::Message, caller, || unsafe { real(a, b, c, d, e, f, g, h, i, j, k, l) })
        }
    )*};
}

blocking! {
    MPI_Recv PMPI_Recv recv;
    MPI_Send PMPI_Send send;
    MPI_Ssend PMPI_Ssend ssend;
    MPI_Rsend PMPI_Rsend rsend;
    MPI_Bsend PMPI_Bsend bsend;
    MPI_Wait PMPI_Wait wait;
    MPI_Waitall PMPI_Waitall waitall;
    MPI_Waitany PMPI_Waitany waitany;
    MPI_Waitsome PMPI_Waitsome waitsome;
    MPI_Probe PMPI_Probe probe;
    MPI_Mprobe PMPI_Mprobe mprobe;
    MPI_Mrecv PMPI_Mrecv mrecv;
    MPI_Barrier PMPI_Barrier barrier;
    MPI_Bcast PMPI_Bcast bcast;
    MPI_Reduce PMPI_Reduce reduce;
    MPI_Allreduce PMPI_Allreduce allreduce;
    MPI_Reduce_scatter PMPI_Reduce_scatter reduce_scatter;
    MPI_Reduce_scatter_block PMPI_Reduce_scatter_block reduce_scatter_block;
    MPI_Gather PMPI_Gather gather;
    MPI_Gatherv PMPI_Gatherv gatherv;
    MPI_Scatter PMPI_Scatter scatter;
    MPI_Scatterv PMPI_Scatterv scatterv;
    MPI_Allgather PMPI_Allgather allgather;
    MPI_Allgatherv PMPI_Allgatherv allgatherv;
    MPI_Alltoall PMPI_Alltoall alltoall;
    MPI_Alltoallv PMPI_Alltoallv alltoallv;
    MPI_Alltoallw PMPI_Alltoallw alltoallw;
    MPI_Scan PMPI_Scan scan;
    MPI_Exscan PMPI_Exscan exscan;
    MPI_Sendrecv PMPI_Sendrecv sendrecv;
    MPI_Sendrecv_replace PMPI_Sendrecv_replace sendrecv_replace;
    MPI_Win_fence PMPI_Win_fence win_fence;
}
