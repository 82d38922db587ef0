//! Programs with and without a planted race: each race is found where it is, and none is invented. The cases and
//! their names are in `tests/races`, in the style of the suites by which race detectors are compared.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::workspace;
use contech_tests::process::run;
use contech_tests::recording::{Recording, backend_json, files, middle};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// Names of the functions on both sides of each race.
fn races(program: &str, case: &str, form: &str, scratch: &Scratch) -> Result<Vec<[String; 2]>> {
    let mut command = Command::new(scratch.join(program));
    command.args([case, form]).env("OMP_NUM_THREADS", "2");
    command.env("OMP_CANCELLATION", "true");
    let recording = Recording::of(&mut command, &scratch.join(format!("{case}.{form}")))?;
    let graphs = recording.graphs(true)?;
    recording.run.ok()?;
    let found = backend_json(&["races"], &graphs[0])?;
    let races = found["races"].as_array().context("a list of races")?;
    let name = |side: &serde_json::Value| side["function"].as_str().unwrap_or("").to_owned();
    Ok(races
        .iter()
        .map(|race| [name(&race["a"]), name(&race["b"])])
        .collect())
}

/// Checks every case of a program; returns how many there were.
fn check(source: &str, flags: &[&str]) -> Result<usize> {
    let scratch = Scratch::new(&format!("races/{source}{}", flags[0]))?;
    let (program, language) = source.split_once('.').context("a source file")?;
    let source = workspace().join("tests/races").join(source);
    let mut compile = Command::new(Toolchain::contech().compiler_of(&source));
    compile.args(flags).arg("-g");
    if language != "f90" {
        compile.args(["-pthread", "-w"]);
    }
    run(compile.arg(&source).arg("-o").arg(scratch.join(program)))?.ok()?;
    let text = fs::read_to_string(&source)?;
    let case = |line: &str| {
        let rest = line.strip_prefix("  CASE(");
        let rest = rest.or_else(|| line.strip_prefix("  case ('"))?;
        Some(rest.split([',', ')', '\'']).next()?.to_owned())
    };
    let cases: Vec<String> = text.lines().filter_map(case).collect();
    for case in &cases {
        let racy = races(program, case, "racy", &scratch)?;
        assert!(!racy.is_empty(), "{case}: missed");
        for side in racy.iter().flatten().filter(|_| language != "cpp") {
            // The function that clang makes of a task has no name of the program's.
            let outlined = side.starts_with(".omp_task_entry");
            assert!(outlined || side.contains(case), "{case}: a race in {side}");
        }
        let fixed = races(program, case, "fixed", &scratch)?;
        assert!(fixed.is_empty(), "{case}: invented {fixed:?}");
    }
    scratch.done();
    Ok(cases.len())
}

#[test]
fn planted_races_of_threads_are_found_and_none_invented() -> Result<()> {
    assert!(check("threads.c", &["-O0"])? >= 20);
    assert!(check("atomics.cpp", &["-O1", "-std=c++20"])? >= 35);
    Ok(())
}

#[test]
fn planted_races_beside_order_of_the_system_are_found_and_none_invented() -> Result<()> {
    assert!(check("kernel.c", &["-O1"])? >= 35);
    Ok(())
}

#[test]
fn planted_races_of_openmp_are_found_and_none_invented() -> Result<()> {
    assert!(check("openmp.c", &["-O0", "-fopenmp"])? >= 10);
    assert!(check("worksharing.c", &["-O1", "-fopenmp"])? >= 35);
    Ok(())
}

#[test]
fn planted_races_of_openmp_tasks_are_found_and_none_invented() -> Result<()> {
    assert!(check("tasks.c", &["-O1", "-fopenmp"])? >= 25);
    Ok(())
}

#[test]
fn planted_races_of_fortran_are_found_and_none_invented() -> Result<()> {
    assert!(check("fortran.f90", &["-O1", "-fopenmp"])? >= 20);
    Ok(())
}

/// A reduction of which libomp can be told how it combines.
const REDUCTION: &str = r"
#include <stdio.h>
typedef struct { long a, b; } pair;
#pragma omp declare reduction(add: pair: omp_out.a += omp_in.a, omp_out.b += omp_in.b) initializer(omp_priv = (pair){0, 0})
int main(void) {
    pair p = {0, 0};
    long s = 0;
#pragma omp parallel for reduction(add: p) reduction(+: s)
    for (int i = 0; i < 1000; i++) p.a += i, p.b += 2, s += i;
#pragma omp parallel reduction(+: s)
    for (int i = 0; i < 3; i++) {
#pragma omp for reduction(add: p)
        for (int k = 0; k < 100; k++) p.a += k, s++;
    }
    return p.a + p.b + s == 0;
}
";

#[test]
fn reductions_have_no_races_however_they_combine_and_no_times_that_go_back() -> Result<()> {
    let scratch = Scratch::new("races/reductions")?;
    let source = scratch.write("reduction.c", REDUCTION)?;
    let mut compile = Command::new(Toolchain::contech().compiler(false));
    compile.args(["-O1", "-g", "-fopenmp"]).arg(&source);
    run(compile.arg("-o").arg(scratch.join("reduction")))?.ok()?;
    for (method, threads) in [
        ("critical", "2"),
        ("critical", "8"),
        ("atomic", "4"),
        ("tree", "8"),
    ] {
        let mut command = Command::new(scratch.join("reduction"));
        command.env("KMP_FORCE_REDUCTION", method);
        command.env("OMP_NUM_THREADS", threads);
        let dir = scratch.join(format!("{method}{threads}"));
        let recording = Recording::of(&mut command, &dir)?;
        let graphs = recording.graphs(true)?;
        recording.run.ok()?;
        let found = backend_json(&["races"], &graphs[0])?;
        let races = found["races"].as_array().context("a list of races")?;
        assert!(races.is_empty(), "{method}, {threads} threads: {races:?}");
        let said = middle(&files(&dir, "bin")?[0], &scratch.join("again.tg"))?;
        let text = said.out() + &said.err();
        assert!(!text.contains("backwards"), "{method}: {text}");
    }
    scratch.done();
    Ok(())
}

#[test]
fn programs_of_hundreds_of_openmp_tasks_that_share_nothing_have_no_races() -> Result<()> {
    let scratch = Scratch::new("races/tasks")?;
    for (program, argument) in [
        ("omp_fib", "12"),
        ("omp_nqueens", "6"),
        ("omp_sort", "2000"),
        ("omp_tree", "7"),
    ] {
        let source = workspace().join(format!("tests/programs/{program}.c"));
        let mut compile = Command::new(Toolchain::contech().compiler(false));
        compile.args(["-O1", "-g", "-fopenmp", "-w"]);
        run(compile.arg(&source).arg("-o").arg(scratch.join(program)))?.ok()?;
        let found = races(program, argument, argument, &scratch)?;
        assert!(found.is_empty(), "{program}: invented {found:?}");
    }
    scratch.done();
    Ok(())
}
