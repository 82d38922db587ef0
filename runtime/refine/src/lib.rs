//! Partition refinement: how many items each part of a data-parallel loop should have, found while the program runs
//! (Roth, Best, Mustard, Fedorova, "Deconstructing the Overhead in Parallel Applications", 2012, section VII).
//!
//! It is for loops that are run again and again over about the same items: simulations, solvers, animations. Each run of
//! the loop is a *round*; in it, workers take *parts* of `size` items each, one after the other. Small parts cost
//! scheduling, large ones leave workers idle at the end. [`Refinement`] measures both and suggests the next size:
//!
//! ```
//! use contech_refine::Refinement;
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! let (items, workers) = (10_000, 2);
//! let refinement = Refinement::new(items, workers, 1);
//! for _ in 0..20 {
//!     let round = refinement.round();
//!     let (size, next) = (round.size(), AtomicU64::new(0));
//!     std::thread::scope(|scope| {
//!         for worker in 0..workers {
//!             let (round, next) = (&round, &next);
//!             scope.spawn(move || loop {
//!                 let from = next.fetch_add(size, Ordering::Relaxed);
//!                 if from >= items {
//!                     break;
//!                 }
//!                 let _part = round.part(worker, 0);
//!                 std::hint::black_box((from..items.min(from + size)).sum::<u64>());
//!             });
//!         }
//!     });
//! } // the end of `round` is the end of the round
//! assert!(refinement.size() <= items / u64::from(workers));
//! ```
//!
//! A part costs two readings of the cycle counter, 20 to 40 ns, until the size holds; from then on one round of eight is
//! measured, and parts of the others cost 4 ns. `cargo bench-refine` measures this and compares with fixed sizes.
//!
//! C and C++ programs include `contech/refine.h` and link with `-lcontech_refine`. The decisions ([`Refiner`]) and the
//! measuring are apart: who measures by other means uses the first alone. [`advice`] is the same for a run that is over.

mod advice;
mod capi;
mod equation;
mod meter;
mod refinement;
mod refiner;
mod sample;
mod sizes;

pub use advice::{Advice, Observed, advice};
pub use equation::{largest_imbalance, ratio};
pub use refinement::{Part, Refinement, Round};
pub use refiner::Refiner;
pub use sample::{Sample, State};
