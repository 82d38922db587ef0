//! The on-line profile of programs it cannot fully measure: it holds what completed, is marked so,
//! and a line on standard error says so.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use contech_tests::process::{Finished, run};
use contech_tests::scratch::Scratch;
use serde_json::Value;

use crate::cilk::programs::build;

fn compiled(scratch: &Scratch, name: &str) -> Result<PathBuf> {
    build(&format!("{name}.c"), scratch.dir(), &["--contech-mode=workspan", "-pthread"])
}

/// A program that has ended, and the profile it leaves.
fn profiled(name: &str, arguments: &[&str], outcome: &str) -> Result<(Finished, Value)> {
    let scratch = Scratch::new(&format!("cilk-{name}-{}", arguments.concat()))?;
    let program = compiled(&scratch, name)?;
    let file = scratch.join("profile.json");
    let done = run(Command::new(&program).args(arguments).env("CONTECH_PROFILE", &file))?;
    let done = done.expect(outcome)?;
    let profile = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
    scratch.done()?;
    Ok((done, profile))
}

fn count(profile: &Value, callee: &str) -> u64 {
    let sites = profile["sites"].as_array().into_iter().flatten();
    sites.filter(|site| site["callee"] == callee).filter_map(|site| site["count"].as_u64()).sum()
}

/// A program with its arguments, how it ends, what is said, and how often functions were called.
type Cut =
    (&'static str, &'static [&'static str], &'static str, &'static str, [(&'static str, u64); 2]);

const INSIDE: &str = "ended inside 2 invocations";
const LEFT: [(&str, u64); 2] = [("done", 2), ("forever", 0)];

#[rustfmt::skip]
const CUT: [Cut; 7] = [
    // The first thread's calls are counted.
    ("bad_threads", &[], "exit 0", "several threads", [("work", 1), ("work", 1)]),
    ("bad_exit", &[], "exit 3", INSIDE, [("done", 1), ("leave", 0)]),
    ("bad_jump", &[], "exit 0", "2 invocations ended by a jump", [("jump", 1), ("after", 1)]),
    ("bad_forever", &["_exit"], "exit 5", INSIDE, LEFT),
    ("bad_forever", &["quick_exit"], "exit 6", INSIDE, LEFT),
    ("bad_forever", &["exit_group"], "exit 8", INSIDE, LEFT),
    ("bad_forever", &["exec"], "exit 9", "2 invocations have not returned", LEFT),
];

#[test]
fn a_profile_that_is_cut_has_what_completed_and_says_so() -> Result<()> {
    for (name, arguments, outcome, words, counts) in CUT {
        let (done, profile) = profiled(name, arguments, outcome)?;
        let said = done.err();
        assert!(said.contains(words), "{said}");
        assert_eq!(profile["complete"], false);
        for (callee, expected) in counts {
            assert_eq!(count(&profile, callee), expected, "{name} {arguments:?}: {callee}");
        }
    }
    Ok(())
}

#[test]
fn a_copy_of_the_process_leaves_the_profile_alone() -> Result<()> {
    let (done, profile) = profiled("bad_forever", &["fork"], "exit 7")?;
    assert_eq!(done.err().matches("contech: work").count(), 1, "{done}");
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
    // A handler that interrupts an event or the profiler may be left out, but is never counted in
    // part.
    let (told, tocks) = (count(&profile, "tick"), count(&profile, "tock"));
    assert!(told <= ticks && tocks == told * 400, "{told} of {ticks}, {tocks}");
    assert!(told > 0, "most handlers are taken");
    Ok(())
}

#[test]
fn a_handler_that_leaves_the_profiler_by_a_jump_leaves_no_profile_and_a_line() -> Result<()> {
    let scratch = Scratch::new("cilk-handlers-jump")?;
    let program = compiled(&scratch, "handlers")?;
    let file = scratch.join("profile.json");
    let done = run(Command::new(&program).arg("jump").env("CONTECH_PROFILE", &file))?;
    let said = done.expect("exit 0")?.err();
    assert!(
        said.contains("a signal handler interrupted the profiler and did not return"),
        "{said}"
    );
    assert!(!file.exists());
    scratch.done()
}
