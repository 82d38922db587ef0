//! OpenMP: LLVM's library reports regions, waits and scheduling; libgomp does not.

use std::process::Command;

use anyhow::{Result, ensure};
use contech_observation::{Model, State};
use contech_tests::outputs::{output, workspace};
use contech_tests::process::{Finished, run, same};
use contech_tests::scratch::Scratch;

use super::observed::{MS, between, build, observe, observed, phases};

#[test]
fn openmp_is_measured_where_it_waits_and_schedules() -> Result<()> {
    let scratch = Scratch::new("observe-openmp")?;
    let program = build(&scratch, "omp_states.c", &["-fopenmp"])?;
    for threads in [1, 2, 3] {
        let mut command = observed(&program, &[]);
        let (finished, observation) = observe(command.env("OMP_NUM_THREADS", threads.to_string()))?;
        finished.ok()?;
        let most = observation.run.t_ns / MS;
        ensure!(observation.openmp.starts_with("LLVM OMP") && observation.notes.is_empty());
        let [barrier, lock, tasks] = phases(&observation)?;
        for phase in [barrier, lock, tasks] {
            ensure!(
                (phase.model, phase.count, u64::from(phase.threads)) == (Model::OpenMp, 1, threads)
            );
            // The threads of a phase are in it from shortly after its begin, when they arrive, to
            // its end.
            let total = phase.times.total();
            ensure!(total <= threads * phase.wall_ns + MS, "{phase:?}");
            ensure!(phase.times.of(State::Idle) < MS, "{phase:?}");
            ensure!(phase.slowest_ns <= phase.wall_ns, "{phase:?}");
        }
        let others = threads - 1;
        between("barrier", barrier.times.of(State::Barrier), 300 * others, most * others + 1)?;
        // The threads are in the section one after the other.
        between("lock", lock.times.of(State::Lock), 180 * others * threads / 2, most * others + 1)?;
        let joins = tasks.times.of(State::Join);
        between("join", joins, 100 * others.min(1), most * others.min(1) + 1)?;
        ensure!(!barrier.dynamic && tasks.dynamic);
        for worker in &observation.lanes[1..] {
            between("idle", worker.times.of(State::Idle), 150, most)?;
        }
    }
    scratch.done()
}

#[test]
fn nested_locks_ordered_sections_and_task_groups_are_waited_for_from_the_first_one_on() -> Result<()>
{
    let scratch = Scratch::new("observe-late")?;
    let program = build(&scratch, "omp_late.c", &["-fopenmp"])?;
    let native = run(&mut Command::new(&program))?.ok()?;
    let (finished, observation) = observe(&mut observed(&program, &[]))?;
    same(&native, &finished, Finished::said)?;
    let [nested, ordered, group] = phases(&observation)?;
    let most = observation.run.t_ns / MS;
    for (what, phase, state) in [
        ("nested lock", nested, State::Lock),
        ("ordered section", ordered, State::Lock),
        ("task group", group, State::Join),
    ] {
        between(what, phase.times.of(state), 80, most)?;
    }
    scratch.done()
}

#[test]
fn making_tasks_and_handing_out_iterations_is_scheduling() -> Result<()> {
    let scratch = Scratch::new("observe-tasks")?;
    let program = build(&scratch, "omp_tasks.c", &["-fopenmp"])?;
    for threads in ["1", "2"] {
        let native = run(Command::new(&program).env("OMP_NUM_THREADS", threads))?.ok()?;
        let mut command = observed(&program, &[]);
        let (finished, observation) = observe(command.env("OMP_NUM_THREADS", threads))?;
        same(&native, &finished, Finished::said)?;
        let [tasks, iterations, fixed] = phases(&observation)?;
        // fib(24) makes 75,024 tasks. One thread gets all iterations at once; two threads ask for
        // each of the million. The sample stands for all calls but those after the last timed one.
        // No call takes less than a few nanoseconds.
        let scheduling = tasks.times.of(State::Scheduling);
        ensure!(scheduling > 75_024 * 4, "{tasks:?}");
        ensure!(tasks.dynamic && iterations.dynamic && !fixed.dynamic);
        ensure!(tasks.pieces == 75_024 && fixed.pieces == 0, "{tasks:?} {fixed:?}");
        let parts = if threads == "1" { 1 } else { 1_000_000 };
        ensure!(iterations.pieces.abs_diff(parts) < 200, "{iterations:?}");
        for phase in [tasks, iterations, fixed] {
            ensure!(phase.slowest_ns <= phase.wall_ns, "{phase:?}");
        }
    }
    scratch.done()
}

#[test]
fn libgomp_is_said_not_to_tell() -> Result<()> {
    let scratch = Scratch::new("observe-libgomp")?;
    let program = scratch.join("prog");
    let source = workspace().join("tests/programs/observe/rounds.c");
    let mut command = Command::new("gcc");
    run(command.args(["-O2", "-fopenmp"]).arg(source).arg("-o").arg(&program))?.ok()?;
    let mut command = observed(&program, &[]);
    let (finished, observation) = observe(command.env("OMP_NUM_THREADS", "2"))?;
    finished.ok()?;
    ensure!(observation.openmp.is_empty() && observation.run.phases.is_empty());
    ensure!(observation.notes.iter().any(|note| note.contains("libgomp")), "{observation:?}");
    // The program now runs on LLVM's library, as the note advises.
    let observer = output("libcontech_observe.so");
    let preload = format!("{}:/usr/lib/llvm-22/lib/libomp.so", observer.display());
    let (finished, observation) = observe(command.env("LD_PRELOAD", preload))?;
    finished.ok()?;
    ensure!(observation.openmp.starts_with("LLVM OMP") && observation.run.phases.len() == 2);
    ensure!(observation.run.times.of(State::Barrier) > 0, "{observation:?}");
    scratch.done()
}
