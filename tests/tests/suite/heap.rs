//! A recorded program's allocations lie as they do natively: two counters in one cache line, or in
//! two, decide how it scales. And they are told by the program's own lines.

use std::fs;

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::{output, workspace};
use contech_tests::process::run;
use contech_tests::recording::{Recording, backend_json};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

#[test]
fn allocations_are_where_they_are_natively() -> Result<()> {
    let scratch = Scratch::new("heap")?;
    let source = workspace().join("tests/programs/heap_places.cpp");
    let build = |tools: &Toolchain, mode: &[&str], to: &str| {
        let flags = [mode, &["-O2", "-pthread"]].concat();
        tools.compile(&source, &flags, &scratch.join(to))
    };
    let native = |to| build(&Toolchain::native(), &[], to);
    let expected = run(&mut native("native")?)?.ok()?.out();

    let observer = output("libcontech_observe.so");
    let mut observed = native("observed")?;
    observed.env("LD_PRELOAD", &observer).env("CONTECH_OBSERVE", scratch.join("run.obs"));
    let found = run(&mut observed)?.ok()?.out();
    ensure!(found == expected, "observed:\n{found}natively:\n{expected}");

    for mode in ["full", "sync"] {
        let option = format!("--contech-mode={mode}");
        let mut recorded = build(&Toolchain::contech(), &[&option], mode)?;
        recorded.env("CONTECH_TRACE", scratch.join("trace.bin"));
        let found = run(&mut recorded)?.ok()?.out();
        ensure!(found == expected, "{mode}:\n{found}natively:\n{expected}");
    }
    scratch.done()
}

/// What the program allocates, derived by hand: the place, the calls above it, and how often. A
/// vector doubles from 1 element on.
const PLACES: [(&str, &[&str], u64); 5] = [
    ("fill", &["one"], 11),
    ("fill", &["two"], 8),
    ("nodes", &[], 50),
    ("take", &["first"], 1),
    ("take", &["second"], 1),
];

#[test]
fn what_the_library_allocates_has_the_programs_lines() -> Result<()> {
    let source = workspace().join("tests/programs/heap_lines.cpp");
    let text = fs::read_to_string(&source)?;
    let line = |mark: &str| {
        let at = text.lines().position(|line| line.ends_with(&format!("// {mark}")));
        at.map(|at| at as u64 + 1).context("a mark")
    };
    for level in ["-O0", "-O2"] {
        let scratch = Scratch::new(&format!("heap-lines{level}"))?;
        let program = scratch.join("prog");
        let mut command = Toolchain::contech().compile(&source, &["-g", level], &program)?;
        let (_, graph) = Recording::whole(&mut command, scratch.dir())?;
        let found = backend_json(&["memuse"], &graph)?;
        let sites = found["sites"].as_array().context("sites")?;
        for (place, callers, times) in PLACES {
            let place = line(place)?;
            let callers = callers.iter().map(|mark| line(mark)).collect::<Result<Vec<_>>>()?;
            let is_there = |site: &&serde_json::Value| {
                let above = site["callers"].as_array().map_or(&[][..], Vec::as_slice);
                let above = above.iter().filter_map(|caller| caller["line"].as_u64());
                site["line"] == place && above.eq(callers.iter().copied())
            };
            let all = sites.iter().filter(is_there);
            let all = all.filter_map(|site| site["allocations"].as_u64()).sum::<u64>();
            ensure!(
                all == times,
                "{level}: {place} below {callers:?}: {all}, not {times}: {found}"
            );
        }
        let files = sites.iter().filter_map(|site| site["file"].as_str());
        let others: Vec<&str> = files.filter(|file| !file.ends_with("heap_lines.cpp")).collect();
        ensure!(others.is_empty(), "{level}: {others:?}");
        scratch.done()?;
    }
    Ok(())
}
