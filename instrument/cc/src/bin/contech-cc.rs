//! `contech-cc`: clang for C that makes the program record itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    contech_cc::main(contech_cc::Language::C)
}
