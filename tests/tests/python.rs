//! The Python package in an environment that has nothing else, beside the commands.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use contech_tests::once::Once;
use contech_tests::outputs::{Outputs, target_dir, workspace};
use contech_tests::process::{run, run_for};
use contech_tests::python::environment;
use contech_tests::recording::{Recording, files};
use contech_tests::scratch::Scratch;

/// What the package needs, and what it gives tables to.
const PACKAGES: [&str; 2] = ["numpy==2.4.6", "pyarrow==26.0.1"];

/// Ray with what it needs.
const RAY: [&str; 18] = [
    "ray==2.60.0",
    "attrs==26.1.0",
    "certifi==2026.10.18",
    "charset-normalizer==3.5.2",
    "click==8.5.1",
    "filelock==4.2.12",
    "idna==3.20",
    "jsonschema==4.26.0",
    "jsonschema-specifications==2025.9.1",
    "msgpack==1.2.4",
    "packaging==26.3",
    "protobuf==7.36.2",
    "PyYAML==6.0.3",
    "referencing==0.37.0",
    "requests==2.34.2",
    "rpds-py==2026.9.1",
    "typing_extensions==4.16.0",
    "urllib3==2.8.0",
];

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

/// Does what the command does; the first time that the share 2 is run, the worker of Ray is killed in the middle of it.
const KILLS: &str = r#"#!/bin/sh
if [ "$2 $4" = "run 2" ] && mkdir "$MARK" 2> /dev/null; then
    "$BACKEND" "$@" &
    kill -9 $! $PPID
fi
exec "$BACKEND" "$@"
"#;

#[test]
fn four_workers_of_ray_one_of_them_killed_give_the_bytes_of_one_process() -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = with_program("ray-shares")?;
    let mut record = Command::new(scratch.join("sort"));
    record.args(["1000"]).env("OMP_NUM_THREADS", "2");
    let graph = Recording::of(&mut record, &scratch.join("traces"))?.graphs(true)?;
    let graph = graph.first().context("a graph")?;
    let python = environment(&target_dir().join("tmp/contech/ray"), &RAY)?;
    let wrapper = scratch.write("contech-backend", KILLS)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(scratch.dir().to_owned()).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(all)?;
    let backend = Outputs::get().command("contech-backend");
    for analysis in ["cache", "races"] {
        let folder = scratch.join(analysis);
        let mut plan = Command::new(&backend);
        plan.args(["shard", "plan", "--workers", "4", "--graph"]);
        run(plan.arg(graph).arg(&folder).arg(analysis))?.ok()?;
        let mark = scratch.join(format!("{analysis}-killed"));
        let mut drive = Command::new(&python);
        drive
            .arg(workspace().join("python/shard_ray.py"))
            .arg(&folder)
            .arg(scratch.join("merged.json"));
        drive
            .env("PATH", &path)
            .env("BACKEND", &backend)
            .env("MARK", &mark);
        run_for(&mut drive, Duration::from_secs(300))?.ok()?;
        ensure!(mark.is_dir(), "no worker was killed");
        let one = run(Command::new(&backend)
            .arg(analysis)
            .arg(graph)
            .args(["--format", "json"]))?;
        let merged = fs::read(scratch.join("merged.json"))?;
        ensure!(merged == one.ok()?.stdout, "{analysis}: {folder:?}");
    }
    scratch.done();
    Ok(())
}
