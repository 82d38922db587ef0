//! Live allocations and the places in the source they come from.

mod calls;
mod live;
mod sites;

pub(crate) use calls::{Calls, Origin};
pub(crate) use live::{Allocation, Heap, Span};
pub(crate) use sites::{SiteId, SiteRow, Sites};
