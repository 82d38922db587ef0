//! What costs more to set up than to run: the fuzzer for every reader (`tests/fuzz`), Ray, and what
//! the registry of crates would take. Ray and the registry are tried when one of the last commits
//! changed what they depend on. The fuzzer is built with coverage and with all assertions; it runs
//! with `cargo test-all --matrix`, as the others do, too, and if the command line names it. Each
//! run of the tests reads damaged files all the same (`tests/fuzz/tests/regressions.rs`).
//!
//! The fuzzer reads the same inputs each time, as many as take some seconds. A run of any length:
//! `cargo run --release -p contech-tests --bin fuzz -- graph -max_total_time=3600`. It leaves what
//! it finds in the folder that it names.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use contech_tests::matrix::{changed_lately, whole};
use contech_tests::outputs::{output, path_from, target_dir, workspace};
use contech_tests::process::{run, run_for};
use contech_tests::python::environment;
use contech_tests::recording::sorted;
use contech_tests::scratch::Scratch;
use contech_tests::verdict::always;
use libtest_mimic::{Arguments, Trial};

/// Readers, and how many inputs each has.
const READERS: [(&str, u32); 4] = [
    ("trace", 15_000),
    // Whatever the trace, a graph that is written is sound.
    ("middle", 1_000),
    // What `verify` finds sound is read.
    ("graph", 15_000),
    ("profile", 20_000),
];

/// What the driver for Ray depends on.
const SHARES: [&str; 5] = [
    "python/shard_ray.py",
    "backends/src/cli/shard.rs",
    "backends/src/cli/division.rs",
    "backends/analyses/src/analysis/divided.rs",
    "backends/analyses/src/analysis/pieces.rs",
];

/// What is published.
const PUBLISHED: [&str; 2] = ["Cargo.toml", "taskgraph"];

fn main() {
    let arguments = Arguments::from_args();
    let named = arguments.filter.is_some();
    let mut trials = Vec::new();
    let mut add = |trial: Trial, due: bool| trials.push(trial.with_ignored_flag(!due && !named));
    let name = "four_workers_of_ray_one_of_them_killed_give_the_bytes_of_one_process".to_owned();
    add(always(name, four_workers_of_ray), changed_lately(&SHARES));
    let name = "the_library_and_what_it_needs_can_be_published".to_owned();
    add(always(name, can_be_published), changed_lately(&PUBLISHED));
    for (reader, inputs) in READERS {
        add(always(format!("fuzz::{reader}"), move || is_read(reader, inputs)), whole());
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Runs inputs. They must reach more places in the code than the seeds alone.
fn is_read(target: &str, inputs: u32) -> Result<()> {
    let scratch = Scratch::new(&format!("fuzz-{target}"))?;
    let folder = scratch.subdir(target)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    command.arg(&folder).args(["-seed=1".to_owned(), format!("-runs={inputs}")]);
    // The first one builds it.
    let done = run_for(&mut command, Duration::from_secs(1800))?;
    if done.outcome() != "exit 0" {
        bail!("{done}\nthe input is in {}", folder.display());
    }
    let said = done.err();
    let mut places = said.lines().filter_map(|line| {
        let (_, after) = line.split_once("cov: ")?;
        after.split(' ').next()?.parse::<u64>().ok()
    });
    let first = places.find(|n| *n > 100).context("no coverage")?;
    let last = places.next_back().context("no coverage")?;
    // Mutations that nothing lets in would reach what the seeds do.
    ensure!(last > first + first / 10, "{target}: {first} places, then {last}");
    scratch.done()
}

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

/// Does what the command does; the first time that the share 2 is run, the worker of Ray is killed
/// in the middle of it.
const KILLS: &str = r#"#!/bin/sh
if [ "$2 $4" = "run 2" ] && mkdir "$MARK" 2> /dev/null; then
    "$BACKEND" "$@" &
    kill -9 $! $PPID
fi
exec "$BACKEND" "$@"
"#;

fn four_workers_of_ray() -> Result<()> {
    let scratch = Scratch::new("ray-shares")?;
    let graph = sorted(&scratch)?;
    let python = environment(&target_dir().join("tmp/contech/ray"), &RAY)?;
    let wrapper = scratch.write("contech-backend", KILLS)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    let path = path_from(scratch.dir())?;
    let backend = output("contech-backend");
    for analysis in ["cache", "workspan"] {
        let folder = scratch.join(analysis);
        let mut plan = Command::new(&backend);
        plan.args(["shard", "plan", "--workers", "4", "--graph"]);
        run(plan.arg(&graph).arg(&folder).arg(analysis))?.ok()?;
        let mark = scratch.join(format!("{analysis}-killed"));
        let mut drive = Command::new(&python);
        drive
            .arg(workspace().join("python/shard_ray.py"))
            .arg(&folder)
            .arg(scratch.join("merged.json"));
        drive.env("PATH", &path).env("BACKEND", &backend).env("MARK", &mark);
        run_for(&mut drive, Duration::from_secs(300))?.ok()?;
        ensure!(mark.is_dir(), "no worker was killed");
        let one = run(Command::new(&backend).arg(analysis).arg(&graph).args(["--format", "json"]))?;
        let merged = fs::read(scratch.join("merged.json"))?;
        ensure!(merged == one.ok()?.stdout, "{analysis}: {folder:?}");
    }
    scratch.done()
}

fn can_be_published() -> Result<()> {
    // Cargo would take the build of an older commit, too. Here the library is built with nothing
    // else.
    let target = target_dir().join("publish");
    for made in fs::read_dir(target.join("debug/.fingerprint")).into_iter().flatten() {
        let made = made?;
        if made.file_name().to_string_lossy().starts_with("contech-program") {
            fs::remove_dir_all(made.path())?;
        }
    }
    forget_unpacked("contech-program")?;
    let mut publish = Command::new(env!("CARGO"));
    publish.args(["publish", "--dry-run", "--allow-dirty"]);
    publish.args(["-p", "contech-program", "-p", "contech-taskgraph"]);
    publish.arg("--target-dir").arg(&target);
    let said = run_for(publish.current_dir(workspace()), Duration::from_secs(600))?.ok()?;
    ensure!(!said.err().contains("manifest has no description"), "{said}");
    Ok(())
}

/// Removes what cargo unpacked when it verified `package` before. Cargo knows it by the path of the
/// target folder and the package's version alone, so it would build an older commit's source again.
fn forget_unpacked(package: &str) -> Result<()> {
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let Ok(registries) = fs::read_dir(home.join("registry/src")) else {
        return Ok(());
    };
    for registry in registries {
        let unpacked = registry?.path().join(format!("{package}-{}", env!("CARGO_PKG_VERSION")));
        if unpacked.is_dir() {
            fs::remove_dir_all(&unpacked)
                .with_context(|| format!("cannot remove {}", unpacked.display()))?;
        }
    }
    Ok(())
}
