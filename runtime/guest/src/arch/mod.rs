//! What depends on the processor, and nothing else: the clock, the thread pointer, registers, the stack, system calls, and
//! the stubs by which functions are exported. No other module of the runtime holds an instruction or a register.
//!
//! A port is a file beside `x86_64.rs` that defines the same functions and macros.

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("no code for this processor and system: see `arch`");

mod x86_64;

pub use x86_64::*;
