//! A recorded program's allocations lie as they do natively: two counters in one cache line, or in two, decide how it
//! scales.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;

fn build(scratch: &Scratch, compiler: &Path, options: &[&str], to: &str) -> Result<Command> {
    let to = scratch.join(to);
    let mut command = Command::new(compiler);
    command
        .args(options)
        .args(["-O2", "-pthread"])
        .arg(workspace().join("tests/programs/heap_places.cpp"))
        .arg("-o")
        .arg(&to);
    run(&mut command)?.ok()?;
    Ok(Command::new(to))
}

#[test]
fn allocations_are_where_they_are_natively() -> Result<()> {
    let scratch = Scratch::new("heap")?;
    let outputs = Outputs::get();
    let native = |to| build(&scratch, Path::new("clang++-22"), &[], to);
    let expected = run(&mut native("native")?)?.ok()?.out();

    let observer = outputs.command("libcontech_observe.so");
    let mut observed = native("observed")?;
    observed
        .env("LD_PRELOAD", &observer)
        .env("CONTECH_OBSERVE", scratch.join("run.obs"));
    let found = run(&mut observed)?.ok()?.out();
    ensure!(found == expected, "observed:\n{found}natively:\n{expected}");

    let contech = outputs.command("contech-c++");
    for mode in ["full", "sync"] {
        let mut recorded = build(
            &scratch,
            &contech,
            &[&format!("--contech-mode={mode}")],
            mode,
        )?;
        recorded.env("CONTECH_TRACE", scratch.join("trace.bin"));
        let found = run(&mut recorded)?.ok()?.out();
        ensure!(found == expected, "{mode}:\n{found}natively:\n{expected}");
    }
    scratch.done();
    Ok(())
}
