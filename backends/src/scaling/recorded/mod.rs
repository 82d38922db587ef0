//! The same pictures from a task graph: `factors` and `stack`, for comparison with what `contech scale` measures.
//!
//! A recorded run is slower than a native one, and waits of less than a task are not in it; shares are comparable, times
//! are not. Contexts stand for threads: an OpenMP task that waits for its children is not a waiting processor, so that
//! waiting in joins counts for nothing here as there.

mod factors;
mod phases;
mod stack;

pub use factors::{Factors, Report as FactorsReport};
pub use phases::Phases;
pub use stack::Stack;
