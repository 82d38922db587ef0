//! Analyses of a task graph.

use std::process::ExitCode;

fn main() -> ExitCode {
    contech_backends::cli::main(std::env::args_os())
}
