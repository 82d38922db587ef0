//! The header on OpenMP tasks.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use serde_json::Value;

use super::profile::number;
use super::programs::{PROGRAMS, build, on_line, source};

#[test]
fn every_program_is_right_on_openmp_tasks() -> Result<()> {
    // clang itself compiles the program, because the test is about the header.
    let library = "/usr/lib/llvm-22/lib";
    if !Path::new(library).join("libomp.so").exists() {
        // Without libomp the header's OpenMP form still passes the syntax check below.
        return syntax_only();
    }
    for name in PROGRAMS
        .map(|name| format!("{name}.c"))
        .iter()
        .map(String::as_str)
        .chain(["syntax.cpp", "range.c", "loop.cpp"])
    {
        let scratch = Scratch::new(&format!("cilk-omp-{name}"))?;
        let program = scratch.dir().join("program");
        let mut compile = clang(name);
        compile
            .args(["-L", library, "-Wl,-rpath", &format!("-Wl,{library}"), "-o"])
            .arg(&program);
        run(&mut compile)?.ok()?;
        run(Command::new(&program).env("OMP_NUM_THREADS", "4"))?
            .ok()
            .context(name.to_owned())?;
    }
    Ok(())
}

fn clang(name: &str) -> Command {
    let clang = if name.ends_with(".cpp") {
        "clang++-22"
    } else {
        "clang-22"
    };
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

#[test]
fn openmp_tasks_with_one_thread_are_profiled_like_the_serial_form() -> Result<()> {
    let library = "/usr/lib/llvm-22/lib";
    // Where the program spawns, and how often.
    let spawns = |profile: &Value| {
        let mut all = BTreeMap::<u64, u64>::new();
        for site in profile["sites"].as_array().into_iter().flatten() {
            if site["kind"] == "spawn" {
                *all.entry(site["line"].as_u64().unwrap_or(0)).or_default() +=
                    site["count"].as_u64().unwrap_or(u64::MAX);
            }
        }
        all
    };
    for name in PROGRAMS {
        let scratch = Scratch::new(&format!("cilk-omp-line-{name}"))?;
        let search = format!("-Wl,-rpath,{library}");
        let program = build(
            &format!("{name}.c"),
            scratch.dir(),
            &[
                "--contech-mode=workspan",
                "-fopenmp",
                "-L",
                library,
                &search,
            ],
        )?;
        let file = scratch.dir().join("online.json");
        let mut command = Command::new(&program);
        command
            .env("OMP_NUM_THREADS", "1")
            .env("CONTECH_METRIC", "ops")
            .env("CONTECH_PROFILE", &file);
        run(&mut command)?.ok()?;
        let tasks: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        scratch.done();
        let serial = on_line(name, "ops")?;
        assert_eq!(tasks["complete"], true, "{name}: {}", tasks["notes"]);
        assert_eq!(spawns(&tasks), spawns(&serial), "{name}");
        let parallelism = number(&tasks, "/parallelism") / number(&serial, "/parallelism");
        // In these programs, functions that sync are called while tasks of the caller run. A taskwait in such a function
        // waits for the caller's tasks as well, because they are children of the same task.
        let waits_for_more = ["fib", "cilksort", "fft"].contains(&name);
        // Otherwise, only the operations that make a task are different, and they are few beside those of the task.
        let least = if waits_for_more { 0.4 } else { 0.9 };
        assert!((least..1.1).contains(&parallelism), "{name}: {parallelism}");
        assert!(
            !waits_for_more || parallelism < 0.9,
            "{name}: {parallelism}"
        );
    }
    Ok(())
}
