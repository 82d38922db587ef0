//! Live allocations and the places in the source they come from.

mod last_blocks;
mod live;
mod sites;

pub(crate) use last_blocks::LastBlocks;
pub(crate) use live::{Allocation, Heap, Span};
pub(crate) use sites::{SiteId, SiteRow, Sites};
