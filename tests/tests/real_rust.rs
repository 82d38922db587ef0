//! Crates that nobody here wrote, from the registry of cargo: programs as they are, and libraries
//! under the small programs of `programs/registry`. The recorded program says and does what the
//! native one does, both recorded forms agree, the graph is well formed, and no race is invented.

#[path = "real/frame.rs"]
mod frame;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use contech_tests::matrix;
use contech_tests::outputs::{cargo, cargo_contech, target_dir};
use contech_tests::process::{Finished, run, run_for, same};
use contech_tests::recording::{Recording, backend_json, races};
use contech_tests::scratch::Scratch;

/// A crate, and what is run of it.
struct Crate {
    name: &'static str,
    /// Of programs that cargo installs. A library has its version in the manifest of
    /// `programs/registry`, where a program uses it.
    version: Option<&'static str>,
    /// Shell commands in an empty folder, where `$BIN` has the programs and `$TEXTS` is a folder of
    /// texts.
    run: &'static str,
    /// Contexts that its graph has at least.
    contexts: u64,
}

const fn library(name: &'static str, contexts: u64) -> Crate {
    Crate { name, version: None, run: "$BIN/use-$NAME", contexts }
}

/// A run takes one of the first [`QUICK`], which have few dependences, and all are taken with the
/// whole matrix.
const CRATES: [Crate; 9] = [
    library("lz4_flex", 5),
    library("ndarray", 3),
    library("splr", 1),
    library("moka", 5),
    library("redb", 4),
    library("smol", 2),
    Crate {
        name: "b3sum",
        version: Some("1.8.7"),
        run: "cat $TEXTS/*.c > all; $BIN/b3sum --num-threads 2 all $TEXTS/*.c",
        contexts: 2,
    },
    Crate {
        name: "ripgrep",
        version: Some("15.2.0"),
        run: "$BIN/rg --threads 2 --count 'pthread_[a-z]+' $TEXTS | sort",
        contexts: 3,
    },
    Crate {
        name: "sd",
        version: Some("1.0.0"),
        run: "cp $TEXTS/*.c .; $BIN/sd 'pthread_(\\w+)' 'thread::$1' *.c; cat *.c",
        contexts: 2,
    },
];
const QUICK: usize = 3;

fn main() {
    let taken = if matrix::whole() {
        CRATES.iter().collect()
    } else {
        matrix::share("real_rust", &CRATES[..QUICK], QUICK)
    };
    frame::main(taken, |krate| krate.name, available, trial);
}

/// Whether cargo can fetch the crate; says why not.
fn available(krate: &Crate) -> bool {
    let mut fetch = cargo();
    fetch.current_dir(folder());
    match krate.version {
        None => fetch.args(["fetch", "--locked", "-q"]),
        Some(version) => fetch.args(["info", "-q", &format!("{}@{version}", krate.name)]),
    };
    match run(&mut fetch).and_then(Finished::ok) {
        Ok(_) => true,
        Err(error) => {
            println!("not tested: {error:#}");
            false
        }
    }
}

fn trial(krate: &Crate) -> Result<()> {
    let [native, recorded] = build(krate)?;
    let scratch = Scratch::new(&format!("real-rust/{}", krate.name))?;
    let native = run(&mut command(krate, &native, &scratch.subdir("native")?))?.ok()?;
    ensure!(native.stdout.len() >= 20, "nothing to compare: {native}");
    let mut command = command(krate, &recorded, &scratch.subdir("recorded")?);
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    same(&native, &recording.run, Finished::said)?;
    let (graphs, compared) = recording.checked(true)?;
    ensure!(compared >= 1000, "only {compared} blocks were compared");
    let [graph] = graphs.as_slice() else {
        bail!("{} traces", recording.traces.len());
    };
    let contexts = backend_json(&["stats"], graph)?["contexts"].as_u64();
    ensure!(contexts >= Some(krate.contexts), "only {contexts:?} contexts");
    let races = races(graph)?;
    ensure!(races.is_empty(), "invented {races:#?}");
    scratch.done()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/registry")
}

/// Builds the native and the recorded program; returns their folders.
fn build(krate: &Crate) -> Result<[PathBuf; 2]> {
    let target = target_dir().join("tmp/contech-registry");
    let mut contech = cargo_contech(&folder(), &[]);
    contech.env("CONTECH_OPTIONS", "--contech-check");
    let mut folders = Vec::new();
    for (mut build, way) in [(cargo(), "native"), (contech, "recorded")] {
        build.current_dir(folder());
        let root = target.join(way);
        match krate.version {
            None => {
                let binary = format!("use-{}", krate.name);
                build.args(["build", "--release", "--locked", "-q"]);
                build.args(["--features", krate.name, "--bin", &binary]);
                let made = if way == "native" {
                    "release"
                } else {
                    "contech/x86_64-unknown-linux-gnu/release"
                };
                folders.push(target.join(made));
            }
            Some(version) => {
                build.args(["install", "--locked", "-q", "--root"]);
                build.arg(&root);
                build.arg(format!("{}@{version}", krate.name));
                // The same for all, so that they share what they depend on, and are built in little
                // time.
                for (key, value) in [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("DEBUG", "0")] {
                    build.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
                }
                folders.push(root.join("bin"));
            }
        }
        build.arg("--target-dir").arg(&target);
        run_for(&mut build, Duration::from_secs(900))?.ok()?;
    }
    folders.try_into().ok().context("two folders")
}

/// Runs the crate's programs that are in the folder `programs`.
fn command(krate: &Crate, programs: &Path, here: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", krate.run]).env("NAME", krate.name).env("BIN", programs);
    command.env("TEXTS", Path::new(env!("CARGO_MANIFEST_DIR")).join("programs"));
    command.current_dir(here).env("RAYON_NUM_THREADS", "2");
    command
}
