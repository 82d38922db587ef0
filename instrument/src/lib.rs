//! LLVM pass plugin that makes a program record its basic blocks and memory accesses.
//!
//! `clang-22 -fpass-plugin=libcontech_instrument.so` (what `contech-cc` does) loads it; the pass
//! runs last in the optimiser, at every optimisation level. The form of a record is declared in
//! `contech-trace` (`abi`, `op`, `table`). In the *naive* form, every block and every address as
//! such, the code inserted for one looks like this (x86-64, one load in a loop):
//!
//! ```text
//! movq  %addr, (%cursor)            address of the load: 8-byte store, 6 count
//! leaq  ids+3(%rip), %tmp           the block's id: an address of the module's own array
//! movl  %tmp, 6(%cursor)
//! addq  $10, %cursor                the cursor lives in a register within the function
//! cmpq  %fs:8(%tls), %cursor        on back-edges, after calls and at entry
//! jae   flush                       cold, preserves all registers
//! ```
//!
//! Module map: [`plugin`] is the edge to the host compiler; `module` drives one translation unit;
//! `plan` cuts each function into what it records; `fast` decides about the form and inserts the
//! code, which `emit` writes; `carry` hands the cursor through calls; `online` inserts the hooks of
//! the on-line profiler; `memop`, `callee`, `known`, `x86`, `clib` say what instructions do;
//! `atomics` puts atomic operations in order; `source` finds lines; `graphs` orders blocks; `ir`
//! wraps LLVM.

mod atomics;
mod callee;
mod carry;
mod clib;
mod descriptor;
mod emit;
mod fast;
mod graphs;
mod ir;
mod known;
mod memop;
mod module;
mod online;
mod options;
mod plan;
pub mod plugin;
mod select;
mod source;
mod x86;
