//! The observer: each state is measured where a program plants it, and the program does not notice.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_observation::{Model, Observation, State};
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::{Finished, run};
use contech_tests::scratch::Scratch;

const MS: u64 = 1_000_000;

fn build(scratch: &Scratch, program: &str, flags: &[&str]) -> Result<PathBuf> {
    let source = workspace().join("tests/programs/observe").join(program);
    let compiler = match source.extension().and_then(|e| e.to_str()) {
        Some("cpp") => "clang++-22",
        Some("f90") => "flang-22",
        _ => "clang-22",
    };
    let to = scratch.join("prog");
    let mut command = Command::new(compiler);
    command.arg("-O2").arg(source).args(flags);
    run(command.arg("-o").arg(&to))?.ok()?;
    Ok(to)
}

fn observed(program: &Path, arguments: &[&str], file: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env(
            "LD_PRELOAD",
            Outputs::get().command("libcontech_observe.so"),
        )
        .env("CONTECH_OBSERVE", file);
    command
}

fn read(file: &Path) -> Result<Observation> {
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    let observation = Observation::decode(&bytes)?;
    ensure!(observation.complete);
    sums(&observation)?;
    Ok(observation)
}

/// Lane times add up: no lane has more time than there was, the bins have what the lane has.
fn sums(observation: &Observation) -> Result<()> {
    for lane in &observation.lanes {
        let total = lane.times.total();
        ensure!(total <= observation.duration_ns + MS, "{lane:?}");
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

fn between(what: &str, ns: u64, least_ms: u64, most_ms: u64) -> Result<()> {
    ensure!(
        (least_ms * MS..=most_ms * MS).contains(&ns),
        "{what}: {ns} ns, not {least_ms} to {most_ms} ms"
    );
    Ok(())
}

#[test]
fn each_state_is_measured_where_it_is_planted() -> Result<()> {
    let scratch = Scratch::new("observe-states")?;
    let program = build(&scratch, "states.c", &["-pthread"])?;
    let file = scratch.join("states.obs");
    run(&mut observed(&program, &[], &file))?.expect("exit 7")?;
    let observation = read(&file)?;
    let main = &observation.lanes[0];
    for (state, least) in [
        (State::Lock, 300),
        (State::Spin, 100),
        (State::Condition, 300),
        (State::Barrier, 100),
        (State::Join, 100),
        (State::Sleep, 190),
    ] {
        between(
            state.name(),
            main.times.of(state),
            least,
            observation.duration_ns / MS,
        )?;
    }
    // Main runs for next to nothing; the other thread all the time.
    let other = &observation.lanes[1];
    ensure!(main.times.of(State::Running) < 200 * MS, "{main:?}");
    ensure!(other.times.of(State::Running) > 1000 * MS, "{other:?}");
    // Main lives from the beginning to the end, and so do its times.
    between(
        "main",
        main.times.total(),
        observation.duration_ns / MS - 2,
        observation.duration_ns / MS + 1,
    )?;
    // One phase: the other thread from its creation to its join.
    let [phase] = observation.phases.as_slice() else {
        anyhow::bail!("{:?}", observation.phases);
    };
    ensure!((phase.model, phase.count, phase.threads) == (Model::Threads, 1, 2));
    ensure!(
        phase.wall_ns < observation.duration_ns - 190 * MS,
        "{phase:?}"
    );
    ensure!(phase.times.of(State::Sleep) == 0);
    ensure!(
        phase.slowest_ns <= phase.wall_ns && phase.slowest_ns > 1000 * MS,
        "{phase:?}"
    );
    // Where: the longest lock waits are two calls in the program.
    let places = observation
        .waits
        .iter()
        .filter(|site| site.state == State::Lock);
    ensure!(places.clone().filter(|site| site.ns > 50 * MS).count() == 2);
    for site in places {
        let module = site.place.module.context("a module")? as usize;
        ensure!(Path::new(&observation.modules[module].path) == program);
    }
    scratch.done();
    Ok(())
}

#[test]
fn phases_of_cxx_threads_are_where_the_program_makes_them() -> Result<()> {
    let scratch = Scratch::new("observe-cxx")?;
    let program = build(&scratch, "cxx_threads.cpp", &["-pthread"])?;
    let file = scratch.join("cxx.obs");
    run(&mut observed(&program, &[], &file))?.ok()?;
    let observation = read(&file)?;
    let [twice, once] = observation.phases.as_slice() else {
        anyhow::bail!("{:?}", observation.phases);
    };
    ensure!((twice.count, twice.threads) == (2, 4), "{twice:?}");
    ensure!((once.count, once.threads) == (1, 2), "{once:?}");
    for phase in [twice, once] {
        let module = phase.place.module.context("a module")? as usize;
        ensure!(
            Path::new(&observation.modules[module].path) == program,
            "{phase:?}"
        );
    }
    between(
        "sleep",
        twice.times.of(State::Sleep),
        290,
        6 * observation.duration_ns / MS,
    )?;
    // Lanes are used again: seven threads after main, of which at most three lived at a time.
    let threads: u32 = observation.lanes.iter().map(|lane| lane.threads).sum();
    ensure!(
        threads == 8 && observation.lanes.len() == 4,
        "{threads} threads"
    );
    scratch.done();
    Ok(())
}

fn same(a: &Finished, b: &Finished) -> Result<()> {
    ensure!(a.outcome() == b.outcome(), "{a}\n{b}");
    ensure!(a.stdout == b.stdout && a.stderr == b.stderr, "{a}\n{b}");
    Ok(())
}

#[test]
fn a_program_ends_as_it_would_and_is_observed() -> Result<()> {
    let scratch = Scratch::new("observe-ends")?;
    let program = build(&scratch, "ends.c", &["-pthread"])?;
    for how in [
        "return",
        "exit-in-thread",
        "pthread-exit",
        "segfault",
        "abort",
        "terminated",
        "handled",
        "_exit",
        "quick_exit",
        "fork",
    ] {
        let file = scratch.join(format!("{how}.obs"));
        let native = run(Command::new(&program).arg(how))?;
        let finished = run(&mut observed(&program, &[how], &file))?;
        same(&native, &finished)?;
        let observation = read(&file).with_context(|| how.to_owned())?;
        // The other thread may not have begun.
        ensure!(
            (1..=2).contains(&observation.lanes.len()),
            "{how}: {observation:?}"
        );
    }
    let left = std::fs::read_dir(scratch.dir())?.filter_map(Result::ok);
    ensure!(
        left.filter(|f| f.file_name().to_string_lossy().contains("tmp-"))
            .count()
            == 0
    );
    scratch.done();
    Ok(())
}

#[test]
fn nothing_is_written_unasked_or_for_another_program() -> Result<()> {
    let scratch = Scratch::new("observe-unasked")?;
    let program = build(&scratch, "ends.c", &["-pthread"])?;
    let file = scratch.join("unasked.obs");
    let native = run(&mut Command::new(&program))?;
    let mut unasked = observed(&program, &[], &file);
    let finished = run(unasked.env_remove("CONTECH_OBSERVE"))?;
    ensure!(native.outcome() == finished.outcome() && !file.exists());
    // Another program takes the process over.
    let finished = run(&mut observed(&program, &["exec"], &file))?.ok()?;
    ensure!(finished.out().ends_with("another program\n") && !file.exists());
    // A file that cannot be written is one line, and no other exit code.
    let nowhere = Path::new("/proc/nowhere/a.obs");
    let finished = run(&mut observed(&program, &[], nowhere))?.expect("exit 2")?;
    ensure!(finished.err().contains("/proc/nowhere/a.obs") && finished.err().lines().count() == 1);
    scratch.done();
    Ok(())
}
