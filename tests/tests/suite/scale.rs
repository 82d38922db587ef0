//! `contech scale` on a real program under the real observer. (What is found in a measurement is
//! the laboratory's business.)

use anyhow::{Context, Result, ensure};
use contech_tests::outputs::{tool, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

#[test]
fn places_are_source_lines() -> Result<()> {
    let scratch = Scratch::new("scale-places")?;
    let program = scratch.join("planted");
    let source = workspace().join("tests/programs/scale/planted.c");
    let flags = ["-O2", "-g", "-fopenmp", "-pthread"];
    Toolchain::native().compile(&source, &flags, &program)?;
    let mut command = tool("contech");
    command
        .args(["scale", "--threads", "1,2", "--repeat", "1", "--format", "json", "--no-pin", "--"])
        .arg(&program)
        .arg("{threads}");
    let report = run(&mut command)?.ok()?.json()?;
    // The sizes of the findings depend on the machine, but the threads waited for the lock on any
    // machine.
    let findings = report["findings"].as_array().context("findings")?;
    let at_the_lock = |f: &Value| {
        let place = f["where"].as_str().unwrap_or_default();
        f["cause"] == "lock" && place.starts_with("body (planted.c:")
    };
    ensure!(findings.iter().any(at_the_lock), "{:#}", report["findings"]);
    // P T = W + I, with two threads.
    let number = |name: &str| report["points"][1][name].as_f64().context(name.to_owned());
    let rest = 2.0 * number("t")? - number("work")? - number("idle")?;
    ensure!(rest.abs() < 1e-9, "{report:#}");
    scratch.done()
}
