//! Sums over tasks, and the rows they become.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{ContextId, FunctionId, StaticInfo, TaskKind};

use super::near::Detour;
use super::observed::Chain;
use super::walk::Crossing;
use crate::analysis::source::Place;
use crate::view::units::ratio;

/// Upper ends of the slack bands, as shares of the span.
const BANDS: [f64; 8] = [0.0, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0];

/// The band a slack belongs to: an index into [`BANDS`].
#[must_use]
fn band(slack: u64, span: u64) -> usize {
    let share = ratio(slack, span);
    BANDS
        .iter()
        .position(|&end| share <= end)
        .unwrap_or(BANDS.len() - 1)
}

/// Number and work of some tasks.
#[derive(Clone, Copy, Debug, Default)]
struct BandSum {
    tasks: u64,
    ns: u64,
}

impl BandSum {
    fn add(&mut self, tasks: u64, ns: u64) {
        self.tasks += tasks;
        self.ns += ns;
    }
}

/// Sums of a function.
#[derive(Clone, Copy, Debug)]
struct Sums {
    work_ns: u64,
    critical_ns: u64,
    /// Time on the observed chain.
    observed_ns: u64,
    min_slack_ns: u64,
    /// Slack times work.
    weighted_slack: u128,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            work_ns: 0,
            critical_ns: 0,
            observed_ns: 0,
            min_slack_ns: u64::MAX,
            weighted_slack: 0,
        }
    }
}

impl Sums {
    /// Adds a part of a task.
    fn add(&mut self, ns: u64, slack: u64, critical: bool) {
        self.work_ns += ns;
        if critical {
            self.critical_ns += ns;
        }
        if ns > 0 {
            self.min_slack_ns = self.min_slack_ns.min(slack);
        }
        self.weighted_slack += u128::from(slack) * u128::from(ns);
    }

    fn merge(&mut self, other: &Self) {
        self.work_ns += other.work_ns;
        self.critical_ns += other.critical_ns;
        self.observed_ns += other.observed_ns;
        self.min_slack_ns = self.min_slack_ns.min(other.min_slack_ns);
        self.weighted_slack += other.weighted_slack;
    }
}

/// A function, and its part in the paths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionRow {
    /// Where the function is.
    #[serde(flatten)]
    pub place: Place,
    /// Its time on the longest path.
    pub critical_ns: u64,
    /// The time on the longest path as a share of the span.
    pub share: f64,
    /// Its time on the observed chain.
    pub observed_ns: u64,
    /// The time on the observed chain as a share of the run.
    pub observed_share: f64,
    /// Time of the function in all tasks.
    pub work_ns: u64,
    /// The least slack of a task in which it ran.
    pub min_slack_ns: u64,
    /// The average slack of its work.
    pub mean_slack_ns: u64,
}

/// Time on the path in tasks that are not code of the program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverheadRow {
    /// `create` or `sync`.
    pub kind: String,
    /// Number of tasks.
    pub tasks: u64,
    pub ns: u64,
    /// Share of the span.
    pub share: f64,
}

/// Changes of the path from one context to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossingRow {
    /// Why the path changes.
    pub cause: Crossing,
    pub count: u64,
    /// How long the contexts that the path changes to had waited there.
    pub waited_ns: u64,
}

/// The observed chain: its parts add up to `end_ns`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observed {
    /// When the last task ended.
    pub end_ns: u64,
    /// The parts, the largest first.
    pub parts: Vec<Part>,
    /// Where the chain is, see [`Chain::course`].
    #[serde(skip)]
    pub course: Vec<(ContextId, u64, u64)>,
}

/// A part of the observed chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// `work`, `operations`, `handover CAUSE` (waiting after the awaited event), `delay CAUSE` (between the event and
    /// the start of the next task), or `before` (the first task).
    pub what: String,
    pub ns: u64,
    /// Share of the run.
    pub share: f64,
}

/// Work with slack up to a share of the span.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Band {
    /// Slack is at most this share of the span, and more than the share of the band before.
    pub up_to: f64,
    /// Number of tasks with a weight.
    pub tasks: u64,
    /// Their work.
    pub ns: u64,
    /// Share of all work.
    pub share: f64,
}

impl Observed {
    pub(super) fn new(chain: &Chain) -> Self {
        let causes = |word: &'static str, map: &std::collections::BTreeMap<Crossing, u64>| {
            map.iter()
                .map(move |(cause, &ns)| (format!("{word} {}", cause.name()), ns))
                .collect::<Vec<_>>()
        };
        let mut parts = vec![
            ("work".to_owned(), chain.work_ns),
            ("operations".to_owned(), chain.operations_ns),
            ("before".to_owned(), chain.before_ns),
        ];
        parts.extend(causes("handover", &chain.handover_ns));
        parts.extend(causes("delay", &chain.delay_ns));
        parts.retain(|part| part.1 > 0);
        parts.sort_by_key(|part| Reverse(part.1));
        let part = |(what, ns)| Part {
            what,
            ns,
            share: ratio(ns, chain.end_ns),
        };
        Self {
            end_ns: chain.end_ns,
            parts: parts.into_iter().map(part).collect(),
            course: chain.course.clone(),
        }
    }
}

pub(super) fn crossings(rows: &[(Crossing, u64, u64)]) -> Vec<CrossingRow> {
    let row = |&(cause, count, waited_ns): &(Crossing, u64, u64)| CrossingRow {
        cause,
        count,
        waited_ns,
    };
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    rows.sort_by_key(|row| (Reverse(row.count), row.cause));
    rows
}

/// Sums of all tasks, or of a context's.
#[derive(Debug, Default)]
pub(super) struct Totals {
    functions: FxHashMap<Option<FunctionId>, Sums>,
    bands: [BandSum; BANDS.len()],
    /// Work of each detour, by function.
    detours: FxHashMap<(u8, Option<FunctionId>), u64>,
    /// Tasks on the path that are no code of the program (Create tasks and operations that cannot block), by kind.
    overhead: [BandSum; TaskKind::ALL.len()],
}

impl Totals {
    /// Adds a task.
    pub(super) fn task(&mut self, ns: u64, slack: u64, span: u64) {
        self.bands[band(slack, span)].add(1, ns);
    }

    /// Adds a task of the path that is no code of the program.
    pub(super) fn overhead(&mut self, kind: TaskKind, ns: u64) {
        self.overhead[kind as usize].add(1, ns);
    }

    /// Adds a function's part of a task, which may be on a detour.
    pub(super) fn part(
        &mut self,
        function: Option<FunctionId>,
        ns: u64,
        slack: u64,
        critical: bool,
        detour: Option<u8>,
    ) {
        let sums = self.functions.entry(function).or_default();
        sums.add(ns, slack, critical);
        if let Some(detour) = detour {
            *self.detours.entry((detour, function)).or_default() += ns;
        }
    }

    /// Adds a function's time on the observed chain.
    pub(super) fn observed(&mut self, function: Option<FunctionId>, ns: u64) {
        self.functions.entry(function).or_default().observed_ns += ns;
    }

    /// Adds others.
    pub(super) fn merge(&mut self, other: Self) {
        for (id, sums) in &other.functions {
            self.functions.entry(*id).or_default().merge(sums);
        }
        let sums = self.bands.iter_mut().chain(&mut self.overhead);
        for (sum, more) in sums.zip(other.bands.into_iter().chain(other.overhead)) {
            sum.add(more.tasks, more.ns);
        }
        for (key, ns) in other.detours {
            *self.detours.entry(key).or_default() += ns;
        }
    }

    /// The functions with most time on the path.
    pub(super) fn most_critical(&self, most: usize) -> Vec<FunctionId> {
        let known = self
            .functions
            .iter()
            .filter_map(|(id, sums)| Some((sums.critical_ns, (*id)?)));
        let mut known: Vec<_> = known.filter(|row| row.0 > 0).collect();
        known.sort_by_key(|&(ns, id)| (Reverse(ns), id));
        known.truncate(most);
        known.into_iter().map(|row| row.1).collect()
    }

    pub(super) fn functions(&self, info: &StaticInfo, span: u64, run: u64) -> Vec<FunctionRow> {
        let row = |(id, sums): (&Option<FunctionId>, &Sums)| FunctionRow {
            place: place(info, *id),
            critical_ns: sums.critical_ns,
            share: ratio(sums.critical_ns, span),
            observed_ns: sums.observed_ns,
            observed_share: ratio(sums.observed_ns, run),
            work_ns: sums.work_ns,
            min_slack_ns: if sums.min_slack_ns == u64::MAX {
                0
            } else {
                sums.min_slack_ns
            },
            mean_slack_ns: u64::try_from(
                sums.weighted_slack
                    .checked_div(u128::from(sums.work_ns))
                    .unwrap_or(0),
            )
            .unwrap_or(u64::MAX),
        };
        let mut rows: Vec<_> = self.functions.iter().map(row).collect();
        rows.sort_by(|a, b| {
            (b.critical_ns, b.work_ns, &a.place).cmp(&(a.critical_ns, a.work_ns, &b.place))
        });
        rows
    }

    pub(super) fn bands(&self, work: u64) -> Vec<Band> {
        let band = |(&up_to, sum): (&f64, &BandSum)| Band {
            up_to,
            tasks: sum.tasks,
            ns: sum.ns,
            share: ratio(sum.ns, work),
        };
        BANDS.iter().zip(&self.bands).map(band).collect()
    }

    pub(super) fn overheads(&self, span: u64) -> Vec<OverheadRow> {
        let row = |(kind, sum): (&TaskKind, &BandSum)| OverheadRow {
            kind: kind.name().to_owned(),
            tasks: sum.tasks,
            ns: sum.ns,
            share: ratio(sum.ns, span),
        };
        let rows = TaskKind::ALL.iter().zip(&self.overhead).map(row);
        let mut rows: Vec<_> = rows.filter(|row| row.ns > 0).collect();
        rows.sort_by_key(|row| Reverse(row.ns));
        rows
    }

    pub(super) fn name_detours(&self, info: &StaticInfo, detours: &mut [Detour]) {
        for (detour, mark) in detours.iter_mut().zip(1..) {
            let parts = self.detours.iter().filter(|(key, _)| key.0 == mark);
            let most = parts.max_by_key(|&(&(_, id), &ns)| (ns, Reverse(id)));
            detour.function =
                most.map_or_else(String::new, |(&(_, id), _)| place(info, id).function);
        }
    }
}

fn place(info: &StaticInfo, id: Option<FunctionId>) -> Place {
    let unknown = || Place {
        function: "(no code recorded)".to_owned(),
        ..Place::default()
    };
    id.map_or_else(unknown, |id| Place::of_function(info, id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_slack_is_a_band_of_its_own() {
        assert_eq!(
            [0, 1, 10, 11, 500, 1000].map(|slack| band(slack, 1000)),
            [0, 1, 2, 3, 6, 7]
        );
    }
}
