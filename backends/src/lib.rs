//! The commands `contech-backend` ([`cli`]) and `contech` ([`pipeline`]), the report ([`report`]),
//! the exports, and, for tools of one's own, all below them: the framework of analyses
//! ([`analysis`]), the analyses, and how results are shown ([`view`]).
//!
//! Nothing here knows how a program was recorded: the task graph is all there is. What is not about
//! a graph is the measuring of unmodified programs: [`laboratory`] takes measurements, [`scaling`]
//! analyses them.
#![forbid(unsafe_code)]
// Text leaves through contech_plain and output.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub use contech_analyses::{
    account, analysis, blocks, cache, critpath, memuse, misses, parallelism, predict, races,
    recorded, sharing, stats, workspan,
};
pub use contech_laboratory::{self as laboratory, scaling};
pub use contech_show::{output, page, size, view};

use contech_show::duration;

pub mod cli;
pub mod diff;
mod dump;
mod export;
pub mod pipeline;
pub mod report;
pub mod tables;
mod verify;
