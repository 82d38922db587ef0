//! A short run of the fuzzer for every reader (`tests/fuzz`): the same inputs each time, as many as take some seconds.
//!
//! A run of any length: `cargo run --release -p contech-tests --bin fuzz -- graph -max_total_time=3600`. It leaves what it
//! finds in the folder that it names.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail, ensure};
use contech_tests::fuzzer;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| fuzzer::build().unwrap_or_else(|error| panic!("{error:#}")))
}

/// Runs inputs; places in the code that were reached after the seeds alone, and at the end.
fn places(target: &str, inputs: u32) -> Result<(u64, u64)> {
    let scratch = Scratch::new(&format!("fuzz-{target}"))?;
    let folder = scratch.subdir(target)?;
    let mut command = Command::new(built());
    command.arg(&folder).args(fuzzer::options(&folder));
    command.args(["-seed=1".to_owned(), format!("-runs={inputs}")]);
    let done = run(&mut command)?;
    if done.outcome() != "exit 0" {
        bail!("{done}\nthe input is in {}", folder.display());
    }
    let said = done.err();
    let mut places = said.lines().filter_map(|line| {
        let (_, after) = line.split_once("cov: ")?;
        after.split(' ').next()?.parse().ok()
    });
    let first = places.find(|n| *n > 100).context("no coverage")?;
    let last = places.next_back().context("no coverage")?;
    scratch.done();
    Ok((first, last))
}

fn is_read(target: &str, inputs: u32) -> Result<()> {
    let (first, last) = places(target, inputs)?;
    // Mutations that nothing lets in would reach what the seeds do.
    ensure!(
        last > first + first / 10,
        "{target}: {first} places, then {last}"
    );
    Ok(())
}

#[test]
fn traces_are_read_or_refused() {
    is_read("trace", 15_000).unwrap();
}

#[test]
fn whatever_the_trace_a_graph_that_is_written_is_sound() {
    is_read("middle", 1_000).unwrap();
}

#[test]
fn graphs_are_read_or_refused_and_what_verify_finds_sound_is_read() {
    is_read("graph", 15_000).unwrap();
}

#[test]
fn observations_are_read_or_refused() {
    is_read("observation", 100_000).unwrap();
}

#[test]
fn profiles_are_read_or_refused() {
    is_read("profile", 20_000).unwrap();
}
