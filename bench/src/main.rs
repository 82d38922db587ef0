//! What Contech costs and finds: `cargo bench-record`, `bench-answer` and `bench-findings`.
//!
//! CPU time of recorded runs against native ones, bytes, compile time, code size. The programs are
//! our own, of one behaviour each (`programs/`), and Debian's. Each is compiled with clang-22 -O2,
//! with contech-cc --contech-naive and with contech-cc. Runs take turns (native, naive, fast,
//! native, ...), so that a machine that gets slower or faster meanwhile treats all forms alike. The
//! bench reports the ratio of the smallest times, the median of the rounds' ratios, and how far
//! these lie apart. Outputs must be equal.

mod answer;
mod compare;
mod costs;
mod findings;
mod form;
mod gain;
mod generate;
mod goals;
mod measure;
mod planted;
mod programs;
mod real;
mod record;
mod spread;
mod subject;

use std::process::ExitCode;

use clap::Parser;

/// Measures the tools of this checkout
#[derive(Debug, Parser)]
enum Command {
    Record(costs::Arguments),
    Answer(answer::Arguments),
    Findings(findings::Arguments),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Record(arguments) => costs::run(&arguments),
        Command::Answer(arguments) => answer::run(&arguments),
        Command::Findings(arguments) => findings::run(&arguments),
    };
    contech_tests::process::exit(done.map(|()| true))
}
