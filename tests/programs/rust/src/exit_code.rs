//! The program ends with an exit code of its own.
// MODE: golden
// EXPECT: exit 42

use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    println!("ends");
    ExitCode::from(42)
}
