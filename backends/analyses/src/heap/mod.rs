//! Live allocations and the places in the source they come from.

mod last_blocks;
mod live;
mod sites;

pub use last_blocks::LastBlocks;
pub use live::{Allocation, Heap, Span};
pub use sites::{SiteId, SiteRow, Sites};
