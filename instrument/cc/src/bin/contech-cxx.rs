//! `contech-c++`: clang for C++ that makes the program record itself (build.rs gives it that name).

use std::process::ExitCode;

fn main() -> ExitCode {
    contech_cc::main(contech_cc::Language::Cxx)
}
