//! The shared library inside the traced process: the functions that instrumented code calls, and
//! the functions of the system that the program calls and this library stands in front of.
//!
//! Every exported symbol is in the lists of `functions` and `exports`; each leads to a few lines in
//! the module of its family, which pass the call on and tell the core what happened. Rules that
//! hold throughout:
//!
//! - the program sees what it would see without this library: results, errno, exit status, signal
//!   handlers;
//! - no function here owns anything with a destructor while it calls one that may be cancelled or
//!   left by `pthread_exit`, except where said;
//! - no allocation goes through the program's allocator (`heap` is the library's own).
#![allow(
    unsafe_code,
    reason = "every function here is called from C, with what C promises about its arguments"
)]

mod active;
mod again;
mod allocation;
mod atomic;
mod barrier;
mod bootstrap;
mod channel;
mod cilk;
mod condition;
mod contract;
mod current;
mod exports;
mod flush;
mod fork;
mod fortran;
mod functions;
mod futex;
mod heap;
mod jump;
mod library;
mod life;
mod loader;
mod mapping;
mod modules;
mod mpi;
mod objects;
mod ompt;
mod once;
mod operator_new;
mod owners;
mod real;
mod sandbox;
mod service;
mod start;
mod text;
mod threads;
mod tls;
