//! Analyses of task graphs: the framework ([`analysis`]), and one module for each analysis.
//!
//! Nothing here knows how a program was recorded: the task graph is all there is. An analysis never
//! prints.
#![forbid(unsafe_code)]
// Text leaves through contech_plain and contech_show.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub mod account;
pub mod analysis;
pub mod blocks;
pub mod cache;
pub mod critpath;
mod grouped;
mod heap;
pub mod memuse;
pub mod misses;
pub mod parallelism;
pub mod predict;
pub mod races;
pub mod recorded;
pub mod sharing;
pub mod stats;
mod summed;
pub mod workspan;

use contech_laboratory::scaling;
use contech_show::{output, page, size, view};
