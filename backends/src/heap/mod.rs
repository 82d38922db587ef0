//! Live allocations and the places in the source they come from.

mod live;
mod sites;

pub use live::{Allocation, Heap, Span};
pub use sites::{SiteId, SiteRow, Sites};
