//! What a run's results say, in sentences with numbers and source lines, the most important first.

use serde::Serialize;

use crate::account::located;
use crate::view::units::{ratio, share};
use crate::{account, parallelism, races, workspan};

/// Shares below this are not worth a sentence.
const WORTH: f64 = 0.02;

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// 1 is the most important.
    pub rank: usize,
    /// What processor time is lost to ([`account::Loss`]), the most first; then `spawns`, `unrecorded`, `bottleneck`, `races`.
    pub cause: &'static str,
    /// Source line it is about; may be empty.
    #[serde(rename = "where")]
    pub place: String,
    /// How much: a share of all processor time; of `spawns` and `bottleneck` of the longest path, of `races` of the accesses.
    pub share: f64,
    /// The sentence.
    pub text: String,
}

/// The results that findings are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Results<'a> {
    /// Where the processors' time went.
    pub account: &'a account::Report,
    /// Running and waiting.
    pub parallelism: &'a parallelism::Report,
    /// Work and span by call site.
    pub workspan: &'a workspan::Report,
    /// Unordered accesses; absent where no access was recorded.
    pub races: Option<&'a races::Report>,
}

/// The findings of a run.
#[must_use]
pub fn find(results: &Results<'_>) -> Vec<Finding> {
    let losses = results.account.losses.iter();
    let losses = losses.filter(|row| row.share >= WORTH).map(|row| Finding {
        rank: 0,
        cause: row.cause.name(),
        place: row.place(),
        share: row.share,
        text: row.sentence(),
    });
    let findings = serial_form(results)
        .into_iter()
        .chain(losses)
        .chain(outside(results))
        .chain(bottleneck(results.workspan))
        .chain(results.races.and_then(races));
    let ranked = (1..).zip(findings);
    ranked
        .map(|(rank, finding)| Finding { rank, ..finding })
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

/// A program of `contech/cilk.h` that ran serially: only its spawns say what could run at once.
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

/// Running time in libraries that were not recorded: no other finding knows whose time it is.
fn outside(results: &Results<'_>) -> Option<Finding> {
    let most = results.parallelism.outside.first()?;
    let ns = results.parallelism.outside.iter().map(|at| at.ns).sum();
    let part = ratio(ns, results.account.total_ns).min(1.0);
    if part < WORTH {
        return None;
    }
    let place = match (most.callee.as_str(), located(&most.place)) {
        _ if most.place.function.is_empty() => {
            "most of it in threads that execute no recorded code".to_owned()
        }
        ("", place) => format!("most of it called {place}"),
        (callee, place) => format!("most of it in {callee}, called {place}"),
    };
    let text = format!(
        "{} of the processors' time is in code that was not recorded, {place}. Build it with contech-cc to see into it.",
        share(part)
    );
    let short = if most.place.function.is_empty() {
        String::new()
    } else {
        most.place.short()
    };
    Some(finding("unrecorded", short, part, text))
}

/// The call site whose own code is a good part of the longest path of a program that has parallelism to lose.
fn bottleneck(workspan: &workspan::Report) -> Option<Finding> {
    let share = workspan.bottleneck_share();
    let spawns = workspan.sites.iter().any(|site| site.kind == "spawn");
    let site = workspan.bottleneck().filter(|_| spawns && share >= 0.25)?;
    Some(finding(
        "bottleneck",
        site.place(),
        share,
        workspan.bottleneck_sentence(),
    ))
}

/// Races: about the results of the program, not its speed, and so last.
fn races(races: &races::Report) -> Option<Finding> {
    let first = races.races.first()?;
    let share = ratio(first.count, races.accesses).min(1.0);
    let text = format!(
        "{} The first: {} and {}.",
        races.sentence(),
        located(&first.a.place),
        located(&first.b.place)
    );
    Some(finding("races", first.a.place.short(), share, text))
}
