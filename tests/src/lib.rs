//! The test harness: it builds the project's outputs once, compiles tiny programs natively and with
//! `contech-cc`, runs both, and turns the traces into graphs. The tests themselves are in `tests/`,
//! the programs in `programs/`, the expected graphs in `graphs/`.
//!
//! **Invariant:** the harness knows the tools by their command lines only. Of the parts under test
//! it links only the library that reads graphs, so it builds on a machine without LLVM.

pub mod deb;
pub mod debian;
pub mod happens_before;
pub mod install;
pub mod log_order;
pub mod matrix;
pub mod mpi;
pub mod once;
pub mod outputs;
pub mod process;
pub mod program;
pub mod python;
pub mod random;
pub mod recording;
pub mod scratch;
pub mod tally;
pub mod toolchain;
pub mod verdict;
