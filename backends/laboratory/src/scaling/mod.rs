//! Why a program does not scale: the mathematics of three papers, over a few cheap measurements of
//! the unmodified program.
//!
//! - *Work inflation* (Acar, Charguéraud, Rainey: "Parallel Work Inflation, Memory Effects, and
//!   their Empirical Analysis"): [`Speedups`].
//! - *Deconstruction* (Roth, Best, Mustard, Fedorova: "Deconstructing the Overhead in Parallel
//!   Applications"): [`Factors`].
//! - *Speedup stacks* (Eklov, Nikoleris, Hagersten: "A Profiling Method for Analyzing Scalability
//!   Bottlenecks on Multicores"): [`Stack`].
//!
//! All three divide the same quantity, the time of P processors over a run. So they are computed
//! from one [`Account`] of it, and agree up to rounding: work + delay + distribution = 1, and P T =
//! W + I. What is measured is a [`Measurement`], which is plain data: the same code analyses a
//! recorded, an invented, and a new one.

mod account;
mod factors;
mod findings;
#[cfg(test)]
mod invented;
mod measured;
mod measurement;
mod point;
mod ratio;
mod refinement;
mod render;
mod report;
mod speedups;
mod stack;

pub use account::{Account, Blocking};
pub use factors::{Delay, Distribution, Factors};
pub use measured::{Actual, Measured, MeasuredPoint};
pub(crate) use measured::{ascending, document};
pub use measurement::{
    Activity, Estimate, Measurement, Phase, PlaceName, Point, Run, named, spread,
};
pub use point::analyse;
pub use ratio::over;
pub use report::{Analysed, Finding, Report};
pub use speedups::Speedups;
pub use stack::Stack;
