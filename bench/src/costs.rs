//! `cargo bench-record`: what recording costs on this machine, as tables and a dated file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::compare::{CPU, Row, USER, rounds, row};
use crate::form::Form;
use crate::goals;
use crate::programs::PROGRAMS;
use crate::real::PACKAGES;
use crate::record;
use crate::subject::Subject;
use anyhow::{Result, bail};
use clap::Args;
use contech_tests::debian;
use contech_tests::outputs::{home, target_dir};

/// The programs of which samples are recorded.
const SAMPLED: [&str; 4] = ["hash", "bfs", "quicksort", "tree"];

/// Compares native, naive and fast runs and writes a dated record under bench/record/
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Programs to measure (all)
    names: Vec<String>,
    /// Rounds of each: native, naive, fast
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// A fifth of the work, three rounds, no -O0 and no Debian programs but those named: about two
    /// minutes
    #[arg(long)]
    quick: bool,
    /// Put the tables into docs/src/guide/costs.md, too
    #[arg(long)]
    page: bool,
    /// Where kept traces go: a directory in memory
    #[arg(long, default_value = "/dev/shm")]
    traces: PathBuf,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

impl Arguments {
    fn wanted(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|n| n == name)
    }

    fn rounds(&self) -> usize {
        if self.quick { self.runs.min(3) } else { self.runs }
    }

    fn share(&self) -> u64 {
        if self.quick { 5 } else { 1 }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let known: Vec<&str> =
        PROGRAMS.iter().map(|p| p.name()).chain(PACKAGES.iter().map(|p| p.name)).collect();
    if let Some(name) = arguments.names.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("unknown program {name}; known are {}", known.join(" "));
    }
    debian::ensure(&debian::TEST_PACKAGES)?;
    home();
    let dir = target_dir().join("bench");
    let scratch = arguments.traces.join(format!("contech-bench-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let made = costs(arguments, &dir, &scratch);
    fs::remove_dir_all(&scratch)?;
    record::publish(&made?, "recording", arguments.dry)
}

fn costs(arguments: &Arguments, dir: &Path, scratch: &Path) -> Result<String> {
    let mut rows = Vec::new();
    let mut notes = String::new();
    for program in PROGRAMS.iter().filter(|p| arguments.wanted(p.name())) {
        let subject = Subject::own(program, "-O2", arguments.share(), 2, dir)?;
        rows.push(measured(subject, arguments, scratch)?);
    }
    for package in PACKAGES.iter().filter(|p| arguments.wanted(p.name)) {
        if arguments.quick && arguments.names.is_empty() {
            continue;
        }
        match package.subject(dir, arguments.quick) {
            Ok(subject) => rows.push(measured(subject, arguments, scratch)?),
            Err(error) => {
                let _ = writeln!(notes, "Not measured: {}: {error:#}", package.name);
            }
        }
    }
    // What is named is measured even when time is short.
    let whole = !arguments.quick || !arguments.names.is_empty();
    let sampled = sampled(&rows, arguments, scratch)?;
    let o0 = if !whole { Vec::new() } else { unoptimised(arguments, dir, scratch)? };
    if arguments.page {
        record::into_page(&rows, &o0)?;
    }
    Ok(record::render(&rows, &o0, &sampled, arguments.rounds()) + &notes)
}

fn measured(subject: Subject, arguments: &Arguments, scratch: &Path) -> Result<Row> {
    let row = row(subject, arguments.rounds(), scratch)?;
    eprintln!(
        "{}: thrown away: naive {:.2}, fast {:.2}; kept: naive {:.2}, fast {:.2}; {} bytes per access",
        row.subject.name,
        row.null.ratio(Form::Naive, USER),
        row.null.ratio(Form::Fast, USER),
        row.kept.ratio(Form::Naive, CPU),
        row.kept.ratio(Form::Fast, CPU),
        goals::said(row.bytes_per_access(Form::Fast)),
    );
    Ok(row)
}

/// What the programs cost whose accesses are much of their work, if one access in ten is recorded.
fn sampled(rows: &[Row], arguments: &Arguments, scratch: &Path) -> Result<String> {
    let mut table = String::new();
    for row in rows {
        let subject = &row.subject;
        if !SAMPLED.contains(&subject.name.as_str()) {
            continue;
        }
        let tenth = [("CONTECH_TRACE", "null"), ("CONTECH_SAMPLE", "1/10")];
        let samples = rounds(subject, true, arguments.rounds(), &tenth, scratch)?;
        let _ = writeln!(
            table,
            "| {} | {:.2} | {:.2} |",
            subject.name,
            row.null.ratio(Form::Fast, USER),
            samples.ratio(Form::Fast, USER)
        );
    }
    Ok(if table.is_empty() {
        table
    } else {
        format!(
            "Thrown away, user CPU. The goal at 1/10 is 1.03.\n\n| program | all accesses | 1/10 |\n|---|---:|---:|\n{table}"
        )
    })
}

/// Fast over native, user CPU, of -O0 code.
fn unoptimised(arguments: &Arguments, dir: &Path, scratch: &Path) -> Result<Vec<f64>> {
    let mut ratios = Vec::new();
    for program in PROGRAMS.iter().filter(|p| arguments.wanted(p.name())) {
        let subject = Subject::own(program, "-O0", 6, 1, dir)?;
        let samples = rounds(&subject, true, 3, &[("CONTECH_TRACE", "null")], scratch)?;
        ratios.push(samples.ratio(Form::Fast, USER));
    }
    Ok(ratios)
}
