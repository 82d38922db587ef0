//! The same pictures from a task graph: `factors` and `stack`, for comparison with what `contech scale` measures.
//!
//! A recorded run is slower than a native one, and waits shorter than a task are not in it, so shares are comparable
//! and times are not. Contexts stand for threads. An OpenMP task that waits for its children is not a waiting
//! processor, so waiting in joins counts for nothing, here and in a measurement.

mod factors;
mod phases;
mod stack;

pub use factors::{Factors, Report as FactorsReport};
pub use phases::{PhaseSums, Phases};
pub use stack::Stack;
