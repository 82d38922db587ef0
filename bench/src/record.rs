//! The tables, and the dated file that they are written to.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::compare::{CPU, Row, USER, WALL};
use crate::form::Form;
use crate::goals;
use crate::spread::geometric_mean;
use crate::subject::KEPT_SHARE;

/// Title, machine, command.
pub(crate) fn heading(title: &str) -> String {
    format!(
        "# {title}, {}\n\n{}\n\nCommand: `{}`.\n",
        said("date", &["-u", "+%F %H:%M UTC"]),
        machine(),
        std::env::args().collect::<Vec<_>>().join(" ")
    )
}

/// The whole record in Markdown; `o0` are the ratios of -O0 code, `sampled` is the table of sampled
/// runs.
pub(crate) fn render(rows: &[Row], o0: &[f64], sampled: &str, runs: usize) -> String {
    let mut text = heading("Cost of recording");
    let _ = writeln!(
        text,
        "{runs} rounds native, naive, fast, after one to warm up. Ratios are over native, smallest time over \
         smallest; *median*: of the rounds' ratios; *spread*: largest less smallest of these over the median. \
         *Thrown away*: `CONTECH_TRACE=null`. *Kept*: written to a file in memory, on an input about {KEPT_SHARE} \
         times smaller, whose bytes, blocks and accesses were counted, too. Compiler: CPU time of `-c` at -O2 (of \
         the whole build where it is Debian's).\n"
    );
    let _ = writeln!(text, "## Goals\n\n{}", goals::table(rows, o0));
    if !sampled.is_empty() {
        let _ = writeln!(text, "## Sampled\n\n{sampled}");
    }
    let _ = writeln!(text, "## By kind of program\n\n{}", goals::classes(rows));
    let _ = writeln!(text, "## By program\n\n{}", programs(rows));
    text
}

/// Replaces the part of the page on costs between its two `cost` marks by the tables of goals and
/// classes.
pub(crate) fn into_page(rows: &[Row], o0: &[f64]) -> Result<()> {
    const MARKS: [&str; 2] = ["<!-- cost -->\n", "<!-- /cost -->"];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/guide/costs.md");
    let old = fs::read_to_string(&file)?;
    let parts = old.split_once(MARKS[0]);
    let parts = parts.and_then(|(a, b)| Some((a, b.split_once(MARKS[1])?.1)));
    let (before, after) = parts.with_context(|| format!("no {MARKS:?} in {}", file.display()))?;
    let tables = format!(
        "{}\n{}\n{}, {}.\n",
        goals::classes(rows),
        goals::table(rows, o0),
        said("date", &["-u", "+%F"]),
        machine()
    );
    fs::write(&file, format!("{before}{}{tables}{}{after}", MARKS[0], MARKS[1]))?;
    Ok(())
}

fn programs(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | kind | threads | native s | thrown away, user: naive | fast | median | spread | user+sys: fast | wall: fast | kept, user: fast | user+sys: naive | fast | bytes/access: naive | fast | in the file | bytes/block: naive | fast | compiler: naive | fast | text: naive | fast |\n\
         |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for r in rows {
        let _ = write!(
            text,
            "| {} | {} | {} | {:.3} |",
            r.subject.name,
            r.subject.class.name(),
            r.subject.threads,
            r.null.least(Form::Native, USER)
        );
        for (value, digits) in figures(r) {
            let _ = match value.is_nan() {
                true => write!(text, " – |"),
                false => write!(text, " {value:.digits$} |"),
            };
        }
        text.push('\n');
    }
    let _ = write!(text, "| **geometric mean** | | | |");
    for i in 0..rows.first().map_or(0, |r| figures(r).len()) {
        let values: Vec<f64> = rows
            .iter()
            .map(|r| figures(r)[i].0)
            .filter(|v| !v.is_nan())
            .map(|v| v.max(1e-3))
            .collect();
        let _ = write!(text, " {:.2} |", geometric_mean(&values));
    }
    text.push('\n');
    text
}

/// The figures of a row, and how many digits each deserves.
fn figures(r: &Row) -> [(f64, usize); 18] {
    use Form::{Fast, Naive};
    [
        (r.null.ratio(Naive, USER), 2),
        (r.null.ratio(Fast, USER), 2),
        (r.null.median(Fast, USER), 2),
        (r.null.spread(Fast, USER), 2),
        (r.null.ratio(Fast, CPU), 2),
        (r.null.ratio(Fast, WALL), 2),
        (r.kept.ratio(Fast, USER), 2),
        (r.kept.ratio(Naive, CPU), 2),
        (r.kept.ratio(Fast, CPU), 2),
        (r.bytes_per_access(Naive), 1),
        (r.bytes_per_access(Fast), 2),
        (r.stored_per_access(Fast), 2),
        (r.bytes_per_block(Naive), 1),
        (r.bytes_per_block(Fast), 2),
        (r.compile(Naive), 2),
        (r.compile(Fast), 2),
        (r.text(Naive), 2),
        (r.text(Fast), 2),
    ]
}

/// Prints the tables and, unless this run is `dry`, saves them.
pub(crate) fn publish(text: &str, what: &str, dry: bool) -> Result<()> {
    println!("{text}");
    if !dry {
        println!("written: {}", save(text, what)?.display());
    }
    Ok(())
}

/// Writes the text to `record/DATE-what.md` beside this crate's sources, and never over an older
/// file.
fn save(text: &str, what: &str) -> Result<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("record");
    fs::create_dir_all(&dir)?;
    let file = dir.join(format!("{}-{what}.md", said("date", &["-u", "+%F-%H%M"])));
    fs::write(&file, text).with_context(|| file.display().to_string())?;
    Ok(file)
}

/// Processor, cores, kernel, compiler, revision.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        info.lines()
            .find(|l| l.starts_with(key))
            .and_then(|l| l.split_once(": "))
            .map_or("?", |(_, v)| v)
    };
    format!(
        "{} ({} cores), cache {}, Linux {}, {}, revision {}",
        field("model name"),
        info.lines().filter(|l| l.starts_with("processor")).count(),
        field("cache size"),
        said("uname", &["-r"]),
        said("clang-22", &["--version"]).lines().next().unwrap_or("?"),
        said("git", &["describe", "--always", "--dirty"]),
    )
}

fn said(program: &str, arguments: &[&str]) -> String {
    let out =
        Command::new(program).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    out.map_or_else(|_| "?".to_owned(), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}
