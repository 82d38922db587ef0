//! Writes the profile as JSON to a file, and in a few lines to standard error.

use std::collections::BTreeMap;
use std::path::Path;

use contech_interpose::clock::scaled;
use contech_interpose::{say, whole};
use workspan::file::{CallSite, Document, FORMAT, Metric, VERSION};
use workspan::{Measure, Sum};

use crate::profile::Profile;
use crate::symbols::Symbols;

/// The variable with the name of the file.
const VARIABLE: &str = "CONTECH_PROFILE";
const DEFAULT: &str = "workspan.json";
/// Number of call sites on standard error.
const SHOWN: usize = 8;

/// A text like `spawn at fib.c:8`.
fn place(site: &CallSite) -> String {
    let kind = site.kind.word();
    match (site.file.rsplit('/').next(), site.line) {
        (Some(file), line) if line > 0 => format!("{kind} at {file}:{line}"),
        _ => format!("{kind} from outside"),
    }
}

/// When a profile is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// While the program runs, because another one is to replace it.
    Midway,
    /// At the program's end.
    End,
}

/// Writes what is known now.
pub(crate) fn profile(profile: &Profile, foreign: bool, when: When) {
    let (ns, unit) = match profile.metric {
        Metric::Time => (profile.started.ns_per_tick(), " ns"),
        Metric::Ops => (1.0, " operations"),
    };
    let notes = notes(profile, foreign, when);
    for note in &notes {
        say(note);
    }
    let whole = profile.shadow.so_far().map(|amount| scaled(amount, ns));
    let (work, span, parallelism) = (whole.work, whole.span, whole.parallelism());
    say(&format!("work {work}{unit}, span {span}{unit}, parallelism {parallelism:.2}"));
    let document = Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        metric: profile.metric,
        work,
        span,
        parallelism,
        complete: notes.is_empty(),
        depth: profile.shadow.deepest(),
        elements: profile.shadow.elements(),
        sites: sites(profile, ns),
        notes,
    };
    for site in document.sites.iter().take(SHOWN) {
        let own = Sum::one(site.on_span.local.span, span);
        if own.work > 0 {
            say(&format!(
                "{:5.1}% of the span is the own code of {} ({}), {} of its {} invocations on it",
                100.0 * own.parallelism(),
                site.callee,
                place(site),
                site.on_span.local.count,
                site.on_work.local.count,
            ));
        }
    }
    let file = std::env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let file = file.unwrap_or_else(|| DEFAULT.to_owned());
    let written = serde_json::to_vec(&document)
        .map_err(std::io::Error::from)
        .and_then(|json| whole::replace(Path::new(&file), &json));
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

/// The call sites with what they took, those that took most of the span first.
fn sites(profile: &Profile, ns: f64) -> Vec<CallSite> {
    let mut symbols = Symbols::new();
    let mut on_span: BTreeMap<u32, Measure> = BTreeMap::new();
    profile.shadow.on_span(|site, measure| *on_span.entry(site).or_default() += measure);
    let mut sites = Vec::new();
    for (id, (&address, facts)) in (0u32..).zip(profile.sites.all().iter().zip(&profile.facts)) {
        let on_work = profile.shadow.on_work(id);
        let on_span = on_span.get(&id).copied().unwrap_or_default();
        if on_work == Measure::default() && on_span == Measure::default() {
            continue;
        }
        // The return address lies after the call.
        let site = symbols.place(address.saturating_sub(1));
        let callee = match symbols.place(facts.function).function {
            name if name.is_empty() => "(not recorded)".to_owned(),
            name => name,
        };
        let amount = |cycles| scaled(cycles, ns);
        sites.push(CallSite {
            caller: site.function,
            callee,
            file: site.file,
            line: site.line,
            kind: facts.kind,
            count: on_work.local.count,
            on_work: on_work.map(amount),
            on_span: on_span.map(amount),
        });
    }
    sites.sort_by_key(|site| std::cmp::Reverse((site.on_span.local.span, site.on_work.local.work)));
    sites
}
