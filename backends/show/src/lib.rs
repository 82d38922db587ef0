//! How results look, and where they go: an analysis describes its result as a [`view`], which is
//! text, CSV or a part of the [`page`], and [`output`] writes it. Sizes and durations are read here
//! as people type them.
//!
//! Nothing here knows an analysis.
#![forbid(unsafe_code)]
// Text leaves through contech_plain and output.
#![warn(clippy::print_stderr, clippy::print_stdout)]

pub use contech_plain::duration;
pub mod output;
pub mod page;
pub mod size;
pub mod view;
