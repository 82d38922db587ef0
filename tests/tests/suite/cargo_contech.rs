//! `cargo contech` on the examples of the guide and on bad input.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use contech_tests::matrix;
use contech_tests::outputs::{cargo_contech as contech, target_dir, workspace};
use contech_tests::process::{run, run_for};
use contech_tests::recording::{Recording, backend_json, middle};
use contech_tests::scratch::{Scratch, entries};
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

/// Runs of an example, of which one must show the loss: beside other programs, threads may not have
/// met in a run. Alone, the example that shows it least does so in 4 runs of 5.
const RUNS: usize = 5;

fn guide() -> PathBuf {
    workspace().join("docs/src/guide/rust")
}

/// Checks that the first finding of an example of the guide names its loss. A line at which it
/// loses time ends in `// LOSS: CAUSE`, or the line before it does.
fn finds_the_loss(source: &Path, programs: &Path) -> Result<()> {
    let text = fs::read_to_string(source)?;
    let (mut cause, mut lines) = ("", BTreeSet::new());
    for (at, line) in (1..).zip(text.lines()) {
        if let Some((before, what)) = line.split_once("// LOSS: ") {
            lines.insert(at + u64::from(before.trim().is_empty()));
            cause = what;
        }
    }
    let name = source.file_stem().context("a name")?.to_string_lossy();
    let file = format!("src/bin/{name}.rs");
    let is_marked = |place: &Value| {
        let own = place["file"].as_str().is_some_and(|f| f.ends_with(&file));
        own && place["line"].as_u64().is_some_and(|line| lines.contains(&line))
    };
    let mut found = Value::Null;
    for run in 0..RUNS {
        found = first_finding(&programs.join(&*name), run)?;
        // The time is lost at the line, or waited for there.
        let is_there = is_marked(&found["code"]) || is_marked(&found["wait"]);
        if found["cause"] == cause && is_there {
            return Ok(());
        }
    }
    bail!("{name}: not {cause} at {lines:?}, but {found:#}");
}

fn first_finding(program: &Path, run: usize) -> Result<Value> {
    let name = program.file_name().context("a name")?.display();
    let scratch = Scratch::new(&format!("guide-of-rust/{name}-{run}"))?;
    let recording = Recording::of(&mut Command::new(program), &scratch.join("traces"))?;
    recording.run.clone().ok()?;
    let (trace, graph) = (&recording.traces[0], scratch.join("graph.tg"));
    middle(trace, &graph)?.ok()?;
    let mut report = backend_json(&["account"], &graph)?;
    scratch.done()?;
    Ok(report["losses"][0].take())
}

#[test]
fn the_first_finding_of_each_example_is_its_loss() -> Result<()> {
    let target = target_dir().join("tmp/guide-of-rust");
    let mut build = contech(&guide(), &["build", "--release", "--locked", "-q"]);
    build.arg("--target-dir").arg(&target);
    run_for(&mut build, Duration::from_secs(900))?.ok()?;
    let programs = target.join("contech/x86_64-unknown-linux-gnu/release");
    let examples = entries(&guide().join("src/bin"))?;
    ensure!(examples.len() >= 6, "only {} examples", examples.len());
    examples.iter().try_for_each(|source| finds_the_loss(source, &programs))
}

#[test]
fn what_cannot_be_done_is_said_in_a_sentence() -> Result<()> {
    const OTHER: &str = "aarch64-unknown-linux-gnu";
    const CONFIGURED: &str = "(build.target of cargo's configuration) cannot be recorded";
    let none = ("", "");
    let for_other = Scratch::new("rust/for-another-machine")?;
    let configuration = format!("[build]\ntarget = {OTHER:?}\n");
    for_other.write(".cargo/config.toml", configuration)?;
    let (root, other) = (Path::new("/"), for_other.dir());
    for (folder, arguments, (name, value), said) in [
        (root, &["frobnicate"][..], none, "is not one of build, run, test, bench and install"),
        (root, &["build", "--target", OTHER], none, "leave --target out"),
        (root, &["build"], ("CARGO_BUILD_TARGET", OTHER), CONFIGURED),
        (other, &["build"], none, CONFIGURED),
        (root, &["build"], ("RUSTUP_TOOLCHAIN", "1.2.3"), "1.2.3"),
        (root, &["build"], ("RUSTC", "/no/rustc"), "/no/rustc"),
        (root, &["run"], none, "Cargo.toml"),
        (root, &["install", "splr"], none, "install needs --root"),
    ] {
        let mut command = contech(folder, arguments);
        if !name.is_empty() {
            command.env(name, value);
        }
        let done = run(&mut command)?.expect("exit 1")?;
        ensure!(done.err().contains(said), "{done}");
        ensure!(done.err().lines().count() == 1, "{done}");
    }
    for_other.done()
}

const MANIFEST: &str =
    "[package]\nname = \"odd\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

/// A build script that compiles a part in C as the crate `cc` does: with the compiler that a
/// variable names.
const BUILD: &str = r#"
use std::{env, process::Command};
fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let compiler = env::var("CC_x86_64_unknown_linux_gnu").unwrap();
    let make = format!("{compiler} -O1 -g -fPIC -c part.c -o {out}/part.o && ar rcs {out}/libpart.a {out}/part.o");
    assert!(Command::new("sh").args(["-ec", &make]).status().unwrap().success());
    println!("cargo::rustc-link-search=native={out}\ncargo::rustc-link-lib=static=part");
}
"#;

const MAIN: &str = r#"
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;
static BYTES: AtomicUsize = AtomicUsize::new(0);
#[global_allocator]
static ALLOCATOR: Counting = Counting;

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

unsafe extern "C" { fn sum(values: *const u64, n: u64) -> u64; }

fn main() {
    let values: Vec<u64> = (0..1000).collect();
    let sum = unsafe { sum(values.as_ptr(), values.len() as u64) };
    println!("{sum} {}", BYTES.load(Ordering::Relaxed) >= 8000);
}
"#;

#[test]
fn a_part_in_c_an_allocator_and_a_processor_of_its_own_are_recorded() -> Result<()> {
    let scratch = Scratch::new("rust/odd")?;
    let part = workspace().join("tests/programs/rust/src/part.c");
    for (file, text) in [
        ("Cargo.toml", MANIFEST),
        ("build.rs", BUILD),
        ("src/main.rs", MAIN),
        ("part.c", &fs::read_to_string(part)?),
    ] {
        scratch.write(file, text)?;
    }
    let mut build = contech(scratch.dir(), &["build"]);
    build.env("CC_x86_64_unknown_linux_gnu", Toolchain::contech().cc);
    if matrix::whole() {
        // The standard library is compiled for that processor, too.
        build.env("RUSTFLAGS", "-Ctarget-cpu=native");
    }
    let built = run_for(&mut build, Duration::from_secs(600))?.ok()?;
    ensure!(!built.err().contains("not instrumented"), "{built}");
    let program = "target/contech/x86_64-unknown-linux-gnu/debug/odd";
    let mut program = Command::new(scratch.join(program));
    let (said, graph) = Recording::whole(&mut program, &scratch.join("traces"))?;
    ensure!(said.out() == "499500 true\n", "{said}");
    let blocks = backend_json(&["blocks"], &graph)?;
    ensure!(blocks.to_string().contains("part.c"), "{blocks:#}");
    scratch.done()
}

const ALONE: &str = r#"
use std::collections::HashMap;
fn main() {
    let mut counts = HashMap::new();
    for n in 0..200_000u64 {
        *counts.entry(n * 7 % 1001).or_insert(0u64) += n;
    }
    for n in 0..10 {
        println!("{n} {:?}", counts.get(&(n * 7)).is_some());
    }
}
"#;

#[test]
fn a_program_of_one_thread_waits_for_no_lock_and_at_no_atomic_operation() -> Result<()> {
    let scratch = Scratch::new("rust/alone")?;
    scratch.write("Cargo.toml", MANIFEST)?;
    scratch.write("src/main.rs", ALONE)?;
    let mut command = contech(scratch.dir(), &["run", "--release"]);
    let done = run_for(&mut command, Duration::from_secs(600))?.ok()?;
    // Locks of the standard library are taken (for the output, to initialise), and cost next to
    // nothing.
    for line in done.err().lines() {
        ensure!(!line.contains("warning") && !line.contains("(lock)"), "{done}");
    }
    let graph = scratch.join("contech-out/graph.tg");
    let found = backend_json(&["parallelism"], &graph)?;
    for wait in found["places"].as_array().context("places of waits")? {
        ensure!(wait["cause"] != "lock", "{wait}");
        ensure!(wait["callee"] != "atomic operation", "{wait}");
    }
    scratch.done()
}

#[test]
fn what_cargo_refuses_is_said_as_cargo_says_it() -> Result<()> {
    let scratch = Scratch::new("rust/refused")?;
    let needs = format!("{MANIFEST}[dependencies]\nrayon = \"1.12\"\n");
    scratch.write("needs/Cargo.toml", needs)?;
    scratch.write("needs/src/main.rs", "fn main() {}")?;
    scratch.write("library/Cargo.toml", MANIFEST)?;
    scratch.write("library/src/lib.rs", "")?;
    let nothing = scratch.subdir("nothing")?;
    for (folder, arguments, said) in [
        ("library", &["run"][..], "a bin target must be available"),
        ("needs", &["build", "--offline"], "offline mode"),
    ] {
        let mut command = contech(&scratch.join(folder), arguments);
        command.env("CARGO_HOME", &nothing);
        let done = run_for(&mut command, Duration::from_secs(600))?.expect("exit 101")?;
        ensure!(done.err().contains(said), "{done}");
    }
    scratch.done()
}
