//! The paper's programs in the Cilk-style header: they compute the right result serially and on
//! OpenMP tasks, a recording of the serial form shows where the parallelism is, and the on-line
//! profile agrees with it.
#![allow(clippy::cast_precision_loss, reason = "ratios of counts")]

mod profile;
pub(crate) mod programs;
mod recurrences;

use anyhow::{Context as _, Result, ensure};
use contech_tests::outputs::workspace;
use contech_tests::process::run;
use contech_tests::recording::backend;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use profile::{number, numbers, site, sites};
use programs::{PROGRAMS, analyse, build, build_and_run, execute, from_graph, on_line, source};
use serde_json::Value;

#[test]
fn the_header_works_in_cxx_in_every_mode() -> Result<()> {
    for (mode, options) in [("full", &[][..]), ("workspan", &["--contech-mode=workspan"])] {
        let scratch = Scratch::new(&format!("cilk-cxx-{mode}"))?;
        build_and_run("syntax.cpp", scratch.dir(), options)?;
        scratch.done()?;
    }
    Ok(())
}

#[test]
fn every_program_is_right_on_openmp_tasks() -> Result<()> {
    // clang itself compiles the program, because the test is about the header.
    let include = format!("-I{}", workspace().join("instrument/cc/include").display());
    let llvm = ["-L/usr/lib/llvm-22/lib", "-Wl,-rpath,/usr/lib/llvm-22/lib"];
    let flags = ["-O2", "-Wall", "-Werror", "-fopenmp", &include, llvm[0], llvm[1]];
    let others = ["syntax.cpp", "range.c", "loop.cpp"].map(str::to_owned);
    for name in PROGRAMS.map(|name| format!("{name}.c")).into_iter().chain(others) {
        let scratch = Scratch::new(&format!("cilk-omp-{name}"))?;
        let to = scratch.join("program");
        let mut program = Toolchain::native().compile(&source(&name), &flags, &to)?;
        run(program.env("OMP_NUM_THREADS", "4"))?.ok().context(name)?;
    }
    Ok(())
}

#[test]
fn the_on_line_profile_in_operations_is_that_of_the_recording() -> Result<()> {
    for name in PROGRAMS {
        let (graph, line) = (from_graph(name)?, on_line(name, "ops")?);
        let (graph, line) = (sites(&graph, numbers), sites(&line, numbers));
        assert_eq!(graph.len(), line.len(), "{name}");
        for (place, expected) in &graph {
            assert_eq!(line.get(place), Some(expected), "{name}: {place:?}");
        }
        assert!(graph.keys().any(|key| key.3 == "spawn"), "{name} spawns");
    }
    Ok(())
}

#[test]
fn the_on_line_profile_in_time_counts_the_same_invocations() -> Result<()> {
    let count = |site: &Value| vec![site["count"].as_u64().unwrap_or(u64::MAX)];
    for name in PROGRAMS {
        let (graph, line) = (from_graph(name)?, on_line(name, "time")?);
        assert_eq!(line["metric"], "time");
        assert_eq!(sites(&graph, count), sites(&line, count), "{name}");
        // The call sites' own times are parts of the program's time, and none of it is counted
        // twice.
        let work = number(&line, "/work");
        let own = |site: &Value| vec![site["on_work"]["local"]["work"].as_u64().unwrap_or(0)];
        let local: u64 = sites(&line, own).values().flatten().sum();
        assert!(local as f64 <= work, "{name}: {local} of {work}");
    }
    Ok(())
}

#[test]
fn known_shares_of_the_time_are_those_of_the_on_line_profile() -> Result<()> {
    // The test compares shares of a tenth of a second of CPU time, which a busy machine does not
    // change. Their tolerance is far from what operations alone would give.
    const DEAR: f64 = 0.75;
    const TOLERANCE: f64 = 0.1;
    let share = |profile: &Value| {
        let own = |caller, callee, kind| {
            let site = site(profile, caller, callee, kind)?;
            Ok::<_, anyhow::Error>(number(site, "/on_work/local/work"))
        };
        let (dear, cheap) = (own("main", "dear", "spawn")?, own("main", "cheap", "call")?);
        Ok::<_, anyhow::Error>(dear / (dear + cheap))
    };
    let scratch = Scratch::new("cilk-planted")?;
    let program = build("planted.c", scratch.dir(), &[])?;
    execute(&program, scratch.dir(), &[], "time")?;
    let operations = share(&analyse(scratch.dir(), "ops")?)?;
    assert!(operations < DEAR - 3.0 * TOLERANCE, "{operations}");
    scratch.done()?;
    let line = share(&on_line("planted", "time")?)?;
    assert!((line - DEAR).abs() < TOLERANCE, "on-line {line}");
    Ok(())
}

#[test]
fn a_report_of_a_serial_run_says_what_its_spawns_allow() -> Result<()> {
    let scratch = Scratch::new("cilk-report")?;
    let dir = scratch.dir();
    build_and_run("cilksort.c", dir, &[])?;
    let parallelism = number(&analyse(dir, "time")?, "/parallelism");
    let page = dir.join("report.html");
    let to = page.display().to_string();
    backend(&["report", "-o", &to], &dir.join("graph.tg"))?.ok()?;
    let page = std::fs::read_to_string(page)?;
    let said = format!("what could run in parallel: {parallelism:.2} processors on average");
    ensure!(page.contains(&said), "the report does not say: {said}");
    scratch.done()
}
