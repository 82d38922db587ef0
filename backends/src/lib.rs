//! Analyses of task graphs: the framework ([`analysis`]), the analyses, how results are shown ([`view`]), the report
//! ([`report`]) and the commands `contech-backend` ([`cli`]) and `contech` ([`pipeline`]).
//!
//! Nothing here knows how a program was recorded: the task graph is all there is. What is not about a graph is the
//! measuring of unmodified programs: [`laboratory`] takes measurements, [`scaling`] analyses them.
#![forbid(unsafe_code)]
// Text leaves through contech_plain and output.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub use contech_laboratory::{self as laboratory, scaling};
pub use contech_show::{output, page, size, view};

use contech_show::duration;

pub mod account;
pub mod analysis;
pub mod blocks;
pub mod cache;
pub mod cli;
pub mod critpath;
pub mod diff;
pub mod dump;
pub mod export;
pub mod grouped;
pub mod heap;
pub mod memuse;
pub mod misses;
pub mod parallelism;
pub mod pipeline;
pub mod predict;
pub mod races;
pub mod recorded;
pub mod report;
pub mod sharing;
pub mod stats;
pub mod verify;
pub mod workspan;
