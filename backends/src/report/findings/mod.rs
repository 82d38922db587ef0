//! What a run's results say, in sentences with numbers and source lines, the most important first.

mod lost;
mod memory;
mod scaling;

use serde::Serialize;

use crate::analysis::source::Place;
use crate::parallelism::Cause;
use crate::scaling::recorded::FactorsReport;
use crate::{blocks, cache, critpath, misses, parallelism, races, sharing, workspan};

/// Shares below this are not worth a sentence.
const WORTH: f64 = 0.02;

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// 1 is the most important.
    pub rank: usize,
    /// What cost the processors most (`serialization`, `imbalance`, `scheduling`, `sharing`, `lock`, ...) first; then `lock`,
    /// `barrier`, ... for waits; `spawns`, `serial`, `dependences`, `processors`, `unrecorded`, `bottleneck`, `hot`, `cache`, `misses`, `sharing`,
    /// `races`.
    pub cause: &'static str,
    /// Source line, function or size it is about; may be empty.
    #[serde(rename = "where")]
    pub place: String,
    /// How much: a share of one, of what the sentence says.
    pub share: f64,
    /// The sentence.
    pub text: String,
}

/// The results that findings are drawn from.
#[derive(Clone, Copy, Debug)]
pub struct Results<'a> {
    /// Running and waiting.
    pub parallelism: &'a parallelism::Report,
    /// Where the processors' time went.
    pub factors: &'a FactorsReport,
    /// Block executions.
    pub blocks: &'a blocks::Report,
    /// Miss curves.
    pub cache: &'a cache::Report,
    /// The longest chain of work.
    pub critpath: &'a critpath::Report,
    /// Work and span by call site.
    pub workspan: &'a workspan::Report,
    /// Misses by instruction; absent where no access was recorded.
    pub misses: Option<&'a misses::Report>,
    /// Lines that go back and forth; absent where no access was recorded.
    pub sharing: Option<&'a sharing::Report>,
    /// Unordered accesses; absent where no access was recorded.
    pub races: Option<&'a races::Report>,
}

/// What order and times alone say of a run: a part of its findings.
#[must_use]
pub(super) fn first(parallelism: &parallelism::Report) -> Vec<Finding> {
    let mut waits = scaling::waits(parallelism);
    sort(&mut waits);
    scaling::outside(parallelism)
        .into_iter()
        .chain(waits)
        .collect()
}

/// A parent that waits for its children to end is how programs are written: last, however long it takes.
fn sort(findings: &mut [Finding]) {
    let usual =
        |finding: &Finding| [Cause::Join.name(), Cause::Call.name()].contains(&finding.cause);
    findings.sort_by(|a, b| usual(a).cmp(&usual(b)).then(b.share.total_cmp(&a.share)));
}

/// The findings of a run.
#[must_use]
pub fn find(results: &Results<'_>) -> Vec<Finding> {
    let mut scaling = scaling::waits(results.parallelism);
    scaling.extend(scaling::serial(results.parallelism, results.blocks));
    let limit = scaling::limit(results.parallelism, results.critpath);
    // A chain as long as the run explains the waits, and comes first; otherwise the waits explain the run.
    let (first, last): (Vec<_>, Vec<_>) = limit
        .into_iter()
        .partition(|finding| finding.cause == scaling::CHAIN);
    sort(&mut scaling);
    let findings = serial_form(results)
        .into_iter()
        .chain(lost::lost(results))
        .chain(first)
        .chain(scaling::outside(results.parallelism))
        .chain(scaling)
        .chain(last)
        .chain(bottleneck(results.workspan))
        .chain(results.sharing.and_then(memory::false_sharing))
        .chain(memory::hot(results.blocks))
        .chain(memory::capacity(results.cache))
        .chain(results.misses.and_then(memory::missing))
        .chain(results.races.and_then(races));
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
    let share = crate::view::units::ratio(first.count, races.accesses).min(1.0);
    let text = format!(
        "{} The first: {} and {}.",
        races.sentence(),
        located(&first.a.place),
        located(&first.b.place)
    );
    Some(finding("races", first.a.place.short(), share, text))
}

/// `in work (main.c:41)`.
fn located(place: &Place) -> String {
    match (place.function.as_str(), place.short()) {
        ("", short) => format!("at {short}"),
        (function, short) if short == function => format!("in {function}"),
        (function, short) => format!("in {function} ({short})"),
    }
}
