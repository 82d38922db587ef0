//! What keeps contexts from running at once: waits, serial parts, the longest chain.

use super::{Finding, WORTH, finding, located};
use crate::parallelism::{self, Cause};
use crate::view::units::{plural, ratio, share, time};
use crate::{blocks, critpath};

/// Places of waiting named at most.
const WAIT_PLACES: usize = 5;
/// Share of time in code that was not recorded from which on the blocks executed do not say where the time is.
const MISLEADING: f64 = 0.5;
/// Potential parallelism below which a program is as good as serial.
const SERIAL: f64 = 1.1;
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

/// Running time in libraries that were not recorded: no other finding knows whose time it is.
pub(super) fn outside(parallelism: &parallelism::Report) -> Option<Finding> {
    let most = parallelism.outside.first()?;
    let part = outside_part(parallelism);
    if part < WORTH {
        return None;
    }
    let callee = match most.callee.as_str() {
        "" => "a function".to_owned(),
        name => name.to_owned(),
    };
    let text = format!(
        "{} of the running time is in code that was not recorded, most of it in {callee}, called {}: here it counts for the functions around the call. Build that library with contech-cc to see into it.",
        share(part),
        located(&most.place)
    );
    Some(finding("unrecorded", most.place.short(), part, text))
}

/// Share of the running time that is in code that was not recorded.
fn outside_part(parallelism: &parallelism::Report) -> f64 {
    let ns = parallelism.outside.iter().map(|at| at.ns).sum();
    ratio(ns, parallelism.running_ns())
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
        .filter(|row| alone(row) > 0 && outside_part(parallelism) < MISLEADING);
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
        .filter(|top| top.share >= WORTH && !top.place.function.is_empty())
        .filter(|_| outside_part(parallelism) < MISLEADING);
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
    // Hardly any parallelism: that the run is longer than the chain is no advice to buy processors.
    if parallelism.potential_average < SERIAL {
        let text = format!(
            "Hardly anything here can run in parallel: {} of the {} of work are one chain of dependent work ({:.2} contexts at once on average, the run reached {:.2}). More processors would not help.{mostly}",
            time(parallelism.span_ns),
            time(parallelism.work_ns),
            parallelism.potential_average,
            parallelism.average
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
