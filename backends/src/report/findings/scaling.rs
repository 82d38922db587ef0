//! What keeps contexts from running at once: waits, serial parts, the longest chain.

use super::{Finding, WORTH, finding, located};
use crate::parallelism::{self, Cause};
use crate::view::units::{plural, ratio, share, time};
use crate::{blocks, critpath};

/// Places of waiting named at most.
const WAIT_PLACES: usize = 5;
/// The cause of a run as long as its longest chain of work.
pub(super) const CHAIN: &str = "dependences";

/// Places where contexts wait for a good part of their time.
pub(super) fn waits(parallelism: &parallelism::Report) -> Vec<Finding> {
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
            Cause::Call => "in calls that wait for something outside the program",
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
pub(super) fn serial(
    parallelism: &parallelism::Report,
    blocks: &blocks::Report,
) -> Option<Finding> {
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
pub(super) fn limit(
    parallelism: &parallelism::Report,
    critpath: &critpath::Report,
) -> Option<Finding> {
    let chain = ratio(parallelism.span_ns, parallelism.duration_ns);
    if parallelism.contexts < 2 || chain == 0.0 {
        return None;
    }
    let top = critpath
        .functions
        .first()
        .filter(|top| top.share >= WORTH && !top.place.function.is_empty());
    let place = top.map_or_else(String::new, |top| top.place.short());
    let mostly = top.map_or_else(String::new, |top| {
        format!(
            " {} of that chain is {}.",
            share(top.share),
            located(&top.place)
        )
    });
    if chain >= 0.9 {
        let text = format!(
            "The longest chain of dependent work takes {} of the run: for these {} contexts more processors would not help; shorter chains would, or more contexts.{mostly}",
            share(chain),
            parallelism.contexts
        );
        return Some(finding(CHAIN, place, chain, text));
    }
    let text = format!(
        "The same tasks on unlimited processors would take {} instead of {}: the dependences allow {:.2} contexts on average, the run reached {:.2}.{mostly}",
        time(parallelism.span_ns),
        time(parallelism.duration_ns),
        parallelism.potential_average,
        parallelism.average
    );
    Some(finding("processors", place, 1.0 - chain, text))
}
