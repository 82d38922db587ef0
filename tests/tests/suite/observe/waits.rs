//! Threads of C, C++ and Rust and ranks of MPI: what they wait for, and in which phase.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use contech_observation::{Model, State};
use contech_tests::mpi::Mpi;
use contech_tests::outputs::{output, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

use super::observed::{MS, between, build, build_rust, observe, observed, phases, read};

#[test]
fn each_state_is_measured_where_it_is_planted() -> Result<()> {
    let scratch = Scratch::new("observe-states")?;
    let program = build(&scratch, "states.c", &["-pthread"])?;
    let (finished, observation) = observe(&mut observed(&program, &[]))?;
    finished.expect("exit 7")?;
    let main = &observation.lanes[0];
    for (state, least) in [
        (State::Lock, 300),
        (State::Spin, 100),
        (State::Condition, 300),
        (State::Barrier, 100),
        (State::Join, 100),
        (State::Sleep, 190),
    ] {
        between(state.name(), main.times.of(state), least, observation.run.t_ns / MS)?;
    }
    // Main runs for very little of the time, the other thread for all of it.
    let other = &observation.lanes[1];
    ensure!(main.times.of(State::Running) < 200 * MS, "{main:?}");
    ensure!(other.times.of(State::Running) > 1000 * MS, "{other:?}");
    // Main lives from the beginning to the end, and so its times cover all of it.
    between(
        "main",
        main.times.total(),
        observation.run.t_ns / MS - 2,
        observation.run.t_ns / MS + 1,
    )?;
    // There is one phase, in which the other thread lives from its creation to its join.
    let [phase] = phases(&observation)?;
    ensure!((phase.model, phase.count, phase.threads) == (Model::Threads, 1, 2));
    ensure!(phase.wall_ns < observation.run.t_ns - 190 * MS, "{phase:?}");
    ensure!(phase.times.of(State::Sleep) == 0);
    ensure!(phase.slowest_ns <= phase.wall_ns && phase.slowest_ns > 1000 * MS, "{phase:?}");
    // The longest lock waits are at two calls in the program.
    let places = observation.run.waits.iter().filter(|site| site.state == State::Lock);
    ensure!(places.clone().filter(|site| site.ns > 50 * MS).count() == 2);
    for site in places {
        let module = site.place.module.context("a module")? as usize;
        ensure!(Path::new(&observation.modules[module]) == program);
    }
    scratch.done()
}

#[test]
fn phases_of_cxx_threads_are_where_the_program_makes_them() -> Result<()> {
    let scratch = Scratch::new("observe-cxx")?;
    let program = build(&scratch, "cxx_threads.cpp", &["-pthread"])?;
    let (finished, observation) = observe(&mut observed(&program, &[]))?;
    finished.ok()?;
    let [twice, once] = phases(&observation)?;
    ensure!((twice.count, twice.threads) == (2, 4), "{twice:?}");
    ensure!((once.count, once.threads) == (1, 2), "{once:?}");
    for phase in [twice, once] {
        let module = phase.place.module.context("a module")? as usize;
        ensure!(Path::new(&observation.modules[module]) == program, "{phase:?}");
    }
    between("sleep", twice.times.of(State::Sleep), 290, 6 * observation.run.t_ns / MS)?;
    // Lanes are used again: there are seven threads besides main, at most three at a time.
    let threads: u32 = observation.lanes.iter().map(|lane| lane.threads).sum();
    ensure!(threads == 8 && observation.lanes.len() == 4, "{threads} threads");
    scratch.done()
}

#[test]
fn waits_of_rust_are_seen() -> Result<()> {
    let scratch = Scratch::new("observe-rust")?;
    let source = workspace().join("tests/programs/observe/rust_locks.rs");
    let program = build_rust(&scratch, &source)?;
    let (finished, observation) = observe(&mut observed(&program, &[]))?;
    finished.ok()?;
    let (main, most) = (&observation.lanes[0].times, observation.run.t_ns / MS);
    between("lock", main.of(State::Lock), 100, most)?;
    between("condition", main.of(State::Condition), 100, most)?;
    scratch.done()
}

#[test]
fn waiting_for_messages_is_seen() -> Result<()> {
    let scratch = Scratch::new("observe-mpi")?;
    for mpi in Mpi::ALL {
        let program = scratch.join(mpi.name());
        mpi.build("../observe/mpi_wait.c", &Toolchain::native(), &["-O1"], &program)?;
        // mpirun starts this script, which starts the program under the observer.
        let script = format!(
            "LD_PRELOAD={} CONTECH_OBSERVE={}.$OMPI_COMM_WORLD_RANK$PMI_RANK exec {}",
            output("libcontech_observe.so").display(),
            program.display(),
            program.display()
        );
        let mut command = mpi.launcher(2);
        let finished = run(command.args(["/bin/sh", "-c", &script]))?.ok()?;
        ensure!(finished.out() == "7\n7\n", "{finished}");
        let observation = read(&scratch.join(format!("{}.1", mpi.name())))?;
        let most = observation.run.t_ns / MS;
        between("message", observation.lanes[0].times.of(State::Message), 100, most)?;
    }
    scratch.done()
}
