//! What keeps contexts from running at once: waits, serial parts, the longest chain.

use super::{Finding, WORTH, finding, located};
use crate::analysis::source::Place;
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
            Cause::Other => "between tasks for no reason that is recorded (the recording itself, other programs)",
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
    if most.place == Place::default() {
        let text = format!(
            "{} of the running time is in code that was not recorded, most of it in threads that execute no recorded code: it counts for no function here. Compile it with contech-cc to see into it.",
            share(part)
        );
        return Some(finding("unrecorded", String::new(), part, text));
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
    let (place, code) = alone(parallelism, blocks, false).map_or_else(Default::default, |place| {
        (place.short(), format!(", most of it {}", located(&place)))
    });
    let text = format!(
        "{} of the run has only one context running{code}.",
        share(one.share)
    );
    Some(finding("serial", place, one.share, text))
}

/// The code that runs most while nothing else does: a function, and the line of it that runs most. `serial`: not what
/// runs beside other code for the greater part.
pub(super) fn alone(
    parallelism: &parallelism::Report,
    blocks: &blocks::Report,
    serial: bool,
) -> Option<Place> {
    if outside_part(parallelism) >= MISLEADING {
        return None;
    }
    let alone = |levels: &[(u32, u64)]| {
        let one = levels.iter().find(|&&(level, _)| level == 1);
        one.map_or(0, |&(_, count)| count)
    };
    let mut functions: Vec<_> = blocks.functions.iter().collect();
    functions.retain(|row| !serial || alone(&row.levels) > row.executions / 2);
    let busiest = functions.into_iter().max_by_key(|row| alone(&row.levels))?;
    (alone(&busiest.levels) > 0).then(|| hottest(blocks, &busiest.place, |row| alone(&row.levels)))
}

/// The line of a function that executes most by `count`.
pub(super) fn hottest(
    blocks: &blocks::Report,
    function: &Place,
    count: impl Fn(&blocks::BlockRow) -> u64,
) -> Place {
    let inside = blocks.blocks.iter().filter(|row| {
        (&row.place.function, &row.place.file) == (&function.function, &function.file)
    });
    let most = inside.max_by_key(|row| count(row));
    most.map_or_else(|| function.clone(), |row| row.place.clone())
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
