//! What Contech costs and finds: `cargo bench-record`, `bench-answer` and `bench-findings`.
//!
//! CPU time of recorded runs against native ones, bytes, compile time, code size. The programs are
//! our own, of one behaviour each (`programs/`), and Debian's. Each is compiled with clang-22 -O2,
//! with contech-cc --contech-naive and with contech-cc. Runs take turns (native, naive, fast,
//! native, ...), so that a machine that gets slower or faster meanwhile treats all forms alike. The
//! bench reports the ratio of the smallest times, the median of the rounds' ratios, and how far
//! these lie apart. Outputs must be equal.

mod answer;
mod commands;
mod compare;
mod findings;
mod form;
mod gain;
mod generate;
mod goals;
mod measure;
mod programs;
mod real;
mod record;
mod spread;
mod subject;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    contech_tests::process::exit(commands::Command::parse().run().map(|()| true))
}
