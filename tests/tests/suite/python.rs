//! The Python package in an environment that has nothing else, beside the commands.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use contech_tests::once::Once;
use contech_tests::outputs::{home, output, path_from, workspace};
use contech_tests::process::{run, run_for};
use contech_tests::recording::sorted;
use contech_tests::scratch::Scratch;

/// The versions of what builds the package, of what it needs, and of what it gives tables to.
const PACKAGES: [&str; 6] = [
    "maturin==1.16.0",
    "numpy==2.4.6",
    "pyarrow==26.0.1",
    "pandas==3.1.1",
    "polars==2.1.0",
    "duckdb==2.0.0",
];

/// Does for maturin what cargo does, but builds the whole workspace, as [`locate`](contech_tests::outputs::locate) does
/// and for the same reason.
const CARGO: &str = r#"#!/bin/sh
[ "$1" = rustc ] || exec "$REAL_CARGO" "$@"
unset PYO3_PYTHON PYO3_CONFIG_FILE PYO3_ENVIRONMENT_SIGNATURE PYO3_BUILD_EXTENSION_MODULE
PATH=$REAL_PATH exec "$REAL_CARGO" build --release --workspace --message-format=json-render-diagnostics
"#;

/// The interpreter of a new environment, in which pip has built and installed the package.
fn interpreter() -> Result<PathBuf> {
    static MADE: Once<PathBuf> = Once::new();
    MADE.get("package", || {
        home();
        let scratch = Scratch::new("python-wheel")?;
        let python = scratch.join("bin/python");
        let mut make = Command::new("python3");
        run(make.args(["-m", "venv"]).arg(scratch.dir()))?.ok()?;
        let cargo = scratch.write("cargo", CARGO)?;
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755))?;
        let versions = scratch.write("versions", PACKAGES.join("\n"))?;
        let mut install = Command::new(&python);
        install.args(["-m", "pip", "install", "-q", "--no-compile"]);
        install.arg("--disable-pip-version-check");
        install.args(["./python[arrow,pandas]", "polars", "duckdb"]).current_dir(workspace());
        install.env("PIP_CONSTRAINT", versions);
        install.env("REAL_CARGO", env!("CARGO")).env("CARGO", cargo);
        install.env("REAL_PATH", std::env::var_os("PATH").unwrap_or_default());
        run_for(&mut install, Duration::from_secs(600))?.ok()?;
        Ok(python)
    })
}

/// Python in a folder, with the commands on its path.
fn python(scratch: &Scratch) -> Result<Command> {
    let mut command = Command::new(interpreter()?);
    command.env("PATH", path_from(home())?);
    command.env("OMP_NUM_THREADS", "2").current_dir(scratch.dir());
    Ok(command)
}

#[test]
fn the_session_of_the_guide_runs_in_a_new_environment_by_two_commands() -> Result<()> {
    let scratch = Scratch::new("python-session")?;
    let mut session = python(&scratch)?;
    let said = run(session.arg(workspace().join("python/examples/notebook.py")))?.ok()?;
    let parts = |text: &str| -> Vec<bool> {
        let parts = text.split("```python\n").skip(1);
        parts.map(|part| part.contains("```text\n")).collect()
    };
    let guide = fs::read_to_string(workspace().join("docs/src/guide/python.md"))?;
    ensure!(parts(&guide).len() == 4, "{guide}");
    // What says something on the page does so in the run.
    ensure!(parts(&said.out()) == parts(&guide), "{said}");
    ensure!(said.out().contains(" cache lines written"), "{said}");
    scratch.done()
}

#[test]
fn the_package_says_what_the_commands_say() -> Result<()> {
    let scratch = Scratch::new("python-package")?;
    let graph = sorted(&scratch)?;
    let backend = output("contech-backend");
    let mut compare = python(&scratch)?;
    compare.arg(workspace().join("tests/exports/package.py"));
    let compared = run(compare.arg(&graph).arg(backend))?.ok()?;
    ensure!(compared.out().trim() == "as the command says", "{compared}");
    scratch.done()
}

#[test]
fn the_types_of_the_module_are_those_of_its_stub() -> Result<()> {
    let scratch = Scratch::new("python-stub")?;
    let stub = fs::read_to_string(workspace().join("python/contech/_contech.pyi"))?;
    let words = |line: &str| {
        line.trim().strip_prefix("def ").and_then(|rest| Some(rest.split_once('(')?.0.to_owned()))
    };
    let named: Vec<String> =
        stub.lines().filter_map(words).filter(|name| !name.starts_with("__init")).collect();
    let script = "import contech._contech as m, json\n\
        of = lambda c: [n for n in vars(c) if not n.startswith('__') or n in ('__len__', '__iter__', '__next__', '__array_interface__')]\n\
        print(json.dumps(sorted(sum((of(c) for c in vars(m).values() if isinstance(c, type)), []) + [n for n, f in vars(m).items() if callable(f) and not isinstance(f, type)])))";
    let seen = run(python(&scratch)?.args(["-c", script]))?.ok()?;
    let mut seen: Vec<String> = serde_json::from_slice(&seen.stdout).context("names")?;
    let mut named = named;
    seen.retain(|name| !name.starts_with("__pyo3"));
    named.sort();
    seen.sort();
    ensure!(seen == named, "{seen:?}\n{named:?}");
    scratch.done()
}
