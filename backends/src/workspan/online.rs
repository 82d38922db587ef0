//! `profile`: the profile of `--contech-mode=workspan` as `workspan` shows its own: tables, CSV, and a page.
//!
//! The file is that of runtime/online/FORMAT.md. It has no calling contexts and no burdened span: there is no flame graph,
//! and the bounds of the speedup are those without burden.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{ArgMatches, FromArgMatches};
use serde::Deserialize;

use super::rows::{Profile, SiteRow, bounds};
use super::{Locks, Metric, Report};
use crate::cli::{Destination, output};
use crate::report::{MeasuredPage, Section, render_measured};
use crate::scaling::Measured;
use crate::view::units::plural;
use crate::view::{Format, Render};

/// What the file says it is.
const MAGIC: &str = "contech-workspan";
const VERSION: u32 = 1;
const MAKE: &str = "build with contech-cc --contech-mode=workspan and run the program to write one";

/// Options of `profile`.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Profile, as written by a program of contech-cc --contech-mode=workspan
    #[arg(value_name = "WORKSPAN.JSON")]
    pub profile: PathBuf,
    /// Where the result goes.
    #[command(flatten)]
    pub to: Destination,
    /// Write a self-contained HTML page to FILE, too
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Processors to bound the speedup for
    #[arg(long, value_name = "P", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub p_max: u32,
    /// Speedups measured by `contech scale --format json`, to set beside the bounds
    #[arg(long, value_name = "FILE", value_parser = Measured::argument())]
    pub measured: Option<Measured>,
}

/// The file.
#[derive(Debug, Deserialize)]
struct Document {
    metric: Metric,
    work: u64,
    span: u64,
    sites: Vec<Row>,
    notes: Vec<String>,
}

/// Which file it is: read before the rest.
#[derive(Debug, Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Debug, Deserialize)]
struct Row {
    caller: String,
    callee: String,
    file: String,
    line: u32,
    kind: Kind,
    count: u64,
    on_work: Profile,
    on_span: Profile,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Call,
    Spawn,
    Loop,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Spawn => "spawn",
            Self::Loop => "loop",
        }
    }
}

impl From<Row> for SiteRow {
    fn from(row: Row) -> Self {
        Self {
            caller: demangled(&row.caller),
            callee: demangled(&row.callee),
            file: row.file,
            line: row.line,
            kind: row.kind.word(),
            count: row.count,
            parallelism: row.on_work.top_call_site.parallelism(),
            on_work: row.on_work,
            on_span: row.on_span,
            slack_ns: None,
        }
    }
}

/// A C++ function as the source calls it: the program writes symbols.
fn demangled(symbol: &str) -> String {
    addr2line::demangle_auto(symbol.into(), None).into_owned()
}

/// A profile from the bytes of a file.
///
/// # Errors
/// Names the file, what is wrong with it, what was expected and what to do.
fn document(text: &[u8], file: &Path) -> Result<Document> {
    let name = file.display();
    let head: Head = serde_json::from_slice(text).with_context(|| {
        format!("{name} is no on-line work/span profile (JSON with \"format\":\"{MAGIC}\"); {MAKE}")
    })?;
    if head.format != MAGIC {
        bail!(
            "{name} says it is \"{}\"; expected \"{MAGIC}\"; {MAKE}",
            head.format
        );
    }
    if head.version != VERSION {
        bail!(
            "{name} has version {}; this program reads version {VERSION}: use the contech that wrote it, or write it again",
            head.version
        );
    }
    serde_json::from_slice(text)
        .with_context(|| format!("{name} is damaged; run the program again to write it"))
}

/// A profile from the bytes of `file`, as text and as a page; bounds for up to 64 processors.
///
/// # Errors
/// Names the file, what is wrong with it, what was expected and what to do.
pub fn shown(text: &[u8], file: &Path) -> Result<(Vec<u8>, String)> {
    let report = report(document(text, file)?, 64, None);
    let mut out = Vec::new();
    report.view().write_text(&mut out)?;
    Ok((out, page(&report, file)?))
}

fn report(document: Document, p_max: u32, measured: Option<&Measured>) -> Report {
    let Document {
        metric,
        work,
        span,
        sites,
        notes,
    } = document;
    let mut report = Report {
        metric,
        locks: Locks::Free,
        work,
        span,
        parallelism: crate::view::units::ratio(work, span),
        burden: 0,
        burdened_span: span,
        burdened_parallelism: crate::view::units::ratio(work, span),
        sites: sites.into_iter().map(SiteRow::from).collect(),
        bounds: bounds(work, span, span, p_max, measured),
        measured: measured.cloned(),
        flame: Vec::new(),
        what_if: None,
        near: Vec::new(),
        notes,
    };
    let local = |row: &SiteRow| (row.on_span.local.span, row.on_work.local.work);
    report
        .sites
        .sort_by_key(|row| std::cmp::Reverse(local(row)));
    report
}

/// Does it.
///
/// # Errors
/// When the profile cannot be read or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    let file = &options.profile;
    let text = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let document = document(&text, file)?;
    let report = report(document, options.p_max, options.measured.as_ref());
    if let Some(file) = &options.html {
        let page = page(&report, &options.profile)?;
        output::to(Some(file), |out| Ok(out.write_all(page.as_bytes())?))?;
        if options.to.output.is_none() && options.to.format == Format::Text {
            eprintln!("page written to {}", file.display());
        }
    }
    // What the file notes is part of the report.
    options.to.write(&report, &[], false)
}

fn page(report: &Report, file: &Path) -> Result<String> {
    let spawns = report.sites.iter().filter(|row| row.kind != "call");
    render_measured(&MeasuredPage {
        brand: "Contech profile",
        command: file.display().to_string(),
        measured: format!("measured as it ran, in {}", report.metric.unit()),
        headline: report.bottleneck_sentence(),
        warnings: report.notes.clone(),
        findings: Vec::new(),
        tiles: vec![
            ("work", report.amount(report.work)),
            ("span", report.amount(report.span)),
            ("parallelism", format!("{:.2}", report.parallelism)),
            ("call sites", plural(report.sites.len() as u64, "site")),
            ("that spawn", spawns.count().to_string()),
        ],
        sections: vec![Section {
            id: "workspan",
            menu: "Work and span",
            parts: report.view().to_page(),
        }],
    })
}
