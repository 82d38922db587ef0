//! `cargo contech`: builds and runs Rust programs so that they record themselves.

use std::process::ExitCode;

fn main() -> ExitCode {
    contech_cc::cargo()
}
