//! The results of two versions of all tools over the test programs.
//!
//! The versions read different formats, so each records for itself, and two recordings of one program differ: by the
//! schedule, and by where data lies. Each value of a result is therefore compared on its own with the values that
//! further recordings give. Where these say that nothing moves it, it must be equal.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use contech_tests::outputs::{Outputs, workspace};
use contech_tests::process::run_for;
use contech_tests::program::{Program, all};
use contech_tests::recording::files;
use contech_tests::toolchain::Toolchain;
use serde_json::Value;

/// The analyses whose numbers are counts. (Those of the others are times.) Lines of 8 bytes and sets that hold all lines
/// make the numbers independent of where a version's code has its stack.
const WORDS: [(&str, &[&str]); 7] = [
    ("stats", &[]),
    ("blocks", &[]),
    ("memuse", &[]),
    ("cache", &["--line", "8", "--ways", "full"]),
    ("misses", &["--line", "8"]),
    ("races", &[]),
    ("sharing", &["--line", "8"]),
];
/// Fields that are times, addresses, numbers of 64-byte lines, or texts about the recording.
const SKIPPED: [&str; 27] = [
    "address",
    "allocated_ns",
    "at_ns",
    "average",
    "begin",
    "bin_ns",
    "duration_ns",
    "end",
    "end_ns",
    "file",
    "first_ns",
    "footprint_bytes",
    "graph_bytes",
    "last_ns",
    "levels",
    "lifetime_ns",
    "line",
    "ns",
    "notes",
    "object",
    "passes",
    "span_ns",
    "start",
    "start_ns",
    "stretches",
    "trace_bytes",
    "warnings",
];
/// Recordings of each version to begin with, and the most of a program whose results differ.
const FIRST: usize = 3;
const MOST: usize = 12;
/// Data lies at the same addresses in both builds of a program, because misses and sharing depend on them.
const PLACED: [&str; 2] = [
    "-Wl,--section-start=.data=0x20000000",
    "-Wl,--section-start=.bss=0x30000000",
];
const LIMIT: Duration = Duration::from_secs(60);

/// The values at each place of a result, over all recordings.
type Values = BTreeMap<String, BTreeSet<String>>;

/// How many programs came to which end, for an analysis.
#[derive(Default)]
struct Row {
    equal: usize,
    schedule: usize,
    different: Vec<String>,
}

/// One version of the tools, and the programs built with it.
struct Version {
    tools: PathBuf,
    place: PathBuf,
}

/// Compares the results of the tools in `old` with those of this build over the test programs whose names contain
/// `only`, and adds a table.
///
/// # Errors
/// When the programs cannot be read, or a folder cannot be written.
pub fn equal(old: &Path, only: &str, scratch: &Path, text: &mut String) -> Result<()> {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut left_out: Vec<String> = Vec::new();
    let programs = all(&workspace().join("tests/programs"))?;
    for program in programs
        .iter()
        .filter(|program| program.name.contains(only))
    {
        let place = scratch.join(&program.name);
        match one(program, old, &place, &mut rows) {
            Ok(()) => eprintln!("{}", program.name),
            Err(error) => {
                eprintln!("{}: {error:#}", program.name);
                let error = format!("{error:#}");
                let line = error.lines().next().unwrap_or_default().to_owned();
                left_out.push(format!("{} ({line})", program.name));
            }
        }
        fs::remove_dir_all(&place).ok();
    }
    let _ = writeln!(
        text,
        "\n| analysis | programs | equal | equal but for the schedule | different |\n|---|---:|---:|---:|---:|"
    );
    for (word, row) in &rows {
        let different = row.different.len();
        let all = row.equal + row.schedule + different;
        let _ = writeln!(
            text,
            "| {word} | {all} | {} | {} | {different} |",
            row.equal, row.schedule
        );
    }
    let _ = writeln!(text, "\nDifferent:\n");
    for (word, row) in &rows {
        for what in &row.different {
            let _ = writeln!(text, "- {word} of {what}");
        }
    }
    let _ = writeln!(text, "\nNot compared: {}", left_out.join("; "));
    Ok(())
}

fn one(program: &Program, old: &Path, place: &Path, rows: &mut BTreeMap<&str, Row>) -> Result<()> {
    let new = Outputs::get().dir();
    let version = |tools: &Path, name: &str| -> Result<Version> {
        let place = place.join(name);
        fs::create_dir_all(&place)?;
        let mut program = program.clone();
        program.flags.extend(PLACED.map(ToOwned::to_owned));
        let level = program.levels.first().map_or("O1", String::as_str);
        Toolchain::of(tools).program(&program, level, &place)?;
        Ok(Version {
            tools: tools.to_owned(),
            place,
        })
    };
    let (before, now) = (
        version(old, "old").context("old tools")?,
        version(new, "new")?,
    );
    let (mut was, mut is) = (
        results(&before, program, FIRST).context("old tools")?,
        results(&now, program, FIRST)?,
    );
    for _ in FIRST..MOST {
        if WORDS
            .iter()
            .all(|(word, _)| differences(&was, &is, word).is_empty())
        {
            break;
        }
        add(&mut was, results(&before, program, 1)?);
        add(&mut is, results(&now, program, 1)?);
    }
    for (word, _) in WORDS {
        if !was.contains_key(word) && !is.contains_key(word) {
            continue;
        }
        let row = rows.entry(word).or_default();
        let noisy = |all: &BTreeMap<&str, Values>| {
            all.get(word)
                .is_some_and(|values| values.values().any(|values| values.len() > 1))
        };
        let left = differences(&was, &is, word);
        if let Some((at, was, is)) = left.first() {
            row.different.push(format!(
                "{}: {} values, the first {at}: {was} was {is} is",
                program.name,
                left.len()
            ));
        } else if noisy(&was) || noisy(&is) {
            row.schedule += 1;
        } else {
            row.equal += 1;
        }
    }
    Ok(())
}

/// The places where no value of one side can be one of the other: their ranges are apart, or their texts.
fn differences(
    was: &BTreeMap<&str, Values>,
    is: &BTreeMap<&str, Values>,
    word: &str,
) -> Vec<(String, String, String)> {
    let none = Values::new();
    let (was, is) = (
        was.get(word).unwrap_or(&none),
        is.get(word).unwrap_or(&none),
    );
    let places: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let text = |values: Option<&BTreeSet<String>>| {
        let values = values.into_iter().flatten().map(String::as_str);
        values.take(4).collect::<Vec<_>>().join(" ")
    };
    let lengths = |at: &str| {
        let list = at
            .rsplit_once('[')
            .map(|(list, _)| format!("{list}.length"));
        list.is_some_and(|at| {
            [was, is]
                .iter()
                .any(|all| all.get(&at).is_some_and(|n| n.len() > 1))
        })
    };
    // A row that not every recording has is not looked for.
    let differing = places
        .into_iter()
        .filter(|at| match (was.get(*at), is.get(*at)) {
            (Some(was), Some(is)) => !meet(was, is),
            _ => !lengths(at),
        });
    differing
        .map(|at| (at.clone(), text(was.get(at)), text(is.get(at))))
        .collect()
}

fn meet(was: &BTreeSet<String>, is: &BTreeSet<String>) -> bool {
    let range = |values: &BTreeSet<String>| {
        let numbers: Option<Vec<f64>> = values.iter().map(|value| value.parse().ok()).collect();
        numbers.map(|n| {
            (
                n.iter().copied().fold(f64::MAX, f64::min),
                n.iter().copied().fold(f64::MIN, f64::max),
            )
        })
    };
    match (range(was), range(is)) {
        (Some(was), Some(is)) => was.0 <= is.1 && is.0 <= was.1,
        _ => !was.is_disjoint(is),
    }
}

/// The results of recordings of a program.
fn results(
    version: &Version,
    program: &Program,
    times: usize,
) -> Result<BTreeMap<&'static str, Values>> {
    let mut all = BTreeMap::new();
    for _ in 0..times {
        let traces = version.place.join("traces");
        fs::create_dir_all(&traces)?;
        let mut command = Command::new("setarch");
        command
            .arg("-R")
            .arg(version.place.join("prog"))
            .args(&program.args);
        command
            .env("OMP_NUM_THREADS", "2")
            .env("CONTECH_TRACE", traces.join("trace.%p.bin"));
        command
            .envs(program.env.iter().cloned())
            .current_dir(&version.place);
        run_for(&mut command, LIMIT)?;
        for (at, trace) in files(&traces, "bin")?.iter().enumerate() {
            let graph = trace.with_extension("tg");
            run_for(
                Command::new(version.tools.join("contech-middle"))
                    .arg(trace)
                    .arg(&graph),
                LIMIT,
            )?;
            for (word, options) in WORDS {
                let mut command = Command::new(version.tools.join("contech-backend"));
                command
                    .arg(word)
                    .arg(&graph)
                    .args(["--format", "json"])
                    .args(options);
                let json = run_for(&mut command, LIMIT)?;
                if let Ok(value) = serde_json::from_slice(&json.stdout) {
                    flatten(&value, &format!("{at}"), all.entry(word).or_default());
                }
            }
        }
        fs::remove_dir_all(&traces)?;
    }
    anyhow::ensure!(!all.is_empty(), "no trace");
    Ok(all)
}

fn add(all: &mut BTreeMap<&'static str, Values>, more: BTreeMap<&'static str, Values>) {
    for (word, values) in more {
        let own = all.entry(word).or_default();
        for (at, values) in values {
            own.entry(at).or_default().extend(values);
        }
    }
}

fn flatten(value: &Value, at: &str, to: &mut Values) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields
                .iter()
                .filter(|(name, _)| !SKIPPED.contains(&name.as_str()))
            {
                flatten(value, &format!("{at}.{name}"), to);
            }
        }
        Value::Array(values) => {
            to.entry(format!("{at}.length"))
                .or_default()
                .insert(values.len().to_string());
            for (index, value) in values.iter().enumerate() {
                flatten(value, &format!("{at}[{index}]"), to);
            }
        }
        value => {
            _ = to
                .entry(at.to_owned())
                .or_default()
                .insert(value.to_string())
        }
    }
}
