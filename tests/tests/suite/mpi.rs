//! MPI programs with both libraries: their output is that of the native run, the graph has the
//! order of messages and collective operations, ranks share no memory, and traces that are missing
//! or do not belong together are named.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use contech_tests::log_order::{self, Log};
use contech_tests::matrix::ways;
use contech_tests::mpi::Mpi;
use contech_tests::outputs::tool;
use contech_tests::process::{self, Finished};
use contech_tests::recording::{backend, merge, races, verify};
use contech_tests::scratch::{Scratch, files};
use contech_tests::toolchain::Toolchain;

/// The lines in sorted order, because ranks print in any order.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The log of all ranks, of which each prints where it is in its memory: rank, address, entries,
/// bytes of an entry.
fn log(said: &str) -> Option<Log> {
    let mut log = Log { tickets: false, bases: Vec::new(), count: 0, size: 0 };
    for line in said.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["log", rank, base, count, size] = words[..] {
            let base = u64::from_str_radix(base.strip_prefix("0x")?, 16).ok()?;
            log.bases.push(rank.parse::<u64>().ok()? << 48 | base);
            (log.count, log.size) = (count.parse().ok()?, size.parse().ok()?);
        }
    }
    (!log.bases.is_empty()).then_some(log)
}

/// Checks a program's output against the native run's, and the logged order against the graph, with
/// 1, 2 and 4 ranks.
fn order(mpi: Mpi, program: &str) -> Result<()> {
    let scratch = Scratch::new(&format!("mpi/{program}_{}", mpi.name()))?;
    let [native, traced] = &["native", "prog"].map(|name| scratch.join(name));
    mpi.build(program, &Toolchain::native(), &["-O1"], native)?;
    let flags = ["-O1", "--contech-check"];
    let said = mpi.build(program, &Toolchain::contech(), &flags, traced)?;
    assert!(said.err().is_empty() || !program.ends_with(".f90"), "{said}");
    for ranks in [1, 2, 4] {
        let dir = scratch.subdir(format!("np{ranks}"))?;
        let plain = mpi.run(ranks, native, &[], &dir)?.ok()?;
        let run = mpi.run(ranks, traced, &[], &dir)?.ok()?;
        assert_eq!(sorted(&plain.out()), sorted(&run.out()), "{run}");
        let traces = files(&dir, "bin")?;
        assert_eq!(traces.len(), ranks);
        let graph = dir.join("graph.tg");
        let merged = merge(&traces, &graph)?.ok()?;
        let summary = merged.json()?;
        assert_eq!(summary["check"]["mismatches"], 0, "{merged}");
        assert_eq!(summary["notes"].to_string().matches("MPI").count(), 0, "{merged}");
        verify(&graph)?;
        let log = log(&run.err()).context("no rank printed its log")?;
        log_order::check(&[log], &taskgraph::map(&graph)?)
            .with_context(|| format!("{} with {ranks} ranks: {run}", mpi.name()))?;
    }
    scratch.done()
}

/// A commit takes one of the libraries for each language.
#[test]
fn the_graph_has_the_order_that_ranks_logged() -> Result<()> {
    for mpi in ways("ranks", &Mpi::ALL) {
        order(mpi, "order.c")?;
    }
    for mpi in ways("ranks in Fortran", &Mpi::ALL) {
        order(mpi, "order_fortran.f90")?;
    }
    Ok(())
}

/// The edges of `ping.c` with two ranks, derived by hand: contexts 1 and 2 are ranks 0 and 1.
const PING: [&str; 8] = [
    "0:1 1:0", // the ranks are created
    "0:1 2:0",
    "1:3 2:3", // the message, and the answer
    "2:5 1:5",
    "2:6 1:7", // MPI_Barrier: one task, in the first of the contexts
    "1:7 2:7",
    "2:8 1:9",   // MPI_Reduce to rank 0
    "1:11 2:10", // MPI_Bcast from rank 0
];

/// Runs a program with two ranks; what it said, and what the middle layer says of its graph.
fn merged(
    mpi: Mpi,
    program: &str,
    flags: &[&str],
    scratch: &Scratch,
    graph: &Path,
) -> Result<[Finished; 2]> {
    let to = scratch.join("prog");
    mpi.build(program, &Toolchain::contech(), flags, &to)?;
    let run = mpi.run(2, &to, &[], scratch.dir())?.ok()?;
    let merged = merge(&files(scratch.dir(), "bin")?, graph)?.ok()?;
    verify(graph)?;
    Ok([run, merged])
}

/// The edges between tasks, without those of program order.
fn edges(graph: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for task in taskgraph::map(graph)?.tasks() {
        let task = task?;
        let to = task.id();
        found.extend(task.dependencies()?.iter().map(|from| format!("{from} {to}")));
    }
    found.sort();
    Ok(found)
}

#[test]
fn two_ranks_have_the_edges_of_their_messages_and_no_others() -> Result<()> {
    for mpi in Mpi::ALL {
        let scratch = Scratch::new(&format!("mpi/ping_{}", mpi.name()))?;
        let graph = scratch.join("graph.tg");
        merged(mpi, "ping.c", &["-O1"], &scratch, &graph)?;
        let results = scratch.join("results");
        let mut contech = tool("contech");
        contech.args(["run", "--keep-trace", "-o"]).arg(&results).arg("--");
        let launcher = mpi.launcher(2);
        contech.arg(launcher.get_program()).args(launcher.get_args());
        let said = process::run(contech.arg(scratch.join("prog")))?.ok()?.err();
        assert_eq!(said.matches("contech: trace ").count(), 2, "{said}");
        let mut expected = PING.to_vec();
        expected.sort_unstable();
        for graph in [&graph, &results.join("graph.tg")] {
            assert_eq!(edges(graph)?, expected, "{}", graph.display());
        }
        let causes = backend(&["parallelism"], &graph)?.ok()?.out();
        assert!(causes.contains("message"), "{causes}");
        let folder = scratch.subdir("exports")?;
        let archive = folder.join("archive").display().to_string();
        backend(&["export", "--otf2", &archive], &graph)?.ok()?;
        let archive = &crate::export::seen(&folder)?["archive"];
        let expected = serde_json::json!({"rank 0": ["rank 0"], "rank 1": ["rank 1"]});
        assert_eq!(archive["groups"], expected, "{archive}");
        assert!(!archive["inside"]["waits: message"].is_null(), "{archive}");
        let expected = serde_json::json!([["rank 0", "rank 1"], ["rank 1", "rank 0"]]);
        assert_eq!(archive["messages"], expected, "{archive}");
        scratch.done()?;
    }
    Ok(())
}

#[test]
fn one_address_in_two_ranks_is_not_one_memory() -> Result<()> {
    let scratch = Scratch::new("mpi/apart")?;
    let graph = scratch.join("graph.tg");
    let flags = ["-O0", "-no-pie", "-fno-pie"];
    let [run, _] = merged(Mpi::Mpich, "apart.c", &flags, &scratch, &graph)?;
    let said = run.out();
    let places: Vec<_> = said.lines().filter_map(|l| l.split(" at ").nth(1)).collect();
    assert_eq!(places.len(), 2, "{run}");
    assert_eq!(places[0], places[1], "{run}");
    let races = races(&graph)?;
    assert!(races.is_empty(), "{races:?}");
    for analysis in ["cache", "sharing", "misses", "memuse", "critpath"] {
        backend(&[analysis], &graph)?.ok()?;
    }
    scratch.done()
}

#[test]
fn openmp_in_ranks_is_recorded_in_each() -> Result<()> {
    let (scratch, flags) = (Scratch::new("mpi/hybrid")?, ["-O1", "-fopenmp"]);
    let graph = scratch.join("graph.tg");
    let [_, merged] = merged(Mpi::Open, "hybrid.c", &flags, &scratch, &graph)?;
    // The root context, and for each rank a main thread and two implicit tasks.
    assert_eq!(merged.json()?["contexts"], 7, "{merged}");
    scratch.done()
}

/// Checks for one line of standard error with all of these words, and exit code 1.
#[track_caller]
fn refused(merged: &Finished, words: &[&str]) {
    let said = merged.err();
    assert_eq!(merged.outcome(), "exit 1", "{merged}");
    assert_eq!(said.lines().count(), 1, "{merged}");
    for word in words {
        assert!(said.contains(word), "no {word} in {said}");
    }
}

#[test]
fn traces_that_do_not_belong_together_are_refused() -> Result<()> {
    for mpi in ways("traces_that_", &Mpi::ALL) {
        let scratch = Scratch::new(&format!("mpi/mixed_{}", mpi.name()))?;
        let program = scratch.join("prog");
        mpi.build("ping.c", &Toolchain::contech(), &["-O1"], &program)?;
        let (a, b) = (scratch.subdir("a")?, scratch.subdir("b")?);
        for dir in [&a, &b] {
            mpi.run(2, &program, &[], dir)?.ok()?;
        }
        let graph = scratch.join("graph.tg");
        let of = |first: PathBuf, second: PathBuf| merge(&[first, second], &graph);
        let mixed = of(a.join("trace.0.bin"), b.join("trace.1.bin"))?;
        refused(&mixed, &["trace.0.bin", "trace.1.bin", "not of the same run", "one mpirun"]);
        let twice = of(a.join("trace.0.bin"), a.join("trace.0.bin"))?;
        refused(&twice, &["both of rank 0"]);
        assert!(!graph.exists());
        scratch.done()?;
    }
    Ok(())
}

#[test]
fn a_rank_that_is_missing_or_cut_is_named_and_the_rest_is_a_graph() -> Result<()> {
    let mpi = Mpi::Mpich;
    let scratch = Scratch::new("mpi/missing")?;
    let program = scratch.join("prog");
    mpi.build("ping.c", &Toolchain::contech(), &["-O1"], &program)?;
    mpi.run(4, &program, &[], scratch.dir())?.ok()?;
    let traces = files(scratch.dir(), "bin")?;
    let graph = scratch.join("graph.tg");
    let merged = merge(&[traces[0].clone(), traces[2].clone()], &graph)?.expect("exit 3")?;
    assert!(merged.out().contains("traces of MPI ranks are missing: 1, 3"), "{merged}");
    verify(&graph)?;
    let bytes = fs::read(&traces[1])?;
    fs::write(&traces[1], &bytes[..bytes.len() - 200])?;
    let merged = merge(&traces, &graph)?.expect("exit 3")?;
    assert!(merged.out().contains("rank 1"), "{merged}");
    verify(&graph)?;
    // The trace is cut before MPI_Init.
    fs::write(&traces[1], &bytes[..100])?;
    refused(&merge(&traces, &graph)?, &["trace.1.bin", "which MPI rank", "leave it out"]);
    scratch.done()
}

#[test]
fn a_run_that_a_rank_ends_early_is_a_graph_that_says_so() -> Result<()> {
    for mpi in ways("a_run_that_a", &Mpi::ALL) {
        let scratch = Scratch::new(&format!("mpi/ends_{}", mpi.name()))?;
        let program = scratch.join("prog");
        mpi.build("ends.c", &Toolchain::contech(), &["-O1"], &program)?;
        for (how, word) in [("abort", "MPI_Abort with code 3"), ("kill", "the program was killed")]
        {
            let dir = scratch.subdir(how)?;
            let run = mpi.run(3, &program, &[how], &dir)?;
            assert_ne!(run.outcome(), "exit 0", "{run}");
            let graph = dir.join("graph.tg");
            let traces = files(&dir, "bin")?;
            let merged = merge(&traces, &graph)?;
            assert!(merged.out().contains(word), "{merged}");
            // MPICH's launcher kills the other ranks of an aborted run at once.
            if how == "kill" || merged.outcome() != "exit 0" {
                assert_eq!(merged.outcome(), "exit 3", "{merged}");
                assert_eq!(merged.json()?["complete"], false, "{merged}");
            }
            verify(&graph)?;
        }
        scratch.done()?;
    }
    Ok(())
}
