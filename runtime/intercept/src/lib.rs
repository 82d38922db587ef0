//! What the shared libraries that stand in front of a program's functions have in common: the stubs ([`exports`]), the
//! functions behind them ([`real_functions`]), the OpenMP tools interface, memory of their own, the functions of
//! threads, system calls, the signals that end a process.
#![allow(
    unsafe_code,
    reason = "symbols of other libraries, and what they promise about them"
)]

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the stubs are written for x86-64 Linux");

pub mod fatal;
pub mod heap;
pub mod lookup;
pub mod ompt;
mod stubs;
pub mod system_call;
pub mod threads;

/// A line on stderr in one system call: no lock and no state of the standard library's, which a signal handler that
/// leaves by a jump would leave taken.
pub use contech_runtime_core::notice::say;
