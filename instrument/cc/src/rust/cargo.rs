//! The command `cargo contech`: cargo with our program in front of rustc, and `contech run` in
//! front of what runs.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::SystemTime;

use contech_plain::say;
use serde_json::Value;

use super::link::{Maker, REPORT};
use super::rustc;
use super::store;
use super::toolchain::{HOST, Toolchain};
use crate::response::{option, value};
use crate::{Error, Options, help, locate};

/// The first argument of this program when cargo has it run a program that was built.
const RUNS: &str = "--runs";
/// Cargo's variable for a program in front of rustc.
const WRAPPER: &str = "RUSTC_WRAPPER";
/// Where results go.
const OUTPUT: &str = "contech-out";

const HELP: &str = "\
cargo contech: cargo for Rust programs that record their task graph.
Usage: cargo contech build|run|test|bench|install [cargo's own arguments] [-- the program's own]

  build    builds programs that record themselves, in the folder contech of the target folder
  run      builds and runs one, makes the graph and the report in contech-out, as contech run does
  test     the same for each test program, in contech-out/NAME; documentation tests are not run
  bench    the same for each benchmark
  install  builds the programs of a crate of the registry, which go to the folder bin of --root FOLDER

The crates of the program and the standard library are instrumented, but not build scripts and procedural macros.
CONTECH_OPTIONS has the options of contech-cc (contech-cc --contech-help).
";

/// Runs the command on the process's arguments.
#[must_use]
pub fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let result = match arguments.next() {
        Some(first) if first == "contech" => front(arguments.collect()),
        Some(first) if first == RUNS => runs(arguments.collect()),
        Some(first) if first == "--version" => front(vec![first]),
        Some(first) if !first.to_string_lossy().starts_with('-') => {
            rustc::run(first, &arguments.collect::<Vec<_>>())
        }
        _ => front(Vec::new()),
    };
    result.unwrap_or_else(|error| {
        say!("cargo contech: {error}");
        ExitCode::FAILURE
    })
}

/// Runs cargo.
fn front(mut arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let asked = arguments.first().and_then(|a| a.to_str());
    let asked = asked.unwrap_or("--help").to_owned();
    let tests = match asked.as_str() {
        "build" | "b" | "run" | "r" => false,
        "test" | "t" | "bench" => true,
        "install" if !has(&arguments, "--root") => {
            return Err(Error::Cargo(
                "install needs --root FOLDER, so that no program is replaced by a recorded one"
                    .to_owned(),
            ));
        }
        "install" => false,
        "--help" | "-h" | "help" => {
            crate::print(HELP);
            return Ok(ExitCode::SUCCESS);
        }
        "--version" | "-V" => {
            crate::print(&format!("cargo-contech {}\n", help::version()));
            return Ok(ExitCode::SUCCESS);
        }
        other => {
            return Err(Error::Cargo(format!(
                "{other} is not one of build, run, test, bench and install (cargo contech --help)"
            )));
        }
    };
    let installs = asked == "install";
    let builds = installs || matches!(asked.as_str(), "build" | "b");
    let (options, _) = Options::given(Vec::new())?;
    let toolchain = Toolchain::of_cargo()?;
    let end = arguments.iter().position(|a| a == "--");
    let own = arguments.split_off(end.unwrap_or(arguments.len()));
    for_this_machine(&mut arguments)?;
    let folder = match taken(&mut arguments, "--target-dir") {
        Some(folder) => PathBuf::from(folder),
        // There is no package here whose target folder it could be.
        None if installs => store::cache(store::INSTALLS),
        None => target_folder(value(&arguments, "--manifest-path"))?,
    };
    let folder = std::path::absolute(folder.join("contech")).unwrap_or(folder);
    let root = value(&arguments, "--root").map(|root| Path::new(root).join("bin"));
    let programs = folder.join(HOST);
    let maker = Maker::new(options)?;
    renew(&folder, &programs, &maker.identity()?)?;
    toolchain.prepare(&maker)?;
    if tests && !SELECTED.iter().any(|s| has(&arguments, s)) {
        arguments.push(if asked == "bench" { "--benches" } else { "--tests" }.into());
    }
    let cargo = cargo();
    let this =
        std::env::current_exe().map_err(|cause| Error::file(Path::new("cargo-contech"), cause))?;
    let mut command = Command::new(&cargo);
    let wrapper = std::env::var_os(WRAPPER).unwrap_or_default();
    let quoted = |word: &OsStr| Value::from(word.to_string_lossy()).to_string();
    let this_quoted = quoted(this.as_os_str());
    let runner = format!("[{this_quoted}, {RUNS:?}, {}]", quoted(&wrapper));
    command
        .args(&arguments[..1])
        .args(["--target", HOST, "--target-dir"])
        .arg(&folder)
        .arg("--config")
        .arg(format!("build.build-dir={}", quoted(folder.as_os_str())))
        .arg("--config")
        .arg(format!("build.rustc-wrapper={this_quoted}"))
        .arg("--config")
        .arg(format!("target.{HOST}.runner={runner}"))
        .args(&arguments[1..])
        .args(own);
    if !wrapper.is_empty() {
        // Cargo prefers the variable to the configuration. The program that runs gets it back.
        command.env(WRAPPER, &this);
    }
    let begun = SystemTime::now();
    let status = command.status().map_err(|cause| Error::Exec { program: cargo.into(), cause })?;
    if builds && status.success() {
        tell_of_links(&programs, begun, root.filter(|_| installs).as_deref());
    }
    Ok(crate::exit_code(status))
}

/// The cargo that asked for this, or the user's.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// What a test run may be restricted to. Without one of these, documentation tests are left out.
const SELECTED: [&str; 9] = [
    "--lib",
    "--bin",
    "--bins",
    "--example",
    "--examples",
    "--test",
    "--tests",
    "--bench",
    "--benches",
];

fn has(arguments: &[OsString], flag: &str) -> bool {
    let is = |a: &OsString| {
        a.to_str()
            .is_some_and(|a| a == flag || a.strip_prefix(flag).is_some_and(|r| r.starts_with('=')))
    };
    arguments.iter().any(is)
}

/// The value of an option, which is taken out of the arguments.
fn taken(arguments: &mut Vec<OsString>, flag: &str) -> Option<OsString> {
    let (at, words, value) = option(arguments, flag)?;
    let value = value.to_owned();
    arguments.drain(at..at + words);
    Some(value)
}

/// Takes `--target` out of the arguments. Refuses another machine than the host.
fn for_this_machine(arguments: &mut Vec<OsString>) -> Result<(), Error> {
    let (targets, which, advice) = match taken(arguments, "--target") {
        Some(target) => {
            let target = target.to_string_lossy().into_owned();
            (vec![target], "", "leave --target out".to_owned())
        }
        None => (
            configured_targets(),
            " (build.target of cargo's configuration)",
            format!("add --target {HOST}"),
        ),
    };
    let other = targets.iter().find(|t| *t != HOST && *t != "host-tuple");
    other.map_or(Ok(()), |other| {
        Err(Error::Cargo(format!(
            "programs for {other}{which} cannot be recorded, only programs for {HOST}: {advice}"
        )))
    })
}

/// The machines that cargo's configuration names, in a file or in `CARGO_BUILD_TARGET`.
fn configured_targets() -> Vec<String> {
    let mut ask = Command::new(cargo());
    ask.args("-Zunstable-options config get --format json-value build.target".split(' '));
    // Only nightly toolchains show their configuration unasked.
    let said = ask.env("RUSTC_BOOTSTRAP", "1").output();
    let said = said.ok().and_then(|said| serde_json::from_slice(&said.stdout).ok());
    let named = match said {
        Some(Value::Array(all)) => all,
        said => said.into_iter().collect(),
    };
    let names = named.iter().filter_map(|name| name.as_str());
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Cargo's target folder for this package.
fn target_folder(manifest: Option<&OsStr>) -> Result<PathBuf, Error> {
    let cargo = cargo();
    let mut ask = Command::new(&cargo);
    ask.args(["metadata", "--no-deps", "--format-version=1"]);
    ask.args(manifest.map(|m| [OsStr::new("--manifest-path"), m]).into_iter().flatten());
    let output = ask.output().map_err(|cause| Error::Exec { program: cargo.into(), cause })?;
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim().trim_start_matches("error: ");
    let read = serde_json::from_slice::<Value>(&output.stdout).ok();
    let folder = read.as_ref().and_then(|v| v["target_directory"].as_str());
    folder.map(PathBuf::from).ok_or_else(|| Error::Cargo(said.to_owned()))
}

/// Removes the programs that another pass or other options made, because cargo knows of neither.
fn renew(folder: &Path, programs: &Path, identity: &str) -> Result<(), Error> {
    let mark = folder.join("made-by");
    if fs::read_to_string(&mark).is_ok_and(|by| by == identity) {
        return Ok(());
    }
    if programs.is_dir() {
        fs::remove_dir_all(programs).map_err(|cause| Error::file(programs, cause))?;
    }
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&mark, identity))
        .map_err(|cause| Error::file(&mark, cause))
}

/// Says where the programs are (in the folder they were installed to, if there is one) and what was
/// left out of those that were linked since `begun`.
fn tell_of_links(programs: &Path, begun: SystemTime, installed: Option<&Path>) {
    let folders = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|e| e.path()).collect::<Vec<_>>()
    };
    let mut lines = BTreeSet::new();
    for profile in folders(programs) {
        for link in ["deps", "examples"].iter().flat_map(|f| folders(&profile.join(f))) {
            let report = link.join(REPORT);
            let new = report.metadata().and_then(|m| m.modified()).is_ok_and(|at| at >= begun);
            if new {
                let text = fs::read_to_string(report).unwrap_or_default();
                lines.extend(text.lines().skip(1).map(str::to_owned));
            }
        }
    }
    for line in lines {
        say!("contech: {line}");
    }
    say!(
        "contech: the programs are below {}; contech run -- PROGRAM records one",
        installed.unwrap_or(programs).display()
    );
}

/// Records the program that cargo would run: the variable of cargo that this command set, the
/// program, its arguments.
fn runs(arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let [wrapper, program, own @ ..] = arguments.as_slice() else {
        return Err(Error::Cargo("cargo names no program to run".to_owned()));
    };
    let path = Path::new(program);
    let tested = path.parent().is_some_and(|p| p.ends_with("deps"));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let output = match name.rsplit_once('-') {
        Some((name, _)) if tested => Path::new(OUTPUT).join(name),
        _ => PathBuf::from(OUTPUT),
    };
    if let Some(report) = report_of(path) {
        for line in report.lines() {
            say!("contech: {line}");
        }
    }
    let contech = locate::find("contech")?;
    let mut command = Command::new(&contech);
    command.arg("run").arg("-o").arg(output).arg("--").arg(program).args(own);
    if !wrapper.is_empty() {
        command.env(WRAPPER, wrapper);
    }
    let cause = command.exec();
    Err(Error::Exec { program: contech, cause })
}

/// What the link of a program said. Cargo gives programs a second name, so it is found by the file.
fn report_of(program: &Path) -> Option<String> {
    let read =
        |file: &Path| fs::read_to_string(file.with_added_extension("contech").join(REPORT)).ok();
    if let Some(report) = read(program) {
        return Some(report);
    }
    let this = program.metadata().ok()?;
    let same = |file: &PathBuf| {
        let other = file.metadata().ok();
        other.is_some_and(|other| (other.dev(), other.ino()) == (this.dev(), this.ino()))
    };
    let folder = program.parent()?;
    let deps = fs::read_dir(folder.join("deps")).into_iter().flatten().flatten();
    let beside = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = deps.chain(beside).map(|entry| entry.path());
    files.find(|file| file.is_file() && file != program && same(file)).and_then(|file| read(&file))
}
