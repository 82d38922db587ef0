//! Everything that depends on the processor: the clock, the thread pointer, registers, the stack, system calls, and
//! the stubs that export functions. No other module of the runtime contains an instruction or a register.
//!
//! A port is a file beside `x86_64.rs` that defines the same functions and macros. The tests are the same for all.

#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_os = "linux"
)))]
compile_error!("no code for this processor and system: see `arch`");

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(test)]
mod tests;

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
