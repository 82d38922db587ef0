//! The observer is a guest in the program: the program ends as it would, and nothing is written
//! that nobody asked for.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::process::{Finished, run, same};
use contech_tests::scratch::Scratch;

use super::observed::{build, observe, observed};

#[test]
fn a_program_ends_as_it_would_and_is_observed() -> Result<()> {
    let scratch = Scratch::new("observe-ends")?;
    let program = build(&scratch, "ends.c", &["-pthread"])?;
    for how in [
        "return",
        "exit-in-thread",
        "pthread-exit",
        "exit-call",
        "segfault",
        "abort",
        "terminated",
        "alarm",
        "real-time",
        "trap",
        "handled",
        "once",
        "exit_group",
        "_exit",
        "quick_exit",
        "fork",
    ] {
        let native = run(Command::new(&program).arg(how))?;
        let (finished, observation) = observe(&mut observed(&program, &[how])).context(how)?;
        same(&native, &finished, Finished::said)?;
        // The other thread may not have begun.
        ensure!((1..=2).contains(&observation.lanes.len()), "{how}: {observation:?}");
    }
    let left = std::fs::read_dir(scratch.dir())?.filter_map(Result::ok);
    ensure!(left.filter(|f| f.file_name().to_string_lossy().contains("tmp-")).count() == 0);
    scratch.done()
}

#[test]
fn a_child_waits_for_no_thread_that_it_does_not_have() -> Result<()> {
    let scratch = Scratch::new("observe-forks")?;
    let program = build(&scratch, "forks.c", &["-pthread"])?;
    let (finished, _) = observe(&mut observed(&program, &[]))?;
    ensure!(finished.clone().ok()?.out() == "0\n", "{finished}");
    scratch.done()
}

#[test]
fn a_lock_that_is_given_up_and_a_wait_that_is_cancelled_end_as_they_would() -> Result<()> {
    let scratch = Scratch::new("observe-tries")?;
    for source in ["mutex_robust.c", "cancel_in_sem_wait.c"] {
        let program = build(&scratch, &format!("../{source}"), &["-pthread"])?;
        let native = run(&mut Command::new(&program))?;
        same(&native, &run(&mut observed(&program, &[]))?, Finished::said)?;
    }
    scratch.done()
}

#[test]
fn nothing_is_written_unasked_or_for_another_program() -> Result<()> {
    let scratch = Scratch::new("observe-unasked")?;
    let program = build(&scratch, "ends.c", &["-pthread"])?;
    let file = program.with_extension("obs");
    let native = run(&mut Command::new(&program))?;
    let mut unasked = observed(&program, &[]);
    let finished = run(unasked.env_remove("CONTECH_OBSERVE"))?;
    ensure!(native.outcome() == finished.outcome() && !file.exists());
    // Another program replaces this one in the process.
    let finished = run(&mut observed(&program, &["exec"]))?.ok()?;
    ensure!(finished.out().ends_with("another program\n") && !file.exists());
    // A file that cannot be written costs one line and does not change the exit code.
    let mut nowhere = observed(&program, &[]);
    nowhere.env("CONTECH_OBSERVE", "/proc/nowhere/a.obs");
    let finished = run(&mut nowhere)?.expect("exit 2")?;
    ensure!(finished.err().contains("/proc/nowhere/a.obs") && finished.err().lines().count() == 1);
    scratch.done()
}
