//! `profile`: the profile of `--contech-mode=workspan` as `workspan` shows its own: tables, CSV,
//! and a page.
//!
//! The file is that of runtime/online/FORMAT.md. It has no calling contexts and no burdened span:
//! there is no flame graph, and the bounds of the speedup are those without burden.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{ArgMatches, FromArgMatches};
use workspan::file::{self, CallSite, Document};

use super::rows::{SiteRow, bounds};
use super::{Locks, Metric, Report};
use crate::output::{self, Destination};
use crate::page::{self, MeasuredPage, Section};
use crate::scaling::Measured;
use crate::view::names::demangled;
use crate::view::say;
use crate::view::units::plural;
use crate::view::{Format, Render};

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

impl From<CallSite> for SiteRow {
    fn from(site: CallSite) -> Self {
        Self {
            caller: demangled(&site.caller),
            callee: demangled(&site.callee),
            file: site.file,
            line: site.line,
            kind: site.kind.word(),
            count: site.count,
            parallelism: site.on_work.top_call_site.parallelism(),
            on_work: site.on_work,
            on_span: site.on_span,
        }
    }
}

fn report(document: Document, p_max: u32, measured: Option<&Measured>) -> Report {
    let Document { metric, work, span, sites, notes, .. } = document;
    let mut report = Report {
        metric: match metric {
            file::Metric::Time => Metric::Time,
            file::Metric::Ops => Metric::Ops,
        },
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
        notes,
    };
    let local = |row: &SiteRow| (row.on_span.local.span, row.on_work.local.work);
    report.sites.sort_by_key(|row| std::cmp::Reverse(local(row)));
    report
}

/// Does it.
///
/// # Errors
/// When the profile cannot be read or the output cannot be written.
pub fn run(matches: &ArgMatches) -> Result<()> {
    let options = Options::from_arg_matches(matches)?;
    let file = &options.profile;
    let cannot = || format!("cannot read {}", file.display());
    let text = std::fs::read(file).with_context(cannot)?;
    let document = Document::read(&text).with_context(cannot)?;
    let report = report(document, options.p_max, options.measured.as_ref());
    if let Some(file) = &options.html {
        let page = page(&report, &options.profile)?;
        output::to(Some(file), |out| Ok(out.write_all(page.as_bytes())?))?;
        if options.to.output.is_none() && options.to.format == Format::Text {
            say!("page written to {}", file.display());
        }
    }
    // What the file notes is part of the report.
    options.to.write(&report, &[], false)
}

fn page(report: &Report, file: &Path) -> Result<String> {
    let spawns = report.sites.iter().filter(|row| row.kind != "call");
    page::measured(&MeasuredPage {
        brand: "Contech profile",
        command: file.display().to_string(),
        measured: format!("measured as it ran, in {}", report.metric.unit()),
        headline: report.bottleneck_sentence(),
        warnings: report.notes.clone(),
        findings: Vec::<()>::new(),
        tiles: vec![
            ("work", report.amount(report.work)),
            ("span", report.amount(report.span)),
            ("parallelism", format!("{:.2}", report.parallelism)),
            ("call sites", plural(report.sites.len() as u64, "site")),
            ("that spawn", spawns.count().to_string()),
        ],
        sections: vec![Section::of("workspan", "Work and span", &report.view())],
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use workspan::Measure;

    use super::*;

    /// Text as a file may have it.
    fn words() -> impl Strategy<Value = String> {
        prop_oneof!["\\PC{0,12}", Just("_Z4leafi".to_owned()), Just("</script>".to_owned())]
    }

    fn measure() -> impl Strategy<Value = Measure> {
        let number = prop_oneof![0..100u64, any::<u64>()];
        proptest::array::uniform(number).prop_map(|n: [u64; 9]| {
            let sum = |i: usize| workspan::Sum { count: n[i], work: n[i + 1], span: n[i + 2] };
            Measure { top_call_site: sum(0), top_caller: sum(3), local: sum(6) }
        })
    }

    fn site() -> impl Strategy<Value = CallSite> {
        use workspan::Kind::{Call, Spawn};
        let kind = prop_oneof![Just(Call), Just(Spawn)];
        let place = (words(), words(), words(), any::<u32>(), kind);
        (place, any::<u64>(), measure(), measure()).prop_map(
            |((caller, callee, file, line, kind), count, on_work, on_span)| CallSite {
                caller,
                callee,
                file,
                line,
                kind,
                count,
                on_work,
                on_span,
            },
        )
    }

    proptest! {
        #[test]
        fn every_profile_that_is_read_is_shown(
            (work, span) in (any::<u64>(), any::<u64>()),
            sites in proptest::collection::vec(site(), 0..6),
            notes in proptest::collection::vec(words(), 0..2),
        ) {
            let document = Document {
                format: file::FORMAT.to_owned(),
                version: file::VERSION,
                metric: file::Metric::Ops,
                work,
                span,
                parallelism: 1.0,
                complete: true,
                depth: 2,
                elements: 0,
                sites,
                notes,
            };
            let bytes = serde_json::to_vec(&document).unwrap();
            let report = report(Document::read(&bytes).unwrap(), 64, None);
            let mut out = Vec::new();
            report.view().write_text(&mut out, crate::view::Screen::file()).unwrap();
            report.view().write_csv(&mut out).unwrap();
            serde_json::to_writer(&mut out, &report).unwrap();
            prop_assert!(page(&report, "workspan.json".as_ref()).unwrap().contains("</html>"));
        }
    }
}
