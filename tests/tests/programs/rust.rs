//! The Rust programs of `programs/rust`, built with `cargo contech` in one way, which is quickly
//! built, and in three with `cargo test-all --matrix`. Standard library and program are
//! instrumented, so on safe programs no race may be found; in those whose names begin with `racy`
//! the planted one must be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use contech_tests::matrix;
use contech_tests::once::Once;
use contech_tests::outputs::{cargo, cargo_contech, target_dir};
use contech_tests::process::{run, run_for, same};
use contech_tests::program::Program;
use contech_tests::recording::{Recording, backend_json, fine, middle, races};
use contech_tests::scratch::{Scratch, files};
use contech_tests::verdict::{self, Tools};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::golden;
use crate::trial::expected;

/// Profiles of `programs/rust/Cargo.toml`, and whether both forms are recorded, to be compared. A
/// commit takes the first, because building all programs and libraries in another way costs more
/// than running them.
const WAYS: [Way; 3] = [("dev", false), ("whole", true), ("aborts", true)];

type Way = (&'static str, bool);

type Test = fn(Way) -> Result<()>;

/// Tests of single programs, and of the build, and how many of the ways they take.
const TESTS: [(&str, usize, Test); 5] = [
    ("code_in_c_is_named_as_not_instrumented", 1, names_what_is_left),
    ("work_and_span_of_rayon_follow_the_closed_forms_with_1_and_4_threads", 2, closed_forms),
    ("work_and_span_of_tokio_are_those_of_its_tasks_with_0_1_and_4_threads", 2, tasks_of_tokio),
    ("a_second_build_compiles_nothing", 1, builds_nothing_twice),
    ("each_wait_of_std_has_its_cause", 2, causes_of_waits),
];

/// What one way of building gives: the native and the recorded executable.
static BUILT: Once<[PathBuf; 2]> = Once::new();

pub(crate) fn programs() -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for path in files(&folder().join("src"), "rs")? {
        if !path.ends_with("main.rs") {
            programs.push(Program::read(&path)?.context("a program has a MODE")?);
        }
    }
    Ok(programs)
}

pub(crate) fn trials(programs: &[Program]) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    let from = sources()?;
    let ways = if matrix::whole() { &WAYS[..] } else { &WAYS[..1] };
    for program in programs {
        for &way in ways {
            let program = program.clone();
            let name = format!("rust::{}::{}", program.name, way.0);
            let from = (&from, golden::text(&program));
            trials.push(verdict::trial(name, Tools::All, &from, move || {
                trial(&program, way, way == WAYS[0])
            }));
        }
    }
    ensure!(trials.len() >= 30, "only {} trials", trials.len());
    for (name, taken, test) in TESTS {
        for &way in ways.iter().filter(|way| WAYS[..taken].contains(way)) {
            let name = format!("rust::{name}::{}", way.0);
            trials.push(verdict::trial(name, Tools::All, &from, move || test(way)));
        }
    }
    Ok(trials)
}

/// All that the executables are made of.
fn sources() -> Result<Vec<Vec<u8>>> {
    let named = ["Cargo.toml", "Cargo.lock", "build.rs"];
    let mut all = named.map(|name| folder().join(name)).to_vec();
    for kind in ["rs", "c"] {
        all.extend(files(&folder().join("src"), kind)?);
    }
    Ok(all.iter().map(fs::read).collect::<Result<_, _>>()?)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/rust")
}

fn trial(program: &Program, way: Way, first: bool) -> Result<()> {
    let (profile, check) = way;
    let [native, recorded] = built(way)?;
    let scratch = Scratch::new(&format!("rust/{}-{profile}", program.name))?;
    let command = |executable: &Path| {
        let mut command = Command::new(executable);
        command.arg(&program.name).current_dir(scratch.dir());
        command.env_remove("RUST_BACKTRACE");
        command.envs(program.env.iter().map(|(k, v)| (k, v)));
        command
    };
    let native = run(&mut command(&native))?;
    let panics = ["panic", "poisoned", "unwind"];
    let aborts = profile == "aborts" && panics.iter().any(|p| program.name.contains(p));
    if !aborts {
        native.clone().expect(&program.expect)?;
    }
    let recording = Recording::of(&mut command(&recorded), &scratch.join("traces"))?;
    same(&native, &recording.run, |run| (run.stdout.clone(), run.err_but_for_digits()))?;
    ensure!(!recording.traces.is_empty(), "no trace");
    let (graphs, compared) = recording.checked(true)?;
    ensure!(!check || compared > 0, "nothing was compared");
    let races = races(&graphs[0])?;
    if program.name.starts_with("racy") {
        ensure!(!races.is_empty(), "the race was not found");
        for [a, b] in &races {
            // Cells are read and written by functions of the standard library.
            let known = |side: &str| side.contains(&program.name) || side.contains("cell::Cell");
            ensure!(known(a) && known(b), "a race in {a} and {b}");
        }
    } else {
        ensure!(races.is_empty(), "invented {races:#?}");
    }
    if !aborts {
        let graphs = [taskgraph::map(fine(&graphs[0]))?];
        expected(program, first, &recording.run.out(), None, &graphs)?;
    }
    scratch.done()
}

/// The native and the recorded executable of a way.
fn built((profile, check): Way) -> Result<[PathBuf; 2]> {
    BUILT.get(profile, || build(profile, check))
}

/// Builds all programs with a profile, natively and recorded.
fn build(profile: &str, check: bool) -> Result<[PathBuf; 2]> {
    for mut build in [cargo(), cargo_contech(&folder(), &[])] {
        build.args(["build", "-q"]);
        in_profile(&mut build, profile, check);
        run_for(&mut build, std::time::Duration::from_secs(900))?.ok()?;
    }
    let folder = rust_target().join(profile);
    let made = if profile == "dev" { "debug" } else { profile };
    let host = "contech/x86_64-unknown-linux-gnu";
    Ok([folder.clone(), folder.join(host)].map(|f| f.join(made).join("rust-programs")))
}

fn rust_target() -> PathBuf {
    target_dir().join("tmp/rust-programs")
}

/// Adds to a build what it needs for a profile.
fn in_profile(build: &mut Command, profile: &str, check: bool) {
    build.args(["--profile", profile, "--target-dir"]);
    // Builds of other options have folders of their own, because they make one another stale.
    build.arg(rust_target().join(profile)).current_dir(folder());
    let options = if check { "--contech-check" } else { "" };
    build.env("CONTECH_OPTIONS", options);
}

fn builds_nothing_twice(way: Way) -> Result<()> {
    built(way)?;
    let mut again = cargo_contech(&folder(), &["build"]);
    in_profile(&mut again, way.0, way.1);
    let done = run(&mut again)?.ok()?;
    ensure!(!done.err().contains("Compiling"), "{done}");
    Ok(())
}

fn names_what_is_left(way: Way) -> Result<()> {
    let [_, recorded] = built(way)?;
    let deps = recorded.with_file_name("deps");
    let mut reports = fs::read_dir(&deps)?.flatten().map(|e| e.path().join("report"));
    let report = reports.find(|p| p.is_file()).context("a link leaves a report")?;
    let report = fs::read_to_string(report)?;
    let mut lines = report.lines();
    let first = lines.next().unwrap_or_default();
    ensure!(first.starts_with("instrumented: "), "{report}");
    let left: Vec<_> = lines.collect();
    ensure!(left == ["not instrumented: part: 1 object of another compiler (part.o)"], "{report}");
    Ok(())
}

/// Work and span, in operations, of a program of rayon with this many threads.
fn work_and_span(way: Way, program: &[&str], threads: &str) -> Result<[u64; 2]> {
    let [_, recorded] = built(way)?;
    let scratch = Scratch::new(&format!("rust/{}-{threads}", program.join("-")))?;
    let mut command = Command::new(&recorded);
    command.args(program).env("RAYON_NUM_THREADS", threads);
    let recording = Recording::of(&mut command, &scratch.join("traces"))?;
    recording.run.clone().expect("exit 0")?;
    // The programs have trials of their own, in which their graphs are verified and compared.
    let graph = recording.traces[0].with_extension("tg");
    middle(&recording.traces[0], &graph)?.ok()?;
    let report = backend_json(&["workspan", "--metric", "ops"], &graph)?;
    let total = |name: &str| {
        let number = report[name].as_u64();
        number.with_context(|| format!("no {name} in {report:#}"))
    };
    let found = [total("work")?, total("span")?];
    scratch.done()?;
    Ok(found)
}

/// The closed forms of two programs, with constants that are not known: for what is done once, for
/// each call and, in a merge, for each number.
fn closed_forms(way: Way) -> Result<()> {
    let equal = |what: &str, constants: Vec<i128>| {
        ensure!(constants.iter().all(|c| *c == constants[0]), "{what}: {constants:?}");
        Ok(())
    };
    let all = |program: &str, sizes: &[u64]| -> Result<[Vec<i128>; 2]> {
        let of = |threads: &str| -> Result<[Vec<i128>; 2]> {
            let each = |n: &u64| work_and_span(way, &[program, &n.to_string()], threads);
            let found: Vec<_> = sizes.iter().map(each).collect::<Result<_>>()?;
            Ok([0, 1].map(|i| found.iter().map(|pair| i128::from(pair[i])).collect()))
        };
        let (one, four) = (of("1")?, of("4")?);
        ensure!(one == four, "{program}: 1 thread {one:?}, 4 threads {four:?}");
        Ok(one)
    };
    // w(n) = w(n - 1) + w(n - 2) + c, s(n) = s(n - 1) + d
    let [work, span] = all("rayon_fib", &[10, 11, 12, 13, 14])?;
    equal("work of fib", work.windows(3).map(|w| w[2] - w[1] - w[0]).collect())?;
    equal("span of fib", span.windows(2).map(|s| s[1] - s[0]).collect())?;
    // w(2n) = 2 w(n) + a n + b, s(2n) = s(n) + c n + d
    let [work, span] = all("rayon_merge_sort", &[10, 11, 12, 13])?;
    let work: Vec<_> = work.windows(2).map(|w| w[1] - 2 * w[0]).collect();
    equal("work of the sort", work.windows(2).map(|w| w[1] - 2 * w[0]).collect())?;
    let span: Vec<_> = span.windows(2).map(|s| s[1] - s[0]).collect();
    equal("span of the sort", span.windows(2).map(|s| s[1] - 2 * s[0]).collect())
}

/// Eight tasks with 1 to 8 times the same work: all of it is work, and that of the largest is the
/// span. How often a task is polled is the schedule's, which is little beside the work.
fn tasks_of_tokio(way: Way) -> Result<()> {
    let of =
        |threads: &str, step: &str| work_and_span(way, &["tokio_tasks", threads, step], threads);
    let mut found = Vec::new();
    for threads in ["0", "1", "4"] {
        let (less, more) = (of(threads, "2000")?, of(threads, "4000")?);
        found.push([0, 1].map(|i| more[i].saturating_sub(less[i])));
    }
    let near = |a: u64, b: u64| a.abs_diff(b) * 100 <= b;
    ensure!(
        found.iter().all(|[work, span]| near(*work, found[0][0]) && near(span * 36, work * 8)),
        "work and span of 0, 1 and 4 threads: {found:?}"
    );
    Ok(())
}

/// What waits are for, and the end of the name of the function in which they are.
const CAUSES: [(&str, &str); 8] = [
    ("lock", "Mutex::lock_contended"),
    ("lock", "RwLock::read_contended"),
    ("condition", "Condvar::wait"),
    ("condition", "::park"),
    ("barrier", "Barrier::wait"),
    // call_once, get_or_init and the deref of a LazyLock
    ("once", "Once::call"),
    ("once", "Once::call"),
    ("once", "Once::call"),
];

fn causes_of_waits(way: Way) -> Result<()> {
    let [_, recorded] = built(way)?;
    let scratch = Scratch::new("rust/causes")?;
    let mut command = Command::new(&recorded);
    command.arg("waits");
    let (_, graph) = Recording::whole(&mut command, &scratch.join("traces"))?;
    let report = backend_json(&["parallelism"], &graph)?;
    for (cause, end) in CAUSES {
        let is = |place: &&Value| {
            let function = place["function"].as_str().unwrap_or("");
            place["cause"] == cause && function.ends_with(end)
        };
        let places = report["places"].as_array().context("a list of places")?;
        let waits = places.iter().filter(is);
        let waits: u64 = waits.filter_map(|place| place["waits"].as_u64()).sum();
        let wanted = CAUSES.iter().filter(|c| **c == (cause, end)).count() as u64;
        ensure!(waits >= wanted, "{}: {waits} waits for {cause} in {end}: {places:#?}", way.0);
    }
    scratch.done()
}
