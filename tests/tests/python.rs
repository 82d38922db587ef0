//! The Python package in an environment that has nothing else, beside the commands.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::once::Once;
use contech_tests::outputs::{Outputs, target_dir, workspace};
use contech_tests::process::run;
use contech_tests::python::environment;
use contech_tests::recording::files;
use contech_tests::scratch::Scratch;

/// What the package needs, and what it gives tables to.
const PACKAGES: [&str; 2] = ["numpy==2.4.6", "pyarrow==26.0.1"];

/// An interpreter that has the package.
fn interpreter() -> Result<PathBuf> {
    static MADE: Once<PathBuf> = Once::new();
    MADE.get("package", || {
        let python = environment(&target_dir().join("tmp/contech/package"), &PACKAGES)?;
        let scratch = Scratch::new("python-wheel")?;
        let mut make = Command::new(&python);
        make.arg(workspace().join("python/wheel.py"));
        make.arg(Outputs::get().command("libcontech_python.so"));
        run(make.arg(scratch.dir()))?.ok()?;
        let wheels = files(scratch.dir(), "whl")?;
        let mut install = Command::new(&python);
        install.args([
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            "--force-reinstall",
        ]);
        run(install.arg("--disable-pip-version-check").args(wheels))?.ok()?;
        scratch.done();
        Ok(python)
    })
}

/// A folder with the program that the guide records.
fn with_program(name: &str) -> Result<Scratch> {
    let scratch = Scratch::new(name)?;
    let mut build = Command::new(Outputs::get().cc());
    build.args(["-g", "-O1", "-fopenmp"]);
    build.arg(workspace().join("tests/programs/omp_sort.c"));
    run(build.arg("-o").arg(scratch.join("sort")))?.ok()?;
    Ok(scratch)
}

/// Python in a folder, with the commands on its path.
fn python(scratch: &Scratch) -> Result<Command> {
    let mut command = Command::new(interpreter()?);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(Outputs::get().dir().to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all)?);
    command
        .env("OMP_NUM_THREADS", "2")
        .current_dir(scratch.dir());
    Ok(command)
}

#[test]
fn the_session_of_the_guide_runs_and_the_package_says_what_the_commands_say() -> Result<()> {
    let scratch = with_program("python-session")?;
    let guide = fs::read_to_string(workspace().join("docs/src/guide/python.md"))?;
    let blocks = guide.split("```python\n").skip(1);
    let code: Vec<&str> = blocks
        .filter_map(|block| Some(block.split_once("```")?.0))
        .collect();
    ensure!(code.len() == 4, "{} parts", code.len());
    let session = scratch.write("session.py", code.concat())?;
    let said = run(python(&scratch)?.arg(session))?.ok()?.out();
    ensure!(
        said.contains(" contexts, ") && said.contains(" cache lines written"),
        "{said}"
    );
    let graph = scratch.join("out/graph.tg");
    ensure!(graph.exists(), "no graph");
    let backend = Outputs::get().command("contech-backend");
    let mut compare = python(&scratch)?;
    compare.arg(workspace().join("tests/exports/package.py"));
    let compared = run(compare.arg(&graph).arg(backend))?.ok()?;
    ensure!(compared.out().trim() == "as the command says", "{compared}");
    scratch.done();
    Ok(())
}

#[test]
fn the_types_of_the_module_are_those_of_its_stub() -> Result<()> {
    let scratch = Scratch::new("python-stub")?;
    let stub = fs::read_to_string(workspace().join("python/contech/_contech.pyi"))?;
    let words = |line: &str| {
        line.trim()
            .strip_prefix("def ")
            .and_then(|rest| Some(rest.split_once('(')?.0.to_owned()))
    };
    let named: Vec<String> = stub
        .lines()
        .filter_map(words)
        .filter(|name| !name.starts_with("__init"))
        .collect();
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
    scratch.done();
    Ok(())
}
