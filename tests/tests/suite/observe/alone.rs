//! Alone-runs: one thread works in each phase, with and without the Cache Pirate.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use contech_observation::Observation;
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

use super::observed::{MS, between, build, observed, read};

fn alone(program: &Path, thread: &str, how: &str, file: &Path) -> Result<(Observation, String)> {
    let mut command = observed(program, &[thread, how], file);
    if how != "spin" {
        // On a busy machine a thread may wait for a processor longer than the limit without spinning.
        command.env("CONTECH_ALONE_LIMIT", "600");
    }
    let finished = run(command.env("CONTECH_ALONE", thread))?.ok()?;
    ensure!(finished.out() == "done\n", "{finished}");
    Ok((read(file)?, finished.err()))
}

#[test]
fn one_thread_runs_alone_between_barriers() -> Result<()> {
    let scratch = Scratch::new("observe-alone")?;
    let file = scratch.join("alone.obs");
    for flag in ["-pthread", "-fopenmp"] {
        let program = build(&scratch, "alone.c", &[flag])?;
        for thread in ["0", "2"] {
            let (observation, said) = alone(&program, thread, "barrier", &file)?;
            // The profiled thread looked, and no other thread was working.
            ensure!(said == "0 beside\n", "{flag} {thread}: {said}");
            let alone = observation.alone.context("an alone-run")?;
            ensure!(alone.thread.to_string() == thread && alone.invalid.is_none());
            // Each phase has at least five rounds of 30 ms.
            for phase in &observation.phases {
                between("alone", phase.alone_ns, 149, phase.wall_ns / MS)?;
            }
        }
        // There is no such thread, so nothing is halted.
        let (observation, said) = alone(&program, "9", "barrier", &file)?;
        ensure!(said == "0 beside\n");
        let alone = observation.alone.context("an alone-run")?;
        ensure!(
            alone
                .invalid
                .is_some_and(|why| why.contains("no phase has a thread of that number"))
        );
    }
    scratch.done();
    Ok(())
}

#[test]
fn what_cannot_run_alone_runs_as_ever_and_is_said() -> Result<()> {
    let scratch = Scratch::new("observe-not-alone")?;
    let file = scratch.join("alone.obs");
    let program = build(&scratch, "alone.c", &["-pthread"])?;
    for (how, why) in [
        ("condition", "conditions or semaphores"),
        ("yield", "spins and yields"),
        ("spin", "CONTECH_ALONE_LIMIT"),
    ] {
        let (observation, _) = alone(&program, "1", how, &file)?;
        let alone = observation.alone.context("an alone-run")?;
        let found = alone.invalid.with_context(|| how.to_owned())?;
        ensure!(found.contains(why), "{how}: {found}");
    }
    let program = build(&scratch, "omp_tasks.c", &["-fopenmp"])?;
    let mut command = observed(&program, &[], &file);
    command
        .env("CONTECH_ALONE", "0")
        .env("OMP_NUM_THREADS", "2");
    run(&mut command)?.ok()?;
    let alone = read(&file)?.alone.context("an alone-run")?;
    ensure!(
        alone
            .invalid
            .is_some_and(|why| why.contains("explicit tasks"))
    );
    scratch.done();
    Ok(())
}

#[test]
fn the_pirate_walks_while_the_thread_runs_alone_and_tells_what_an_access_took() -> Result<()> {
    let scratch = Scratch::new("observe-pirate")?;
    let file = scratch.join("pirate.obs");
    let program = build(&scratch, "alone.c", &["-pthread"])?;
    let mut command = observed(&program, &["1"], &file);
    command
        .env("CONTECH_ALONE", "1")
        .env("CONTECH_PIRATE", "1048576");
    let finished = run(&mut command)?.ok()?;
    ensure!(finished.err() == "0 beside\n", "{finished}");
    let observation = read(&file)?;
    // The pirate is no thread of the program.
    ensure!(
        observation
            .lanes
            .iter()
            .map(|lane| lane.threads)
            .sum::<u32>()
            == 7
    );
    let alone = observation.alone.context("an alone-run")?;
    let pirate = alone.pirate.context("a pirate")?;
    ensure!(alone.invalid.is_none() && pirate.bytes == 1 << 20);
    // A working set of the cache's size is nearer than four times the cache; 300 ms are many rounds.
    ensure!(
        pirate.quiet_ns > 0.0 && pirate.quiet_ns < pirate.miss_ns,
        "{pirate:?}"
    );
    ensure!(pirate.rounds > 5 && pirate.beside_ns > 0.0, "{pirate:?}");
    let was_there = pirate.quiet_ns < pirate.miss_ns / 2.0;
    let a_quarter = pirate.quiet_ns + 0.25 * (pirate.miss_ns - pirate.quiet_ns);
    ensure!(
        pirate.held == (was_there && pirate.beside_ns <= a_quarter),
        "{pirate:?}"
    );
    scratch.done();
    Ok(())
}
