//! `contech-fc`: flang for Fortran that makes the program record itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    contech_cc::main(contech_cc::Language::Fortran)
}
