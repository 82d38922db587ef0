//! The on-line profiler (Schardl et al., "The Cilkprof Scalability Profiler", 2015): work and span by call site of a
//! fork-join program that runs serially, at a small multiple of its own speed.
//!
//! contech-cc --contech-mode=workspan makes the pass count operations and log an event at the entry and the exit of every
//! function that was not inlined (`workspan::abi`); now and then the log is read (`profile/read.rs`), and the cycle counter
//! with it. `contech/cilk.h` marks spawns and syncs. Of OpenMP programs that run with one thread,
//! tasks are known by their calls of libomp, and iterations of loops by hooks around them. What another thread does, or a
//! program that ends in the middle, leaves a profile that says so.

mod calibrate;
mod clock;
mod ends;
mod hooks;
mod loops;
mod openmp;
mod profile;
mod regions;
mod sites;
mod symbols;
mod taskloop;
mod worksharing;
mod write;
