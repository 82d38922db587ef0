//! The result of the analysis of a measurement: numbers by number of threads, and findings.

use serde::Serialize;

use super::account::{Account, Blocking};
use super::factors::Factors;
use super::measurement::{Estimate, Measurement};
use super::speedups::Speedups;
use super::stack::Stack;

/// The result for one number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Analysed {
    /// P.
    pub threads: u32,
    /// Whether there were more threads than processors. They then took turns, and most of what is
    /// called inflation is that.
    pub oversubscribed: bool,
    /// T_P, seconds.
    pub t: f64,
    /// How far the runs lie apart: the slowest minus the fastest, over T_P.
    pub t_spread: f64,
    /// Number of runs.
    pub runs: usize,
    /// T_1 of the work done at this P, seconds.
    pub t_1: f64,
    /// I_P, seconds of processor time.
    pub idle: f64,
    /// F_P, seconds of processor time: P T_P - I_P - T_1.
    pub inflation: f64,
    /// W_P, seconds of processor time: P T_P - I_P.
    pub work: f64,
    /// Share of the threads' running time in which they had no processor, because of other programs
    /// or too many threads.
    pub preempted: f64,
    /// Factored speedups.
    pub speedup: Speedups,
    /// Work, delay, distribution.
    pub factors: Factors,
    /// Where processor time went, ns.
    pub account: Account,
    /// Speedup stacks of the phases, longest first.
    pub stacks: Vec<Stack>,
}

/// The whole analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The command.
    pub command: Vec<String>,
    /// Processors of the machine.
    pub cpus: u32,
    /// T_s, seconds; T_1 if no baseline was given.
    pub baseline: f64,
    /// Whether a baseline was given.
    pub has_baseline: bool,
    /// How far the runs of the baseline lie apart.
    pub baseline_spread: f64,
    /// T of the elision, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elision: Option<f64>,
    /// How several runs became one number.
    pub estimate: Estimate,
    /// Where blocking is counted.
    pub blocking: Blocking,
    /// The results by number of threads, ascending.
    pub points: Vec<Analysed>,
    /// The diagnosis, the most important first.
    pub findings: Vec<Finding>,
    /// The number of threads that the findings are about.
    pub findings_at: u32,
    /// What limits the results.
    pub notes: Vec<String>,
    /// The measurement that was analysed.
    #[serde(skip)]
    pub measurement: Measurement,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Finding {
    /// The rank; 1 is the most important.
    pub rank: usize,
    /// `overhead`, `scheduling`, `serialization`, `imbalance`, `barrier`, `condition`, `lock`,
    /// `spin`, `message`, `inflation`, `contention`, `cache`, `memory`, `preemption`,
    /// `superlinear`, `threads`, `scales`.
    pub cause: String,
    /// Function and source line; may be empty.
    #[serde(rename = "where")]
    pub place: String,
    /// Share of the processors' time.
    pub share: f64,
    /// The finding in words.
    pub text: String,
    /// The next experiment to try.
    pub advice: String,
}
