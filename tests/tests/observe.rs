//! The observer: each state is measured where a program plants it, and the program does not notice.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_observation::{Model, Observation, State};
use contech_tests::mpi::Mpi;
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

#[test]
fn openmp_is_measured_where_it_waits_and_schedules() -> Result<()> {
    let scratch = Scratch::new("observe-openmp")?;
    let program = build(&scratch, "omp_states.c", &["-fopenmp"])?;
    for threads in [1, 2, 3] {
        let file = scratch.join(format!("{threads}.obs"));
        let mut command = observed(&program, &[], &file);
        run(command.env("OMP_NUM_THREADS", threads.to_string()))?.ok()?;
        let observation = read(&file)?;
        let most = observation.duration_ns / MS;
        ensure!(observation.openmp.starts_with("LLVM OMP") && observation.notes.is_empty());
        let [barrier, lock, tasks] = observation.phases.as_slice() else {
            anyhow::bail!("{:?}", observation.phases);
        };
        for phase in [barrier, lock, tasks] {
            ensure!(
                (phase.model, phase.count, u64::from(phase.threads)) == (Model::OpenMp, 1, threads)
            );
            // The threads of a phase are in it from its begin (but for the time until they come) to its end.
            let total = phase.times.total();
            ensure!(total <= threads * phase.wall_ns + MS, "{phase:?}");
            ensure!(phase.times.of(State::Idle) < MS, "{phase:?}");
            ensure!(phase.slowest_ns <= phase.wall_ns, "{phase:?}");
        }
        let others = threads - 1;
        between(
            "barrier",
            barrier.times.of(State::Barrier),
            300 * others,
            most * others + 1,
        )?;
        // The threads have the section one after the other.
        between(
            "lock",
            lock.times.of(State::Lock),
            180 * others * threads / 2,
            most * others + 1,
        )?;
        let joins = tasks.times.of(State::Join);
        between("join", joins, 100 * others.min(1), most * others.min(1) + 1)?;
        ensure!(!barrier.dynamic && tasks.dynamic);
        for worker in &observation.lanes[1..] {
            between("idle", worker.times.of(State::Idle), 150, most)?;
        }
    }
    scratch.done();
    Ok(())
}

#[test]
fn nested_locks_ordered_sections_and_task_groups_are_waited_for_from_the_first_one_on() -> Result<()>
{
    let scratch = Scratch::new("observe-late")?;
    let program = build(&scratch, "omp_late.c", &["-fopenmp"])?;
    let file = scratch.join("late.obs");
    let native = run(&mut Command::new(&program))?;
    same(&native, &run(&mut observed(&program, &[], &file))?.ok()?)?;
    let observation = read(&file)?;
    let [nested, ordered, group] = observation.phases.as_slice() else {
        anyhow::bail!("{:?}", observation.phases);
    };
    let most = observation.duration_ns / MS;
    for (what, phase, state) in [
        ("nested lock", nested, State::Lock),
        ("ordered section", ordered, State::Lock),
        ("task group", group, State::Join),
    ] {
        between(what, phase.times.of(state), 80, most)?;
    }
    scratch.done();
    Ok(())
}

#[test]
fn making_tasks_and_handing_out_iterations_is_scheduling() -> Result<()> {
    let scratch = Scratch::new("observe-tasks")?;
    let program = build(&scratch, "omp_tasks.c", &["-fopenmp"])?;
    for threads in ["1", "2"] {
        let file = scratch.join("tasks.obs");
        let native = run(Command::new(&program).env("OMP_NUM_THREADS", threads))?;
        let mut command = observed(&program, &[], &file);
        let finished = run(command.env("OMP_NUM_THREADS", threads))?.ok()?;
        same(&native, &finished)?;
        let observation = read(&file)?;
        let [tasks, iterations, fixed] = observation.phases.as_slice() else {
            anyhow::bail!("{:?}", observation.phases);
        };
        // fib(24) makes 75,024 tasks, by two calls each; one thread has all iterations at once, two ask for each of the
        // million. The sample stands for all calls but those after the last one timed.
        let calls = 2 * 75_024 + if threads == "1" { 0 } else { 1_000_000 };
        let counted: u64 = observation
            .lanes
            .iter()
            .map(|lane| lane.counts[State::Scheduling as usize])
            .sum();
        ensure!(counted.abs_diff(calls) < 200, "{counted} calls of {calls}");
        // None takes less than a few nanoseconds.
        let scheduling = tasks.times.of(State::Scheduling);
        ensure!(scheduling > 75_024 * 4, "{tasks:?}");
        ensure!(tasks.dynamic && iterations.dynamic && !fixed.dynamic);
        ensure!(
            tasks.pieces == 75_024 && fixed.pieces == 0,
            "{tasks:?} {fixed:?}"
        );
        let parts = if threads == "1" { 1 } else { 1_000_000 };
        ensure!(iterations.pieces.abs_diff(parts) < 200, "{iterations:?}");
        for phase in [tasks, iterations, fixed] {
            ensure!(phase.slowest_ns <= phase.wall_ns, "{phase:?}");
        }
    }
    scratch.done();
    Ok(())
}

#[test]
fn what_the_program_marks_is_measured_in_each_language() -> Result<()> {
    let scratch = Scratch::new("observe-marks")?;
    let headers = workspace().join("instrument/cc/include");
    let include = format!("-I{}", headers.display());
    let module = headers.join("contech/observe.f90").display().to_string();
    std::fs::copy(
        headers.join("contech/observe.rs"),
        scratch.join("observe.rs"),
    )?;
    for language in ["c", "cpp", "f90", "rs"] {
        let program = match language {
            "f90" => {
                let source = workspace().join("tests/programs/observe/marks.f90");
                let to = scratch.join("prog");
                let mut command = Command::new(Outputs::get().fc());
                command
                    .args(["-O2", &module])
                    .arg(source)
                    .arg("-J")
                    .arg(scratch.dir());
                run(command.env("CONTECH_OFF", "1").arg("-o").arg(&to))?.ok()?;
                to
            }
            "rs" => {
                let source = scratch.join("marks.rs");
                std::fs::copy(workspace().join("tests/programs/observe/marks.rs"), &source)?;
                let to = scratch.join("prog");
                let mut command = Command::new("rustc");
                run(command
                    .args(["--edition", "2024", "-O", "-o"])
                    .arg(&to)
                    .arg(&source))?
                .ok()?;
                to
            }
            _ => build(&scratch, &format!("marks.{language}"), &[&include])?,
        };
        let file = scratch.join(format!("{language}.obs"));
        let native = run(Command::new(&program).env("CONTECH_OFF", "1"))?.ok()?;
        let mut command = observed(&program, &[], &file);
        same(&native, &run(command.env("CONTECH_OFF", "1"))?)?;
        let observation = read(&file)?;
        ensure!(observation.region, "{language}");
        let most = observation.duration_ns / MS + 1;
        between(language, observation.duration_ns, 299, most)?;
        let times = observation.times();
        between("idle", times.of(State::Idle), 99, most)?;
        between("scheduling", times.of(State::Scheduling), 99, most)?;
        between("running", times.of(State::Running), 99, most)?;
        between("all", times.total(), most - 2, most)?;
        let [phase] = observation.phases.as_slice() else {
            anyhow::bail!("{language}: {:?}", observation.phases);
        };
        ensure!((phase.model, phase.place.symbol.as_str()) == (Model::Marked, "marked"));
        between(
            "phase",
            phase.times.of(State::Scheduling),
            99,
            phase.wall_ns / MS + 1,
        )?;
        ensure!(phase.times.of(State::Idle) == 0);
    }
    scratch.done();
    Ok(())
}

fn alone(program: &Path, thread: &str, how: &str, file: &Path) -> Result<(Observation, String)> {
    let mut command = observed(program, &[thread, how], file);
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
            // The profiled thread looked, and nobody else was at work.
            ensure!(said == "0 beside\n", "{flag} {thread}: {said}");
            let alone = observation.alone.context("an alone-run")?;
            ensure!(alone.thread.to_string() == thread && alone.invalid.is_none());
            // Five rounds of 30 ms in each phase, at least.
            for phase in &observation.phases {
                between("alone", phase.alone_ns, 149, phase.wall_ns / MS)?;
            }
        }
        // There is no such thread: nothing is halted.
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
    // It is no thread of the program's.
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

#[test]
fn waits_of_rust_are_seen() -> Result<()> {
    let scratch = Scratch::new("observe-rust")?;
    let source = workspace().join("tests/programs/observe/rust_locks.rs");
    let program = scratch.join("prog");
    let mut command = Command::new("rustc");
    run(command
        .args(["--edition", "2024", "-O", "-o"])
        .arg(&program)
        .arg(source))?
    .ok()?;
    let file = scratch.join("rust.obs");
    run(&mut observed(&program, &[], &file))?.ok()?;
    let observation = read(&file)?;
    let (main, most) = (&observation.lanes[0].times, observation.duration_ns / MS);
    between("lock", main.of(State::Lock), 100, most)?;
    between("condition", main.of(State::Condition), 100, most)?;
    scratch.done();
    Ok(())
}

#[test]
fn waiting_for_messages_is_seen() -> Result<()> {
    let scratch = Scratch::new("observe-mpi")?;
    for mpi in Mpi::ALL {
        let program = scratch.join(mpi.name());
        let source = workspace().join("tests/programs/observe/mpi_wait.c");
        let mut command = mpi.compiler(Path::new("clang-22"));
        run(command.arg("-O1").arg(source).arg("-o").arg(&program))?.ok()?;
        // What mpirun starts is not the program, but what starts the program under the observer.
        let script = format!(
            "LD_PRELOAD={} CONTECH_OBSERVE={}.$OMPI_COMM_WORLD_RANK$PMI_RANK exec {}",
            Outputs::get().command("libcontech_observe.so").display(),
            program.display(),
            program.display()
        );
        let mut command = mpi.launcher(2);
        let finished = run(command.args(["/bin/sh", "-c", &script]))?.ok()?;
        ensure!(finished.out() == "7\n7\n", "{finished}");
        let observation = read(&scratch.join(format!("{}.1", mpi.name())))?;
        let most = observation.duration_ns / MS;
        between(
            "message",
            observation.lanes[0].times.of(State::Message),
            100,
            most,
        )?;
    }
    scratch.done();
    Ok(())
}

#[test]
fn libgomp_is_said_not_to_tell() -> Result<()> {
    let scratch = Scratch::new("observe-libgomp")?;
    let program = scratch.join("prog");
    let source = workspace().join("tests/programs/observe/alone.c");
    let mut command = Command::new("gcc");
    run(command
        .args(["-O2", "-fopenmp"])
        .arg(source)
        .arg("-o")
        .arg(&program))?
    .ok()?;
    let file = scratch.join("gomp.obs");
    let mut command = observed(&program, &[], &file);
    run(command.env("OMP_NUM_THREADS", "2"))?.ok()?;
    let observation = read(&file)?;
    ensure!(observation.openmp.is_empty() && observation.phases.is_empty());
    ensure!(
        observation
            .notes
            .iter()
            .any(|note| note.contains("libgomp")),
        "{observation:?}"
    );
    // On LLVM's library, as the note advises.
    let mut command = observed(&program, &[], &file);
    let observer = Outputs::get().command("libcontech_observe.so");
    let preload = format!("{}:/usr/lib/llvm-22/lib/libomp.so", observer.display());
    command
        .env("LD_PRELOAD", preload)
        .env("OMP_NUM_THREADS", "2");
    run(&mut command)?.ok()?;
    let observation = read(&file)?;
    ensure!(observation.openmp.starts_with("LLVM OMP") && observation.phases.len() == 2);
    ensure!(
        observation.times().of(State::Barrier) > 0,
        "{observation:?}"
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
