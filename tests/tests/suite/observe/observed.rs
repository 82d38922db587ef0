//! Runs a program built for a test under the observer; the result is the observation it leaves.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_observation::{Observation, Phase, Place, State};
use contech_tests::outputs::{output, workspace};
use contech_tests::process::{Finished, run};
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

pub(crate) const MS: u64 = 1_000_000;

pub(crate) fn build(scratch: &Scratch, program: &str, flags: &[&str]) -> Result<PathBuf> {
    let source = workspace().join("tests/programs/observe").join(program);
    let to = scratch.join("prog");
    Toolchain::native().compile(&source, &[&["-O2"], flags].concat(), &to)?;
    Ok(to)
}

/// Builds a program in Rust.
pub(crate) fn build_rust(scratch: &Scratch, source: &Path) -> Result<PathBuf> {
    let to = scratch.join("prog");
    let mut command = Command::new("rustc");
    run(command.args(["--edition", "2024", "-O", "-o"]).arg(&to).arg(source))?.ok()?;
    Ok(to)
}

/// A command that runs a program under the observer, which writes to a file beside it.
pub(crate) fn observed(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_PRELOAD", output("libcontech_observe.so"))
        .env("CONTECH_OBSERVE", program.with_extension("obs"));
    command
}

/// Runs such a command; how it ends, and what it leaves.
pub(crate) fn observe(command: &mut Command) -> Result<(Finished, Observation)> {
    let file = Path::new(command.get_program()).with_extension("obs");
    let _ = std::fs::remove_file(&file);
    let finished = run(command)?;
    let observation = read(&file).with_context(|| finished.to_string())?;
    Ok((finished, observation))
}

pub(crate) fn read(file: &Path) -> Result<Observation> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    let observation: Observation = serde_json::from_slice(&bytes)?;
    ensure!(observation.complete);
    sums(&observation)?;
    Ok(observation)
}

/// The phases, of which there are so many.
pub(crate) fn phases<const N: usize>(observation: &Observation) -> Result<&[Phase<Place>; N]> {
    let phases = observation.run.phases.as_slice();
    phases.try_into().with_context(|| format!("{phases:?}"))
}

/// Checks sums: no lane has more time than has passed, and the bins have the time of the lane.
fn sums(observation: &Observation) -> Result<()> {
    for lane in &observation.lanes {
        let total = lane.times.total();
        ensure!(total <= observation.run.t_ns, "{lane:?}");
        for state in State::ALL {
            let bins: u64 = lane.bins.iter().map(|bin| bin.of(state)).sum();
            let ns = lane.times.of(state);
            let rounding = lane.bins.len() as u64 + 1;
            ensure!(bins.abs_diff(ns) <= rounding, "{state:?}: {bins} of {ns}");
        }
        let width = observation.bin_ns;
        ensure!(lane.bins.iter().all(|bin| bin.total() <= width + 10));
    }
    Ok(())
}

pub(crate) fn between(what: &str, ns: u64, least_ms: u64, most_ms: u64) -> Result<()> {
    ensure!(
        (least_ms * MS..=most_ms * MS).contains(&ns),
        "{what}: {ns} ns, not {least_ms} to {most_ms} ms"
    );
    Ok(())
}
