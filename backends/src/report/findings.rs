//! Findings: what a run's results mean, in sentences with numbers and source lines, the most
//! important first.

use serde::Serialize;
use taskgraph::{AccessesOf, Unrecorded};

use super::source::Excerpt;
use crate::analysis::source::Place;
use crate::view::units::{ratio, share, time};
use crate::{account, parallelism, races, workspan};

/// Losses below this share of processor time get no sentence.
const WORTH: f64 = 0.02;

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Finding {
    /// The rank; 1 is the most important.
    pub rank: usize,
    /// The cause: first those of [`account::Loss`], the largest loss first, then `unrecorded`,
    /// `bottleneck`, `races`. `spawns` comes before all others.
    pub cause: &'static str,
    /// The source line that the finding is about; may be empty.
    #[serde(rename = "where")]
    pub place: String,
    /// The share of all processor time; for `spawns` and `bottleneck` of the longest path, for
    /// `races` of the accesses.
    pub share: f64,
    pub text: String,
    /// What it is and where, without its amount, what helps and what that brings; empty if the text
    /// is short.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
    /// How many times as fast the run would be without it, if that is worth a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// The lines that it is about, from the program's source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<Excerpt>,
    /// Where these lines are: first what has to change.
    #[serde(skip)]
    pub places: Vec<Place>,
    /// For each of 64 equal stretches of the run, the share of its processor time that was lost so;
    /// empty if it is not known when it was lost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<f64>,
}

/// The results from which findings are derived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Results<'a> {
    /// Where the processors' time went.
    pub(super) account: &'a account::Report,
    /// Running and waiting contexts.
    pub(super) parallelism: &'a parallelism::Report,
    /// Work and span by call site.
    pub(super) workspan: &'a workspan::Report,
    /// Unordered accesses; `None` if no access was recorded.
    pub(super) races: Option<&'a races::Report>,
    /// Which accesses, and blocks, are missing because the user or a limit wanted so.
    pub(super) unrecorded: Option<Unrecorded>,
}

pub(super) fn find(results: &Results<'_>) -> Vec<Finding> {
    let losses = results.account.losses.iter();
    let losses = losses.filter(|row| row.share >= WORTH).map(|row| Finding {
        cause: row.cause.name(),
        place: row.place(),
        share: row.share,
        text: row.sentence(),
        what: format!("{}{}", row.words(), row.places()),
        advice: Some(row.advice()),
        gain: row.promise(),
        places: row.code.iter().chain(&row.wait).cloned().collect(),
        when: when(row, results.account.total_ns),
        ..Finding::default()
    });
    let findings = serial_form(results)
        .into_iter()
        .chain(losses)
        .chain(outside(results))
        .chain(bottleneck(results))
        .chain(results.races.and_then(races));
    let ranked = (1..).zip(findings);
    ranked.map(|(rank, finding)| Finding { rank, ..finding }).collect()
}

fn finding(cause: &'static str, place: String, share: f64, text: String) -> Finding {
    Finding { cause, place, share, text, ..Finding::default() }
}

/// A loss as a share of each stretch, with three decimals.
fn when(row: &account::Row, total_ns: u64) -> Vec<f64> {
    let each = total_ns as f64 / row.when.len().max(1) as f64;
    let share = |ns: &f64| (ns / each.max(1.0) * 1000.0).round() / 1000.0;
    row.when.iter().map(share).collect()
}

/// The finding for a program of `contech/cilk.h` that ran serially: only its spawns tell what could
/// run in parallel.
fn serial_form(results: &Results<'_>) -> Option<Finding> {
    let workspan = results.workspan;
    let spawns = workspan.sites.iter().any(|site| site.kind == "spawn");
    if !spawns || results.parallelism.contexts > 1 {
        return None;
    }
    let parallelism = workspan.parallelism.max(1.0);
    let text = format!(
        "The program ran serially, and its spawns say what could run in parallel: {parallelism:.2} processors on average (work over span). The analysis workspan says which call site holds it back."
    );
    let share = 1.0 - 1.0 / parallelism;
    Some(finding("spawns", String::new(), share, text))
}

/// The finding for running time in libraries that were not recorded, which no other finding covers.
fn outside(results: &Results<'_>) -> Option<Finding> {
    let most = results.parallelism.outside.first()?;
    let ns = results.parallelism.outside.iter().map(|at| at.ns).sum();
    // Where code was measured, page faults and calls of the system are told apart from it.
    let measured = results.account.unrecorded.as_ref();
    let measured = measured.filter(|_| !most.place.function.is_empty());
    let ns = measured.map_or(ns, |of| of.ns);
    let part = ratio(ns, results.account.total_ns).min(1.0);
    if part < WORTH {
        return None;
    }
    let place = match (most.callee.as_str(), most.place.located()) {
        _ if let Some(of) = measured => {
            format!("most of it in {}, called {}", of.callee, of.code.located())
        }
        _ if most.place.function.is_empty() => {
            "most of it in threads that execute no recorded code".to_owned()
        }
        (_, place) if most.others => format!("most of it in what is called {place} and later"),
        ("", place) => format!("most of it called {place}"),
        (callee, place) => format!("most of it in {callee}, called {place}"),
    };
    let text = match results.unrecorded {
        // Code of which nothing was recorded looks like code that cannot be recorded.
        Some(Unrecorded { of, since_ns }) => format!(
            "{} of the processors' time is in code that was not recorded, because {}.",
            share(part),
            match of {
                AccessesOf::Limit => format!(
                    "the trace reached its limit after {}; a larger CONTECH_LIMIT records more of it, CONTECH_SAMPLE parts of all of it",
                    time(since_ns.unwrap_or(0))
                ),
                AccessesOf::Region => "it is outside of the region of interest".to_owned(),
                AccessesOf::Sample => "it is outside of the sample".to_owned(),
            }
        ),
        None => format!(
            "{} of the processors' time is in code that was not recorded, {place}. Build it with contech-cc to see into it, unless it is the C library's.",
            share(part)
        ),
    };
    let at = measured.map_or(&most.place, |of| &of.code);
    let short = if at.function.is_empty() { String::new() } else { at.short() };
    Some(Finding { places: vec![at.clone()], ..finding("unrecorded", short, part, text) })
}

/// The finding for a call site whose own code is at least a quarter of the longest path, in a
/// program that ran its spawns serially. Of a parallel run the account says what it was lost to,
/// and the order of its locks is in the path.
fn bottleneck(results: &Results<'_>) -> Option<Finding> {
    let workspan = results.workspan;
    let share = workspan.bottleneck_share();
    let spawns = workspan.sites.iter().any(|site| site.kind == "spawn");
    let serially = spawns && results.parallelism.contexts <= 1;
    let site = workspan.bottleneck().filter(|_| serially && share >= 0.25)?;
    Some(finding("bottleneck", site.place(), share, workspan.bottleneck_sentence()))
}

/// The finding for races. It is about the results of the program and not its speed, and so comes
/// last.
fn races(races: &races::Report) -> Option<Finding> {
    let first = races.races.first()?;
    let share = ratio(first.count, races.accesses).min(1.0);
    let text = format!(
        "{} The first: {} and {}.",
        races.sentence(),
        first.a.place.located(),
        first.b.place.located()
    );
    Some(Finding {
        places: vec![first.a.place.clone(), first.b.place.clone()],
        ..finding("races", first.a.place.short(), share, text)
    })
}
