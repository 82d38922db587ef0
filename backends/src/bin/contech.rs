//! Records a program's run and reports on it.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    contech_log::begin();
    contech_backends::pipeline::main(std::env::args_os())
}
