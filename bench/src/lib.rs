//! What recording costs: CPU time of recorded runs against native ones, bytes, compile time, code
//! size.
//!
//! The programs are our own, of one behaviour each (`programs/`), and Debian's. Each is compiled
//! with clang-22 -O2, with contech-cc --contech-naive and with contech-cc. Runs take turns (native,
//! naive, fast, native, ...), so that a machine that gets slower or faster meanwhile treats all
//! forms alike. The bench reports the ratio of the smallest times, the median of the rounds'
//! ratios, and how far these lie apart. Outputs must be equal.

pub mod answer;
pub mod compare;
pub mod findings;
pub mod form;
pub mod gain;
pub mod generate;
pub mod goals;
pub mod measure;
pub mod programs;
pub mod real;
pub mod record;
pub mod spread;
pub mod subject;
