//! The names of MPI's functions, in a library of their own: a program without MPI must not find
//! them, or configure scripts would think that it needs no MPI library.
//!
//! `MPI_X` and `PMPI_X` are the same stub, which jumps to `__contech_MPI_X` in `libcontech_rt.so`
//! with all arguments as they were. The drivers put this library first where a program is linked
//! with an MPI.
#![allow(unsafe_code, reason = "the symbols are those of another library")]

macro_rules! stubs {
    ($($name:ident $profiled:ident $exported:ident: $recorded:tt $state:tt;)*) => {
        contech_interpose::exports! {$(
            $name [elsewhere] = $exported;
            $profiled [elsewhere] = $exported;
        )*}
    };
}

contech_interpose::for_each_mpi_function!(stubs!);
