//! What recording costs: CPU time of recorded runs against native ones, bytes, and how fast the middle is.
//!
//! Method: programs of our own, one behaviour each (`programs/`), compiled with clang-22 -O2 and with
//! contech-cc -O2. Runs alternate native, recorded, native, recorded ..., so that a machine that gets slower
//! or faster meanwhile treats both alike; the ratio of the two minima and the ratio of the two medians are
//! reported. Outputs must be equal.

pub mod measure;
pub mod middle;
pub mod pairs;
pub mod programs;
pub mod record;
pub mod spread;
