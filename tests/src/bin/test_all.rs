//! `cargo test-all` checks everything that must hold before a change goes in, on a bare Debian machine, and ends with
//! one line of summary. `cargo test-all --matrix` runs every program in every way it can be compiled, and all random
//! programs; without it each program is compiled in one way, which another commit takes in turn.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use contech_tests::debian;
use contech_tests::matrix;
use contech_tests::outputs::workspace;
use contech_tests::tally::{Tally, Tests};
use serde_json::Value;

/// Tests that take longest. They begin first, so that none of them is alone at the end.
const LONG: [&str; 5] = [
    "tests/suite",
    "tests/programs",
    "tests/real_programs",
    "tests/random_programs",
    "tests/checked_programs",
];

fn main() -> ExitCode {
    match run() {
        Ok(tally) if tally.failed == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Tally> {
    let whole = arguments()?;
    let begun = Instant::now();
    debian::ensure(&debian::TEST_PACKAGES)?;
    let mut tally = Tally::default();
    tally.check("format", cargo().args(["fmt", "--all", "--check"]))?;
    let strict = [
        "clippy",
        "--workspace",
        "--all-targets",
        "-q",
        "--",
        "-D",
        "warnings",
    ];
    tally.check("clippy", cargo().args(strict))?;
    let mut docs = cargo();
    docs.env("RUSTDOCFLAGS", "-D warnings")
        .args(["doc", "--workspace", "--no-deps", "-q"]);
    tally.check("docs", &mut docs)?;
    // The integration tests use the release build, which is what the user gets.
    tally.check(
        "release build",
        cargo().args(["build", "--workspace", "--release", "-q"]),
    )?;
    tally.tests(tests(whole)?)?;
    println!("took {:.0} s", begun.elapsed().as_secs_f64());
    println!("{tally}");
    Ok(tally)
}

/// Builds all tests; the commands that run them. Each test binary runs one test at a time, because as many binaries run
/// at once as there are processors: whatever waits in one of them, the others go on.
fn tests(whole: bool) -> Result<Vec<Tests>> {
    let mut build = cargo();
    build.args(["test", "--workspace", "--no-run", "-q"]);
    build.arg("--message-format=json-render-diagnostics");
    let built = build.stderr(Stdio::inherit()).output()?;
    if !built.status.success() {
        bail!("the tests do not compile");
    }
    let mut all = Vec::new();
    for message in built.stdout.split(|byte| *byte == b'\n') {
        all.extend(binary(message)?);
    }
    let mut examples = cargo();
    examples.args(["test", "--workspace", "--doc", "-q", "--no-fail-fast"]);
    all.push(("examples of the documentation".to_owned(), examples));
    all.sort_by_key(|(name, _)| {
        LONG.iter()
            .position(|long| long == name)
            .unwrap_or(LONG.len())
    });
    if whole {
        for (_, command) in &mut all {
            command.env(matrix::VARIABLE, "1");
        }
    }
    Ok(all)
}

/// The test binary of which a message of cargo speaks, if it speaks of one.
fn binary(message: &[u8]) -> Result<Option<Tests>> {
    if message.is_empty() {
        return Ok(None);
    }
    let message: Value = serde_json::from_slice(message).context("cargo's message")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (file, manifest) = (
        text(&message["executable"]),
        text(&message["manifest_path"]),
    );
    if file.is_empty() || message["profile"]["test"] != true {
        return Ok(None);
    }
    let folder = Path::new(&manifest).parent().context("a folder")?;
    let mut command = Command::new(file);
    command.arg("--test-threads=1");
    command.current_dir(folder);
    let package = folder.file_name().unwrap_or_default().display();
    let name = format!("{package}/{}", text(&message["target"]["name"]));
    Ok(Some((name, command)))
}

fn arguments() -> Result<bool> {
    let mut whole = false;
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--matrix" => whole = true,
            other => bail!("unknown argument {other}; usage: cargo test-all [--matrix]"),
        }
    }
    Ok(whole)
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    command
}
