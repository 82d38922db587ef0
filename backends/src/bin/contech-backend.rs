//! Analyses of a task graph.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    contech_log::begin();
    contech_backends::cli::main(std::env::args_os())
}
