//! Writes the profile as JSON to a file, and in a few lines to standard error.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contech_guest::say;
use workspan::{Measure, Sum};

use crate::clock::Metric;
use crate::profile::{Profile, SiteFacts};
use crate::symbols::{Place, Symbols};

/// The variable with the name of the file.
const VARIABLE: &str = "CONTECH_PROFILE";
const DEFAULT: &str = "workspan.json";
/// Number of call sites on standard error.
const SHOWN: usize = 8;

struct Row {
    site: Place,
    callee: String,
    kind: &'static str,
    on_work: Measure,
    on_span: Measure,
}

impl Row {
    /// A text like `spawn at fib.c:8`.
    fn place(&self) -> String {
        match (self.site.file.rsplit('/').next(), self.site.line) {
            (Some(file), line) if line > 0 => format!("{} at {file}:{line}", self.kind),
            _ => format!("{} from outside", self.kind),
        }
    }
}

/// When a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// While the program runs.
    Midway,
    /// At the program's end.
    End,
    /// At the program's end by a signal.
    Signal(i32),
}

/// Writes what is known now.
pub(crate) fn profile(profile: &Profile, foreign: bool, when: When) {
    let (ns, unit) = match profile.metric {
        Metric::Time => (profile.started.ns_per_cycle(), " ns"),
        Metric::Operations => (1.0, " operations"),
    };
    let notes = notes(profile, foreign, when);
    for note in &notes {
        say(note);
    }
    let rows = rows(profile);
    let totals = profile.shadow.so_far();
    let time = |cycles: u64| to_ns(cycles, ns);
    let (work, span) = (time(totals.work), time(totals.span));
    say(&format!(
        "work {work}{unit}, span {span}{unit}, parallelism {:.2}",
        ratio(work, span)
    ));
    for row in rows
        .iter()
        .take(SHOWN)
        .filter(|row| row.on_span.local.span > 0)
    {
        say(&format!(
            "{:5.1}% of the span is the own code of {} ({}), {} of its {} {} on it",
            100.0 * ratio(time(row.on_span.local.span), span),
            row.callee,
            row.place(),
            row.on_span.local.count,
            row.on_work.local.count,
            if row.kind == "loop" {
                "iterations"
            } else {
                "invocations"
            },
        ));
    }
    let json = json(profile, &rows, &notes, ns);
    let file = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let file = file.unwrap_or_else(|| DEFAULT.to_owned());
    let temporary = format!("{file}.tmp-{}", std::process::id());
    let written =
        std::fs::write(&temporary, json).and_then(|()| std::fs::rename(&temporary, &file));
    if let Err(error) = written {
        say(&format!("{file}: {error}; set {VARIABLE} to another file"));
    }
}

fn notes(profile: &Profile, foreign: bool, when: When) -> Vec<String> {
    let mut notes = Vec::new();
    if foreign {
        notes.push("the program ran on several threads: the profile is that of the first one alone, and no profile of the program".to_owned());
    }
    let running = profile.running();
    if let When::Signal(signal) = when {
        notes.push(format!(
            "signal {signal} ended the program: the profile is that of what completed before"
        ));
    }
    if running > 0 && when == When::Midway {
        notes.push(format!("written while the program runs: {running} invocations have not returned and are not in the profiles"));
    } else if running > 0 {
        notes.push(format!(
            "the program ended inside {running} invocations: they are not in the profiles"
        ));
    }
    if profile.jumped > 0 {
        notes.push(format!(
            "{} invocations ended by a jump or an exception; their last time may be their caller's",
            profile.jumped
        ));
    }
    notes
}

fn rows(profile: &Profile) -> Vec<Row> {
    let mut symbols = Symbols::default();
    let mut on_span: BTreeMap<u32, Measure> = BTreeMap::new();
    profile
        .shadow
        .on_span(|site, measure| *on_span.entry(site).or_default() += measure);
    let sites = profile.sites.all().iter().zip(&profile.facts);
    let mut rows: Vec<Row> = (0u32..)
        .zip(sites)
        .map(|(id, (&address, facts))| Row {
            // The return address lies after the call.
            site: symbols.place(address.saturating_sub(1)),
            callee: match symbols.place(facts.function).function {
                name if name.is_empty() => "(not recorded)".to_owned(),
                name => name,
            },
            kind: match facts {
                SiteFacts { repeats: true, .. } => "loop",
                SiteFacts { spawn: true, .. } => "spawn",
                SiteFacts { .. } => "call",
            },
            on_work: profile.shadow.on_work(id),
            on_span: on_span.get(&id).copied().unwrap_or_default(),
        })
        .filter(|row| row.on_work != Measure::default() || row.on_span != Measure::default())
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.on_span.local.span, row.on_work.local.work)));
    rows
}

fn json(profile: &Profile, rows: &[Row], notes: &[String], ns: f64) -> String {
    let totals = profile.shadow.so_far();
    let (work, span) = (to_ns(totals.work, ns), to_ns(totals.span, ns));
    let mut out = String::new();
    let _ = write!(
        out,
        "{{\"format\":\"contech-workspan\",\"version\":1,\"metric\":\"{}\",\"work\":{work},\"span\":{span},\"parallelism\":{},\"complete\":{},\"depth\":{},\"elements\":{},\"sites\":[",
        match profile.metric {
            Metric::Time => "time",
            Metric::Operations => "ops",
        },
        ratio(work, span),
        notes.is_empty(),
        profile.shadow.deepest(),
        profile.shadow.elements(),
    );
    for (at, row) in rows.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(
            out,
            "{comma}\n{{\"caller\":{},\"callee\":{},\"file\":{},\"line\":{},\"kind\":\"{}\",\"count\":{},\"on_work\":{},\"on_span\":{}}}",
            quoted(&row.site.function),
            quoted(&row.callee),
            quoted(&row.site.file),
            row.site.line,
            row.kind,
            row.on_work.local.count,
            measure(&row.on_work, ns),
            measure(&row.on_span, ns),
        );
    }
    out.push_str("],\"notes\":[");
    let notes: Vec<String> = notes.iter().map(|note| quoted(note)).collect();
    out.push_str(&notes.join(","));
    out.push_str("]}\n");
    out
}

fn measure(measure: &Measure, ns: f64) -> String {
    let sum = |sum: Sum| {
        format!(
            "{{\"count\":{},\"work\":{},\"span\":{}}}",
            sum.count,
            to_ns(sum.work, ns),
            to_ns(sum.span, ns)
        )
    };
    format!(
        "{{\"top_call_site\":{},\"top_caller\":{},\"local\":{}}}",
        sum(measure.top_call_site),
        sum(measure.top_caller),
        sum(measure.local)
    )
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a measured time has fewer than 53 bits of meaning"
)]
fn to_ns(cycles: u64, ns: f64) -> u64 {
    (cycles as f64 * ns) as u64
}

#[allow(clippy::cast_precision_loss, reason = "a ratio")]
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
