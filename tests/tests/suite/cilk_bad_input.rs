//! The on-line profile of programs it cannot fully measure: it holds what completed, is marked so, and a line on
//! standard error says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use contech_tests::outputs::Outputs;
use contech_tests::process::{Finished, run};
use contech_tests::scratch::Scratch;
use serde_json::Value;

fn compiled(scratch: &Scratch, name: &str) -> Result<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("programs/cilk/{name}.c"));
    let program = scratch.join("program");
    let mut compile = Command::new(Outputs::get().command("contech-cc"));
    compile.args(["--contech-mode=workspan", "-O2", "-pthread"]);
    run(compile.arg(source).arg("-o").arg(&program))?.ok()?;
    Ok(program)
}

/// The output on standard error and the profile of a program.
fn profile(name: &str, arguments: &[&str], outcome: &str) -> Result<(String, Value)> {
    let (done, profile) = profiled(name, arguments, outcome)?;
    Ok((done.err(), profile))
}

/// A program that has ended, and the profile it leaves.
fn profiled(name: &str, arguments: &[&str], outcome: &str) -> Result<(Finished, Value)> {
    let scratch = Scratch::new(&format!("cilk-{name}-{}", arguments.concat()))?;
    let program = compiled(&scratch, name)?;
    let file = scratch.join("profile.json");
    let done = run(Command::new(&program)
        .args(arguments)
        .env("CONTECH_PROFILE", &file))?;
    let done = done.expect(outcome)?;
    let profile = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    scratch.done();
    Ok((done, profile))
}

fn count(profile: &Value, callee: &str) -> u64 {
    let sites = profile["sites"].as_array().into_iter().flatten();
    sites
        .filter(|site| site["callee"] == callee)
        .filter_map(|site| site["count"].as_u64())
        .sum()
}

#[test]
fn several_threads_are_no_profile_of_the_program() -> Result<()> {
    let (said, profile) = profile("bad_threads", &[], "exit 0")?;
    assert!(said.contains("several threads"), "{said}");
    assert_eq!(profile["complete"], false);
    assert_eq!(count(&profile, "work"), 1, "that of the first thread");
    Ok(())
}

#[test]
fn an_exit_inside_a_spawned_function_leaves_what_completed() -> Result<()> {
    let (said, profile) = profile("bad_exit", &[], "exit 3")?;
    assert!(said.contains("ended inside 2 invocations"), "{said}");
    assert_eq!(profile["complete"], false);
    assert_eq!((count(&profile, "done"), count(&profile, "leave")), (1, 0));
    Ok(())
}

#[test]
fn a_jump_is_told() -> Result<()> {
    let (said, profile) = profile("bad_jump", &[], "exit 0")?;
    assert!(said.contains("2 invocations ended by a jump"), "{said}");
    assert_eq!(profile["complete"], false);
    assert_eq!((count(&profile, "jump"), count(&profile, "after")), (1, 1));
    Ok(())
}

#[test]
fn an_exit_without_cleaning_up_leaves_what_completed() -> Result<()> {
    for (how, outcome) in [
        ("_exit", "exit 5"),
        ("quick_exit", "exit 6"),
        ("exit_group", "exit 8"),
        ("exec", "exit 9"),
    ] {
        let (said, profile) = profile("bad_forever", &[how], outcome)?;
        let told = if how == "exec" {
            "2 invocations have not returned"
        } else {
            "ended inside 2 invocations"
        };
        assert!(said.contains(told), "{said}");
        assert_eq!(profile["complete"], false);
        assert_eq!(
            (count(&profile, "done"), count(&profile, "forever")),
            (2, 0)
        );
    }
    Ok(())
}

#[test]
fn a_copy_of_the_process_leaves_the_profile_alone() -> Result<()> {
    let (said, profile) = profile("bad_forever", &["fork"], "exit 7")?;
    assert_eq!(said.matches("contech: work").count(), 1, "{said}");
    let lines = profile["sites"].as_array().into_iter().flatten();
    let lines: Vec<u64> = lines.filter_map(|site| site["line"].as_u64()).collect();
    assert!(lines.contains(&30) && !lines.contains(&27), "{lines:?}");
    Ok(())
}

#[test]
fn handlers_that_come_in_the_middle_of_events_change_no_count() -> Result<()> {
    let (done, profile) = profiled("handlers", &[], "exit 0")?;
    assert_eq!(profile["complete"], true, "{}", done.err());
    let printed = done.out();
    let printed: Vec<u64> = printed.split_whitespace().flat_map(str::parse).collect();
    let &[sum, rounds, ticks] = printed.as_slice() else {
        anyhow::bail!("printed {printed:?}");
    };
    assert_eq!(sum, 75025);
    // Each round has 2 fib(26) - 1 invocations.
    assert_eq!(count(&profile, "fib"), rounds * 242_785);
    // A handler that interrupts an event or the profiler may be left out, but is never counted in part.
    let (told, tocks) = (count(&profile, "tick"), count(&profile, "tock"));
    assert!(
        told <= ticks && tocks == told * 400,
        "{told} of {ticks}, {tocks}"
    );
    assert!(told > 0, "most handlers are taken");
    Ok(())
}

#[test]
fn a_handler_that_leaves_the_profiler_by_a_jump_leaves_no_profile_and_a_line() -> Result<()> {
    let scratch = Scratch::new("cilk-handlers-jump")?;
    let program = compiled(&scratch, "handlers")?;
    let file = scratch.join("profile.json");
    let done = run(Command::new(&program)
        .arg("jump")
        .env("CONTECH_PROFILE", &file))?;
    let said = done.expect("exit 0")?.err();
    assert!(
        said.contains("a signal handler interrupted the profiler and did not return"),
        "{said}"
    );
    assert!(!file.exists());
    scratch.done();
    Ok(())
}
