//! `contech scale` on a real program under the real observer, and on stored measurements of it: the
//! first finding names what is planted.

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::{tool, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

/// The result of `contech scale` for the program with a lock.
fn scale(scratch: &Scratch) -> Result<Value> {
    let program = scratch.join("planted");
    let source = workspace().join("tests/programs/scale/planted.c");
    let flags = ["-O2", "-g", "-fopenmp", "-pthread"];
    Toolchain::native().compile(&source, &flags, &program)?;
    let mut command = tool("contech");
    command
        .args(["scale", "--threads", "1,2", "--repeat", "1", "--format", "json", "--no-pin", "--"])
        .arg(&program)
        .args(["{threads}", "lock"]);
    run(&mut command)?.ok()?.json()
}

/// The result of `contech scale` for a run that was measured before, on a machine with two
/// processors. The times are that machine's, so a busy machine does not change the result.
fn recorded(variant: &str) -> Result<Value> {
    let measurement = workspace().join(format!("tests/programs/scale/planted.{variant}.json"));
    let mut command = tool("contech");
    command.args(["scale", "--format", "json", "--from"]);
    run(command.arg(measurement))?.ok()?.json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// P T = W + I, with two threads.
fn identity(report: &Value) -> f64 {
    let point = &report["points"][1];
    2.0 * number(&point["t"]) - number(&point["work"]) - number(&point["idle"])
}

#[test]
fn the_first_finding_names_what_is_planted_and_its_share() -> Result<()> {
    // Shares of the time of two processors: half of it waits for the lock; 240 of 640 ms; 200 of
    // 600 ms.
    for (variant, cause, least, most) in [
        ("lock", "lock", 0.3, 0.6),
        ("imbalance", "imbalance", 0.25, 0.5),
        ("serial", "serialization", 0.2, 0.45),
    ] {
        let report = recorded(variant)?;
        let first = &report["findings"][0];
        ensure!(first["cause"] == cause, "{variant}: {:#}", report["findings"]);
        let share = first["share"].as_f64().context("a share")?;
        ensure!((least..most).contains(&share), "{variant}: {share}");
        ensure!(identity(&report).abs() < 1e-9, "{variant}");
    }
    Ok(())
}

#[test]
fn places_are_source_lines() -> Result<()> {
    let scratch = Scratch::new("scale-places")?;
    let report = scale(&scratch)?;
    // The sizes of the findings depend on the machine, but the threads waited for the lock on any
    // machine.
    let findings = report["findings"].as_array().context("findings")?;
    let at_the_lock = |f: &Value| {
        let place = f["where"].as_str().unwrap_or_default();
        f["cause"] == "lock" && place.starts_with("body (planted.c:")
    };
    ensure!(findings.iter().any(at_the_lock), "{:#}", report["findings"]);
    ensure!(identity(&report).abs() < 1e-9, "{report:#}");
    Ok(())
}

#[test]
fn a_variant_without_the_plant_has_half_the_time_and_no_such_finding() -> Result<()> {
    let report = recorded("fixed")?;
    let speedup = report["points"][1]["speedup"]["actual"].as_f64().context("a speedup")?;
    ensure!(speedup > 1.5, "{speedup}");
    let findings = report["findings"].as_array().context("findings")?;
    for cause in ["lock", "imbalance", "serialization"] {
        let large =
            |f: &&Value| f["cause"] == cause && f["share"].as_f64().is_some_and(|s| s > 0.2);
        ensure!(findings.iter().find(large).is_none(), "{:#}", report["findings"]);
    }
    Ok(())
}
