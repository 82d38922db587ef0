//! `cargo test-all` checks everything that must hold before a change goes in, on a bare Debian machine, and ends with
//! one line of summary. `cargo test-all --matrix` runs every program in every way it can be compiled, and all random
//! programs; without it each program is compiled in two ways.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Result, bail};
use contech_tests::debian;
use contech_tests::matrix;
use contech_tests::outputs::workspace;
use contech_tests::tally::Tally;

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
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast", "-q"]);
    if whole {
        tests.env(matrix::VARIABLE, "1");
    }
    tally.tests("all crates", &mut tests)?;
    println!("took {:.0} s", begun.elapsed().as_secs_f64());
    println!("{tally}");
    Ok(tally)
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
