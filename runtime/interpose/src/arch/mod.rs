//! Everything that depends on the processor: the clock, the thread pointer, registers, the stack,
//! system calls, and the stubs that export functions. No other module of the runtime contains an
//! instruction or a register.
//!
//! A port would be a file beside `x86_64.rs` that defines the same functions and macros. The tests
//! are the same for all.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("no code for this processor and system: see `arch`");

mod x86_64;

#[cfg(test)]
mod tests;

pub use x86_64::*;
