//! The oracle can fail: with one rule of the fast form broken on purpose (`CONTECH_PLANTED_BUG`, see
//! `instrument/src/fast/planted.rs`), `--contech-check` reports mismatches and says where.

use std::process::Command;

use anyhow::{Context, Result};
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run;
use contech_tests::recording::{Recording, middle};
use contech_tests::scratch::Scratch;
use serde_json::Value;

/// Runs `oracle/planted.c` with this bug planted; returns the comparison, what the compiler said, and the exit code
/// of the middle.
fn check(bug: Option<&str>) -> Result<(Value, String, String)> {
    let scratch = Scratch::new(&format!("planted/{}", bug.unwrap_or("none")))?;
    let executable = scratch.join("prog");
    let mut compile = Command::new(Outputs::get().cc());
    compile
        .args(["--contech-check", "-g", "-O1", "-o"])
        .arg(&executable);
    compile.arg(workspace().join("tests/oracle/planted.c"));
    if let Some(bug) = bug {
        compile.env("CONTECH_PLANTED_BUG", bug);
    }
    let compiled = run(&mut compile)?.ok()?;
    let recording = Recording::of(&mut Command::new(&executable), &scratch.join("traces"))?;
    recording.run.clone().ok()?;
    let trace = recording.traces.first().context("a trace")?;
    let done = middle(trace, &trace.with_extension("tg"))?;
    let said: Value = serde_json::from_slice(&done.stdout).with_context(|| done.to_string())?;
    scratch.done();
    Ok((said["check"].clone(), compiled.err(), done.outcome()))
}

#[test]
fn without_a_planted_bug_nothing_differs() -> Result<()> {
    let (check, said, outcome) = check(None)?;
    assert_eq!((said.as_str(), outcome.as_str()), ("", "exit 0"), "{check}");
    assert_eq!(check["mismatches"], 0, "{check}");
    assert!(check["compared"].as_u64() > Some(20), "{check}");
    Ok(())
}

/// Checks that the bug shows in the function of its name, and that the difference names function, line, operation and
/// both addresses (or, for blocks, both blocks).
fn is_caught(bug: &str, words: &[&str]) -> Result<()> {
    let (check, said, outcome) = check(Some(bug))?;
    assert!(
        said.contains("is planted"),
        "the compiler keeps silent: {said}"
    );
    assert_eq!(outcome, "exit 3", "{check}");
    assert!(check["mismatches"].as_u64() > Some(0), "{bug}: {check}");
    let differences = check["differences"].as_array().context("differences")?;
    let place = format!("({bug}, ");
    let shown = differences
        .iter()
        .filter_map(Value::as_str)
        .find(|d| d.contains(&place));
    let shown = shown.with_context(|| format!("nothing in {bug}(): {check}"))?;
    for word in words.iter().chain(&["planted.c:", "context 0, execution "]) {
        assert!(shown.contains(word), "`{word}` is not in: {shown}");
    }
    Ok(())
}

#[test]
fn an_address_that_is_one_byte_off_is_caught() -> Result<()> {
    is_caught("delta", &["load of 8 bytes", "recorded 0x", "naive 0x"])
}

#[test]
fn a_trip_count_that_is_one_too_high_is_caught() -> Result<()> {
    is_caught("count", &["recorded block ", "naive block "])
}

#[test]
fn a_value_that_was_recorded_on_another_way_is_caught() -> Result<()> {
    is_caught("dominance", &["load of 8 bytes", "recorded 0x", "naive 0x"])
}

#[test]
fn an_index_recorded_in_too_few_bytes_is_caught() -> Result<()> {
    is_caught("width", &["load of 8 bytes", "recorded 0x", "naive 0x"])
}
