//! The tools together, in one executable, so that it is linked once and the tests share two
//! processors.

mod atomics;
mod builds;
mod cargo_contech;
mod cilk;
mod cilk_bad_input;
mod drivers;
mod export;
mod first_answer;
mod gate;
mod guests;
mod heap;
mod kill;
mod lagging;
mod libraries;
mod lines;
mod mpi;
mod observe;
mod openmp_runtimes;
mod package;
mod python;
mod races;
mod sanitizers;
mod scale;
mod spans;
