//! `cargo test-all` checks everything that must hold before a change goes in, on a bare Debian
//! machine, and ends with one line of summary. `cargo test-all --matrix` runs every program in
//! every way it can be compiled, and all random programs; without it each program is compiled in
//! one way, which another commit takes in turn. `cargo test-all --all` also runs trials that have
//! passed with the same tools (`tests/src/verdict.rs`).

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use contech_tests::debian;
use contech_tests::matrix;
use contech_tests::outputs::{BUILT, cargo};
use contech_tests::process::exit;
use contech_tests::tally::{Tally, Tests};
use contech_tests::verdict;
use serde_json::Value;

/// Tests that take longest. They begin first, so that none of them is alone at the end.
const LONG: [&str; 7] = [
    "tests/programs",
    "tests/suite",
    "backends/suite",
    "tests/docs",
    "tests/real_programs",
    "tests/heavy",
    "tests/real_rust",
];

const MATRIX: &str = "--matrix";
const ALL: &str = "--all";

fn main() -> ExitCode {
    exit(run().map(|tally| tally.failed == 0))
}

fn run() -> Result<Tally> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let known = [MATRIX, ALL];
    if let Some(other) = asked.iter().find(|asked| !known.contains(&asked.as_str())) {
        bail!("unknown argument {other}; usage: cargo test-all [--matrix] [--all]");
    }
    let asks = |word| asked.iter().any(|asked| asked == word);
    let (matrix, all) = (asks(MATRIX), asks(ALL));
    let begun = Instant::now();
    debian::ensure(&debian::TEST_PACKAGES)?;
    let mut tally = Tally::default();
    tally.check("format", cargo().args(["fmt", "--all", "--check"]))?;
    let (mut phases, mut last) = (Vec::new(), Instant::now());
    let mut ends = |phase| {
        phases.push(format!("{phase} {:.0} s", last.elapsed().as_secs_f64()));
        last = Instant::now();
    };
    // The tests use the release build, which is what the user gets, and are a part of it: so what
    // everything depends on is built once, and all processors have work to the end.
    let tests = tests(matrix, all)?;
    ends("build");
    let mut strict = in_release("clippy");
    strict.args(["--all-targets", "--", "-D", "warnings"]);
    tally.check("clippy", &mut strict)?;
    ends("clippy");
    let mut docs = in_release("doc");
    docs.env("RUSTDOCFLAGS", "-D warnings").arg("--no-deps");
    tally.check("docs", &mut docs)?;
    ends("docs");
    tally.tests(tests)?;
    ends("tests");
    println!("took {}", phases.join(", "));
    println!("took {:.0} s", begun.elapsed().as_secs_f64());
    println!("{tally}");
    Ok(tally)
}

/// Builds all that users get and all tests; the commands that run these. Each test binary runs one
/// test at a time, because as many binaries run at once as there are processors: whatever waits in
/// one of them, the others go on.
fn tests(matrix: bool, again: bool) -> Result<Vec<Tests>> {
    let mut build = in_release("build");
    build.args(["--lib", "--bins", "--examples", "--tests"]);
    build.arg("--message-format=json-render-diagnostics");
    let built = build.stderr(Stdio::inherit()).output()?;
    if !built.status.success() {
        bail!("the tools and the tests do not compile");
    }
    let mut all = Vec::new();
    for message in built.stdout.split(|byte| *byte == b'\n') {
        all.extend(binary(message)?);
    }
    let mut examples = in_release("test");
    examples.args(["--doc", "--no-fail-fast"]);
    all.push(("examples of the documentation".to_owned(), examples));
    if matrix {
        // What the compiler checks in no release build: overflow and assertions.
        let mut checked = cargo();
        checked.args(["test", "--workspace", "-q", "--no-fail-fast", "--lib"]);
        all.push(("units with assertions".to_owned(), checked));
    }
    all.sort_by_key(|(name, _)| LONG.iter().position(|long| long == name).unwrap_or(LONG.len()));
    for (_, command) in &mut all {
        command.env(BUILT, "1");
        command.envs(matrix.then_some((matrix::VARIABLE, "1")));
        command.envs(again.then_some((verdict::ALL, "1")));
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
    let (file, manifest) = (text(&message["executable"]), text(&message["manifest_path"]));
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

/// A command of cargo for the whole workspace.
fn in_release(name: &str) -> Command {
    let mut command = cargo();
    command.args([name, "--workspace", "--release", "-q"]);
    command
}
