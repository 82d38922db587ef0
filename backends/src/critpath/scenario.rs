//! What-if: the span if functions take more or less time, if a lock is held for a shorter time, or if it orders
//! nothing.

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::{Result, bail};
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{
    Action, BlockCounts, ContextId, FunctionId, Mmap, Piece, Reader, StaticInfo, TaskId, TaskKind,
    WaitCause,
};

use super::apportion::Apportion;
use super::table::weight;
use crate::analysis::locks::{Locks, each_synchronisation};
use crate::analysis::{Graph, Task};

/// Number of scenarios computed in one pass.
pub(super) const LANES: usize = 16;

/// `NAME=FACTOR` as typed: a function or the address of a lock, and the factor for its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// What is scaled.
    pub name: String,
    /// The factor: 0.5 halves, 2 doubles, 0 removes.
    pub factor: f64,
}

impl FromStr for Scale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is not NAME=FACTOR, e.g. compute=0.5");
        // A C++ name may contain '='.
        let (name, factor) = text.rsplit_once('=').ok_or_else(wrong)?;
        let factor: f64 = factor.trim().parse().map_err(|_| wrong())?;
        if !(0.0..=1e6).contains(&factor) || name.is_empty() {
            return Err(format!(
                "'{text}': the factor is a number from 0 to 1000000"
            ));
        }
        Ok(Self {
            name: name.to_owned(),
            factor,
        })
    }
}

/// Reads the address of a synchronisation object: hexadecimal with 0x, or decimal.
///
/// # Errors
/// When `text` is neither.
pub fn address(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| {
        format!("'{text}' is not an address; write 0x7f00aa10 as the other analyses print it")
    })
}

/// A change to the run.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    functions: FxHashMap<FunctionId, f64>,
    /// The factor of the work done while a lock is held, by lock.
    held: BTreeMap<u64, f64>,
    /// Locks that order nothing.
    dropped: FxHashSet<u64>,
}

impl Scenario {
    /// One function with a factor.
    #[must_use]
    pub fn function(id: FunctionId, factor: f64) -> Self {
        Self {
            functions: FxHashMap::from_iter([(id, factor)]),
            ..Self::default()
        }
    }

    /// All changes typed on the command line.
    ///
    /// # Errors
    /// When no function has a typed name, or a lock's address is malformed.
    pub fn new(
        info: &StaticInfo,
        functions: &[Scale],
        locks: &[Scale],
        dropped: &[u64],
    ) -> Result<Self> {
        let mut scenario = Self {
            dropped: dropped.iter().copied().collect(),
            ..Self::default()
        };
        for scale in functions {
            let found = named(info, &scale.name);
            if found.is_empty() {
                bail!(
                    "--scale {}: no function of the program has that name (contech-backend blocks lists them)",
                    scale.name
                );
            }
            scenario
                .functions
                .extend(found.into_iter().map(|id| (id, scale.factor)));
        }
        for scale in locks {
            let lock =
                address(&scale.name).map_err(|reason| anyhow::anyhow!("--scale-lock {reason}"))?;
            scenario.held.insert(lock, scale.factor);
        }
        Ok(scenario)
    }

    /// Refuses locks that the program never took.
    ///
    /// # Errors
    /// When there is such a lock, or the graph cannot be read.
    pub fn check_locks(&self, graph: &Graph) -> Result<()> {
        let scaled = self.held.keys().map(|lock| ("--scale-lock", *lock));
        let dropped = self.dropped.iter().map(|lock| ("--drop-lock", *lock));
        let mut asked: Vec<(&str, u64)> = scaled.chain(dropped).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let mut reader = Reader::new(graph, 16).without_accesses();
        let mut tasks = graph.walk();
        while let Some(task) = tasks.next()? {
            each_synchronisation(&mut reader, task, |op, object| {
                if op.cause() == Some(WaitCause::Lock) {
                    asked.retain(|(_, lock)| *lock != object);
                }
                Ok(())
            })?;
            if asked.is_empty() {
                return Ok(());
            }
        }
        let (option, lock) = asked[0];
        bail!(
            "{option} {lock:#x}: the program took no lock at that address (contech-backend critpath names those that matter)"
        )
    }

    /// Whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.held.is_empty() && self.dropped.is_empty()
    }

    /// Number of functions that it scales.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.functions.len()
    }
}

/// Functions whose full name, name without arguments, or last name part is `name`.
fn named(info: &StaticInfo, name: &str) -> Vec<FunctionId> {
    let plain = |full: &str| full.split('(').next().unwrap_or(full).to_owned();
    let last = |full: &str| {
        plain(full)
            .rsplit("::")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let with = |matches: &dyn Fn(&str) -> bool| -> Vec<FunctionId> {
        let all = info.functions.iter().enumerate();
        all.filter(|(_, function)| matches(&function.name))
            .filter_map(|(at, _)| FunctionId::from_index(at))
            .collect()
    };
    let exact = with(&|full| full == name);
    if !exact.is_empty() {
        return exact;
    }
    let without_arguments = with(&|full| plain(full) == name);
    if without_arguments.is_empty() {
        with(&|full| last(full) == name)
    } else {
        without_arguments
    }
}

/// Work and span of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// All tasks.
    pub work_ns: u64,
    /// Longest path.
    pub span_ns: u64,
}

/// Spans of several scenarios from one walk over the graph in topological order.
#[derive(Debug)]
pub(super) struct Lanes<'s> {
    scenarios: &'s [Scenario],
    /// The factors of each function in each scenario; empty if no function is scaled.
    factors: Vec<[f64; LANES]>,
    /// Whether the work under a lock is scaled.
    holds: bool,
    counts: BlockCounts,
    apportion: Apportion,
    latest: FxHashMap<ContextId, [u64; LANES]>,
    /// Finish times, and number of dependents still to come, of tasks with stored edges out of them.
    pending: FxHashMap<TaskId, ([u64; LANES], usize)>,
    /// The locks that each context holds, if any scenario changes some.
    held: FxHashMap<ContextId, Locks>,
    outcomes: [Outcome; LANES],
}

/// The outcome of each of at most 16 scenarios.
///
/// # Errors
/// When the graph cannot be read.
pub fn outcomes(graph: &Graph, scenarios: &[Scenario]) -> Result<Vec<Outcome>> {
    let scenarios = &scenarios[..scenarios.len().min(LANES)];
    let mut lanes = Lanes {
        scenarios,
        factors: factors(graph.info(), scenarios),
        holds: scenarios.iter().any(|scenario| !scenario.held.is_empty()),
        counts: BlockCounts::new(),
        apportion: Apportion::new(graph.info()),
        latest: FxHashMap::default(),
        pending: FxHashMap::default(),
        held: FxHashMap::default(),
        outcomes: [Outcome::default(); LANES],
    };
    // As many frames as there are contexts that alternate, about.
    let mut reader = Reader::new(graph, 16).without_accesses();
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        lanes.task(task, &mut reader)?;
    }
    Ok(lanes.outcomes[..lanes.scenarios.len()].to_vec())
}

/// The factors of each function in each scenario; none if no function is scaled.
fn factors(info: &StaticInfo, scenarios: &[Scenario]) -> Vec<[f64; LANES]> {
    let scaled = || scenarios.iter().map(|scenario| &scenario.functions);
    let functions = match scaled().all(FxHashMap::is_empty) {
        true => 0,
        false => info.functions.len(),
    };
    let mut factors = vec![[1.0; LANES]; functions];
    for (lane, functions) in scaled().enumerate() {
        for (function, &factor) in functions {
            if let Some(factors) = factors.get_mut(function.index()) {
                factors[lane] = factor;
            }
        }
    }
    factors
}

impl Lanes<'_> {
    fn task<'g>(&mut self, task: &Task<'g>, reader: &mut Reader<'g, Mmap>) -> Result<()> {
        let id = task.id();
        let weights = self.weights(task, reader)?;
        let finish = self.latest.entry(id.context).or_default();
        let acquires = task.op().cause() == Some(WaitCause::Lock);
        for before in task.stored_dependencies() {
            let Some((found, left)) = self.pending.get_mut(before) else {
                continue;
            };
            for (lane, scenario) in self.scenarios.iter().enumerate() {
                if !(acquires && scenario.dropped.contains(&task.object())) {
                    finish[lane] = finish[lane].max(found[lane]);
                }
            }
            *left -= 1;
            if *left == 0 {
                self.pending.remove(before);
            }
        }
        let outcomes = self.outcomes.iter_mut().take(self.scenarios.len());
        for (lane, outcome) in outcomes.enumerate() {
            finish[lane] = finish[lane].saturating_add(weights[lane]);
            outcome.work_ns = outcome.work_ns.saturating_add(weights[lane]);
            outcome.span_ns = outcome.span_ns.max(finish[lane]);
        }
        let dependents = task.dependents()?.len();
        if dependents > 0 {
            self.pending.insert(id, (*finish, dependents));
        }
        Ok(())
    }

    /// The weight of the task in each scenario.
    fn weights<'g>(
        &mut self,
        task: &Task<'g>,
        reader: &mut Reader<'g, Mmap>,
    ) -> Result<[u64; LANES]> {
        let ns = weight(task);
        let mut weights = [ns; LANES];
        let held = match self.holds {
            true => self.held_factors(task, reader)?,
            false => [1.0; LANES],
        };
        if ns == 0 {
            return Ok(weights);
        }
        if task.kind() == TaskKind::Work && !self.factors.is_empty() {
            reader.count_blocks(task, &mut self.counts)?;
            self.apportion.count(&self.counts);
            let mut sums = [0.0f64; LANES];
            self.apportion.divide(ns, |function, part| {
                let factors = function.and_then(|id| self.factors.get(id.index()));
                let factors = factors.unwrap_or(&[1.0; LANES]);
                for (sum, factor) in sums.iter_mut().zip(factors) {
                    *sum += to_float(part) * factor;
                }
            });
            for ((weight, sum), scenario) in weights.iter_mut().zip(sums).zip(self.scenarios) {
                if !scenario.functions.is_empty() {
                    *weight = to_ns(sum);
                }
            }
        }
        if self.holds {
            for (weight, factor) in weights.iter_mut().zip(held) {
                *weight = to_ns(to_float(*weight) * factor);
            }
        }
        Ok(weights)
    }

    /// By what the locks that are held during the task multiply its time in each scenario: the mean over its executions.
    fn held_factors<'g>(
        &mut self,
        task: &Task<'g>,
        reader: &mut Reader<'g, Mmap>,
    ) -> Result<[f64; LANES]> {
        let held = self.held.entry(task.id().context).or_default();
        let scenarios = self.scenarios;
        let factors = |held: &Locks| {
            let mut factors = [1.0; LANES];
            for (factor, scenario) in factors.iter_mut().zip(scenarios) {
                let all = held.all().iter();
                *factor = all
                    .filter_map(|lock| scenario.held.get(&lock.object))
                    .product();
            }
            factors
        };
        let mut now = factors(held);
        if task.action_count() == task.block_count() {
            return Ok(now);
        }
        let first = now;
        let (mut all, mut sums) = (0.0, [0.0; LANES]);
        reader.open(task);
        while let Some(batch) = reader.next()? {
            for piece in batch.pieces() {
                if let Piece::Action(action) = piece {
                    if let Action::Sync { op, object } = action {
                        held.see(op, object);
                        now = factors(held);
                    }
                    continue;
                }
                let executions = to_float(piece.actions());
                all += executions;
                for (sum, factor) in sums.iter_mut().zip(now) {
                    *sum += executions * factor;
                }
            }
        }
        Ok(match all > 0.0 {
            true => sums.map(|sum| sum / all),
            false => first,
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "durations stay far below 2^53 ns (104 days)"
)]
fn to_float(ns: u64) -> f64 {
    ns as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "factors are not negative; `as` saturates"
)]
fn to_ns(ns: f64) -> u64 {
    ns.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_follows_the_last_equals_sign() {
        let scale: Scale = "T::operator==(T)=0.5".parse().expect("valid");
        assert_eq!(
            scale,
            Scale {
                name: "T::operator==(T)".into(),
                factor: 0.5
            }
        );
        for text in ["f", "f=", "f=x", "=1", "f=-1", "f=NaN", "f=inf"] {
            text.parse::<Scale>().expect_err(text);
        }
    }

    #[test]
    fn addresses_are_hexadecimal_or_decimal() {
        assert_eq!(address("0xfeed"), Ok(0xfeed));
        assert_eq!(address("12"), Ok(12));
        address("feed").expect_err("no prefix");
    }
}
