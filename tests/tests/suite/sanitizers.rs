//! Programs built with a sanitizer and the drivers together: their output is that without the recording, and the
//! sanitizer finds nothing in the code that records.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use contech_tests::process::run;
use contech_tests::program::is_cxx;
use contech_tests::recording::Recording;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// They use threads, mutexes and conditions, spin locks, atomic operations, and exceptions.
const PROGRAMS: [&str; 5] = [
    "create_join.c",
    "queue.c",
    "spin.c",
    "atomic_kinds.c",
    "cxx_exceptions.cpp",
];

fn build(tools: &Toolchain, sanitizer: &str, source: &Path, to: &Path) -> Result<()> {
    let mut command = Command::new(tools.compiler(is_cxx(source)));
    command.args(["-O1", "-g", "-w", "-pthread"]);
    command.arg(format!("-fsanitize={sanitizer}"));
    run(command.arg(source).arg("-o").arg(to))?.ok()?;
    Ok(())
}

fn as_natively(sanitizer: &str) -> Result<()> {
    let scratch = Scratch::new(&format!("sanitizers/{sanitizer}"))?;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    for name in PROGRAMS {
        let source = programs.join(name);
        let dir = scratch.subdir(name)?;
        let (native, recorded) = (dir.join("native"), dir.join("recorded"));
        build(&Toolchain::native(), sanitizer, &source, &native)?;
        build(&Toolchain::contech(), sanitizer, &source, &recorded)?;
        let wanted = run(&mut Command::new(&native))?;
        let recording = Recording::of(&mut Command::new(&recorded), &dir.join("traces"))?;
        let got = &recording.run;
        if got.outcome() != wanted.outcome()
            || got.stdout != wanted.stdout
            || got.stderr != wanted.stderr
        {
            bail!("{name}: natively {wanted}, recorded {got}");
        }
        if recording.graphs(true)?.is_empty() {
            bail!("{name}: nothing was recorded");
        }
    }
    scratch.done();
    Ok(())
}

#[test]
fn the_thread_sanitizer_reports_what_it_does_natively() -> Result<()> {
    as_natively("thread")
}

#[test]
fn the_address_sanitizer_reports_what_it_does_natively() -> Result<()> {
    as_natively("address")
}

#[test]
fn the_undefined_behaviour_sanitizer_reports_what_it_does_natively() -> Result<()> {
    as_natively("undefined")
}
