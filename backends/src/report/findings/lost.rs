//! Where the time of the run's processors went, in one sentence, and what took the most of it: the first a user reads.

use super::{Finding, Results, WORTH, finding, located, scaling};
use crate::analysis::source::Place;
use crate::parallelism::Cause;
use crate::sharing;
use crate::view::units::{count, share, time, whole};

/// What it costs to fetch a line that another processor wrote, ns: as in `stack`.
const TRANSFER_NS: f64 = 80.0;
/// Contexts that run for less on average are too small to hand out; fewer of them than this do not matter.
const SMALL_NS: f64 = 2000.0;
const MANY: u64 = 1000;
/// What making and handing out a task takes, ns (libomp, bench/scaling).
const TASK_NS: f64 = 200.0;

/// The sentence; none where nothing ran in parallel, or nothing worth a sentence was lost.
pub(super) fn lost(results: &Results<'_>) -> Option<Finding> {
    let factors = results.factors;
    let total = factors.account.total();
    if factors.processors < 2 || total <= 0.0 {
        return None;
    }
    let losses = [
        serialization(results),
        false_sharing(results),
        small_tasks(results).unwrap_or_else(|| imbalance(results)),
        waiting(results, Cause::Lock),
        waiting(results, Cause::Condition),
        waiting(results, Cause::Message),
    ];
    let most = losses
        .into_iter()
        .max_by(|a, b| a.ns.total_cmp(&b.ns))
        .filter(|most| most.ns / total >= WORTH)?;
    let text = format!(
        "{} processors spend {} of their time running the program. What costs most is {}: {}. {}",
        factors.processors,
        share(factors.account.running / total),
        most.text,
        share(most.ns / total),
        most.advice
    );
    let place = most.place.map_or_else(String::new, |place| place.short());
    Some(finding(most.cause, place, most.ns / total, text))
}

/// One loss of processor time: ns, in words, where, and what helps.
struct Loss {
    cause: &'static str,
    ns: f64,
    text: String,
    place: Option<Place>,
    advice: &'static str,
}

/// `, most of it in work (main.c:41)`.
fn at(what: &str, place: Option<&Place>) -> String {
    let known = place.filter(|place| !place.function.is_empty() || !place.file.is_empty());
    known.map_or_else(String::new, |place| format!(", {what} {}", located(place)))
}

fn serialization(results: &Results<'_>) -> Loss {
    let place = scaling::alone(results.parallelism, results.blocks, true);
    Loss {
        cause: "serialization",
        ns: results.factors.account.serialization,
        text: format!(
            "serial code before, between and after the parallel phases{}",
            at("most of it", place.as_ref())
        ),
        place,
        advice: "Make it parallel, or overlap it.",
    }
}

/// It is running time to the account: an estimate, by the model of `sharing`.
fn false_sharing(results: &Results<'_>) -> Loss {
    let lines = |sharing: &sharing::Report| {
        let totals = sharing.totals.iter().map(|total| total.false_misses);
        totals.max().unwrap_or(0)
    };
    let lines = results.sharing.map_or(0, lines);
    let source = results.sharing.and_then(|sharing| {
        let rows = sharing.sources.iter();
        rows.max_by_key(|row| row.false_misses)
    });
    let place = source.map(|row| row.a.clone());
    Loss {
        cause: "sharing",
        ns: (lines as f64 * TRANSFER_NS).min(results.factors.account.running),
        text: format!(
            "false sharing ({} transfers of lines, some {TRANSFER_NS:.0} ns each){}",
            count(lines),
            at("by the write", place.as_ref())
        ),
        place,
        advice: "Pad what threads write, or give each thread its own.",
    }
}

/// Contexts so small that making and handing them out, and waiting for it, is what they cost.
fn small_tasks(results: &Results<'_>) -> Option<Loss> {
    let (factors, contexts) = (results.factors, results.parallelism.contexts);
    let account = &factors.account;
    let serial = factors.duration_ns.saturating_sub(factors.parallel_ns);
    let each = (account.running - serial as f64).max(0.0) / contexts.max(1) as f64;
    if contexts < MANY || each >= SMALL_NS {
        return None;
    }
    let sites = results.workspan.sites.iter();
    let spawns = sites.filter(|site| site.kind == "spawn");
    let place = spawns.max_by_key(|site| site.count).map(|site| Place {
        function: site.caller.clone(),
        file: site.file.clone(),
        line: site.line,
    });
    let making = (contexts as f64 * TASK_NS).min(account.running);
    Some(Loss {
        cause: "scheduling",
        ns: account.barrier + account.unoccupied + making,
        text: format!(
            "making, handing out and waiting for {} tasks or threads that run for {} on average{}",
            count(contexts),
            time(whole(each)),
            at("made", place.as_ref())
        ),
        place,
        advice: "Make fewer and larger ones: a larger cut-off, grain or chunk.",
    })
}

fn imbalance(results: &Results<'_>) -> Loss {
    let account = &results.factors.account;
    let cause = if account.barrier > account.unoccupied {
        Cause::Barrier
    } else {
        Cause::Join
    };
    let place = waited(results, cause);
    Loss {
        cause: "imbalance",
        ns: account.barrier + account.unoccupied,
        text: format!(
            "load imbalance (contexts without work while others still have some){}",
            at("waited for", place.as_ref())
        ),
        place,
        advice: "Deal out the work in smaller pieces (schedule(dynamic), more tasks) or in equal ones.",
    }
}

fn waiting(results: &Results<'_>, cause: Cause) -> Loss {
    let account = &results.factors.account;
    let (ns, what, advice) = match cause {
        Cause::Lock => (
            account.lock + account.spin,
            "waiting for locks",
            "Hold the lock for less, or split it: one per part of the data.",
        ),
        Cause::Condition => (
            account.condition,
            "waiting for conditions",
            "Hand work over earlier or in smaller pieces.",
        ),
        _ => (
            account.message,
            "waiting for messages",
            "Send earlier, or do something else meanwhile.",
        ),
    };
    let place = waited(results, cause);
    Loss {
        cause: cause.name(),
        ns,
        text: format!("{what}{}", at("most of it", place.as_ref())),
        place,
        advice,
    }
}

/// Where contexts wait most for a cause.
fn waited(results: &Results<'_>, cause: Cause) -> Option<Place> {
    let mut places = results.parallelism.places.iter();
    let most = places.find(|at| at.cause == cause)?;
    Some(most.place.clone())
}
