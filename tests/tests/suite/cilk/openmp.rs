//! The header on OpenMP tasks.

use std::path::Path;

use anyhow::{Context, Result};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

use super::programs::{PROGRAMS, source};

#[test]
fn every_program_is_right_on_openmp_tasks() -> Result<()> {
    // clang itself compiles the program, because the test is about the header.
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../instrument/cc/include");
    let include = format!("-I{}", headers.display());
    let flags = ["-O2", "-Wall", "-Werror", "-fopenmp", &include];
    let flags =
        [&flags[..], &["-L/usr/lib/llvm-22/lib", "-Wl,-rpath,/usr/lib/llvm-22/lib"]].concat();
    let others = ["syntax.cpp", "range.c", "loop.cpp"].map(str::to_owned);
    for name in PROGRAMS.map(|name| format!("{name}.c")).into_iter().chain(others) {
        let scratch = Scratch::new(&format!("cilk-omp-{name}"))?;
        let to = scratch.join("program");
        let mut program = Toolchain::native().compile(&source(&name), &flags, &to)?;
        run(program.env("OMP_NUM_THREADS", "4"))?.ok().context(name)?;
    }
    Ok(())
}
