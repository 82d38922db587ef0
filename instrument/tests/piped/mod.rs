//! Commands that are given their input.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Runs a command of LLVM on an input.
pub(crate) fn piped(command: &mut Command, input: &str) -> Output {
    let all = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = all.spawn().expect("LLVM 22 is installed (clang-22, llvm-22-dev)");
    let mut to = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Who needs no more of it may stop reading.
        scope.spawn(move || to.write_all(input.as_bytes()));
        child.wait_with_output().unwrap()
    })
}
