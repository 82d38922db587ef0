//! The header on OpenMP tasks.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

use super::programs::{PROGRAMS, source};

#[test]
fn every_program_is_right_on_openmp_tasks() -> Result<()> {
    // clang itself compiles the program, because the test is about the header.
    let library = "/usr/lib/llvm-22/lib";
    if !Path::new(library).join("libomp.so").exists() {
        // Without libomp the header's OpenMP form still passes the syntax check below.
        return syntax_only();
    }
    for name in PROGRAMS.map(|name| format!("{name}.c")).iter().map(String::as_str).chain([
        "syntax.cpp",
        "range.c",
        "loop.cpp",
    ]) {
        let scratch = Scratch::new(&format!("cilk-omp-{name}"))?;
        let program = scratch.dir().join("program");
        let mut compile = clang(name);
        compile.args(["-L", library, "-Wl,-rpath", &format!("-Wl,{library}"), "-o"]).arg(&program);
        run(&mut compile)?.ok()?;
        run(Command::new(&program).env("OMP_NUM_THREADS", "4"))?.ok().context(name.to_owned())?;
    }
    Ok(())
}

fn clang(name: &str) -> Command {
    let clang = if name.ends_with(".cpp") { "clang++-22" } else { "clang-22" };
    let mut command = Command::new(clang);
    command.args(["-O2", "-Wall", "-Werror", "-fopenmp", "-I"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../instrument/cc/include"));
    command.arg(source(name));
    command
}

fn syntax_only() -> Result<()> {
    for name in PROGRAMS {
        let mut check = clang(&format!("{name}.c"));
        run(check.arg("-fsyntax-only"))?.ok()?;
    }
    Ok(())
}
