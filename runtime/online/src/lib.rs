//! The on-line profiler (Schardl et al., "The Cilkprof Scalability Profiler", 2015): it finds work
//! and span by call site of a fork-join program that runs serially, at a small multiple of the
//! program's own speed.
//!
//! contech-cc --contech-mode=workspan makes the pass count operations and log an event at the entry
//! and the exit of every function that was not inlined (`workspan::abi`). From time to time the log
//! is read (`profile/read.rs`), and the cycle counter with it. `contech/cilk.h` marks spawns and
//! syncs. If another thread runs instrumented code, or the program ends in the middle, the profile
//! says so. OpenMP programs are recorded instead.

mod calibrate;
mod clock;
mod hooks;
mod log;
mod profile;
mod sites;
mod symbols;
mod write;
