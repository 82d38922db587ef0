//! What a run's results say, in sentences with numbers and source lines, the most important first.

use serde::Serialize;

use crate::analysis::source::Place;
use crate::blocks;
use crate::cache::{self, Ways};
use crate::parallelism::{self, Cause};
use crate::size::Size;
use crate::view::units::{plural, ratio, share, time};

/// Places of waiting named at most.
const WAIT_PLACES: usize = 5;
/// Shares below this are not worth a sentence.
const WORTH: f64 = 0.02;

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// 1 is the most important.
    pub rank: usize,
    /// `lock`, `barrier`, ... for waits; `serial`, `dependences`, `processors`, `hot`, `cache`.
    pub cause: &'static str,
    /// Source line, function or size it is about; may be empty.
    #[serde(rename = "where")]
    pub place: String,
    /// How much: a share of one, of what the sentence says.
    pub share: f64,
    /// The sentence.
    pub text: String,
}

/// The findings of a run.
#[must_use]
pub fn find(
    parallelism: &parallelism::Report,
    blocks: &blocks::Report,
    cache: &cache::Report,
) -> Vec<Finding> {
    let mut scaling = waits(parallelism);
    scaling.extend(serial(parallelism, blocks));
    // A parent that waits for its children to end is how programs are written: last, however long it takes.
    let usual = |finding: &Finding| finding.cause == Cause::Join.name();
    scaling.sort_by(|a, b| usual(a).cmp(&usual(b)).then(b.share.total_cmp(&a.share)));
    scaling.extend(limit(parallelism));
    let findings = scaling
        .into_iter()
        .chain(hot(blocks))
        .chain(capacity(cache));
    findings
        .enumerate()
        .map(|(at, finding)| Finding {
            rank: at + 1,
            ..finding
        })
        .collect()
}

fn finding(cause: &'static str, place: String, share: f64, text: String) -> Finding {
    Finding {
        rank: 0,
        cause,
        place,
        share,
        text,
    }
}

/// Places where contexts wait for a good part of their time.
fn waits(parallelism: &parallelism::Report) -> Vec<Finding> {
    let life = parallelism.life_ns();
    let found = parallelism
        .places
        .iter()
        .map(|at| (at, ratio(at.ns, life)))
        .filter(|&(_, part)| part >= WORTH);
    let worded = found.take(WAIT_PLACES).map(|(at, part)| {
        let what = match at.cause {
            Cause::Lock => "waiting for a lock",
            Cause::Barrier => "waiting for others at a barrier",
            Cause::Join => "waiting for a thread to end",
            Cause::Condition => "waiting for a condition",
            Cause::Semaphore => "waiting for a semaphore",
            Cause::Once => "waiting for a one-time initialisation",
            Cause::Message => "waiting for a message",
            Cause::Delay => "paused by the recording itself",
            Cause::Other => "between tasks for no recorded reason",
        };
        let text = format!(
            "Contexts spend {} of their time {what}, {} ({} in {}).",
            share(part),
            located(&at.place),
            time(at.ns),
            plural(at.waits, "wait")
        );
        finding(at.cause.name(), at.place.short(), part, text)
    });
    worded.collect()
}

/// Time with one context running while there are more.
fn serial(parallelism: &parallelism::Report, blocks: &blocks::Report) -> Option<Finding> {
    let one = parallelism.levels.iter().find(|level| level.running == 1)?;
    if parallelism.contexts < 2 || one.share < WORTH {
        return None;
    }
    let alone = |row: &blocks::FunctionRow| {
        row.levels
            .iter()
            .find(|&&(level, _)| level == 1)
            .map_or(0, |&(_, count)| count)
    };
    let busiest = blocks
        .functions
        .iter()
        .max_by_key(|row| alone(row))
        .filter(|row| alone(row) > 0);
    let (place, code) = busiest.map_or_else(Default::default, |row| {
        (
            row.place.short(),
            format!(", most of it {}", located(&row.place)),
        )
    });
    let text = format!(
        "{} of the run has only one context running{code}.",
        share(one.share)
    );
    Some(finding("serial", place, one.share, text))
}

/// What bounds the run: its longest chain of work, or the machine and its scheduling.
fn limit(parallelism: &parallelism::Report) -> Option<Finding> {
    let chain = ratio(parallelism.span_ns, parallelism.duration_ns);
    if parallelism.contexts < 2 || chain == 0.0 {
        return None;
    }
    if chain >= 0.9 {
        let text = format!(
            "The longest chain of dependent work takes {} of the run: more processors would not help, shorter serial work would.",
            share(chain)
        );
        return Some(finding("dependences", String::new(), chain, text));
    }
    let text = format!(
        "The same tasks on unlimited processors would take {} instead of {}: the dependences allow {:.2} contexts on average, the run reached {:.2}.",
        time(parallelism.span_ns),
        time(parallelism.duration_ns),
        parallelism.potential_average,
        parallelism.average
    );
    Some(finding("processors", String::new(), 1.0 - chain, text))
}

/// The function whose blocks run most.
fn hot(blocks: &blocks::Report) -> Option<Finding> {
    let top = blocks.functions.first()?;
    let part = ratio(top.executions, blocks.executions);
    let text = format!(
        "{} of all block executions are {}, with {:.2} contexts running on average.",
        share(part),
        located(&top.place),
        top.average
    );
    Some(finding("hot", top.place.short(), part, text))
}

/// The size at which doubling a cache pays most.
fn capacity(cache: &cache::Report) -> Option<Finding> {
    let ways = cache
        .points
        .iter()
        .map(|point| point.ways)
        .filter(|&ways| ways <= Ways::Set(8))
        .max()?;
    let points: Vec<_> = cache
        .points
        .iter()
        .filter(|point| point.ways == ways && point.accesses > 0)
        .collect();
    let drop = |pair: &[&cache::Point]| {
        ratio(pair[0].misses, pair[0].accesses) - ratio(pair[1].misses, pair[1].accesses)
    };
    let best = points
        .windows(2)
        .max_by(|a, b| drop(a).total_cmp(&drop(b)))?;
    let part = drop(best);
    if part < 0.005 {
        return None;
    }
    let text = format!(
        "The cache miss rate falls from {} to {} when a shared {ways}-way cache grows from {} to {}.",
        share(ratio(best[0].misses, best[0].accesses)),
        share(ratio(best[1].misses, best[1].accesses)),
        Size::text(best[0].size),
        Size::text(best[1].size)
    );
    Some(finding("cache", Size::text(best[1].size), part, text))
}

/// `in work (main.c:41)`.
fn located(place: &Place) -> String {
    match (place.function.as_str(), place.short()) {
        ("", short) => format!("at {short}"),
        (function, short) if short == function => format!("in {function}"),
        (function, short) => format!("in {function} ({short})"),
    }
}
