//! Allocation sites: the call at the end of the last block a context executed before an allocation.

use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{BlockId, StaticInfo};

use crate::analysis::source::Place;

pub(crate) type SiteId = u32;

/// All sites seen so far, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    number: FxHashMap<Option<BlockId>, SiteId>,
    totals: Vec<Total>,
}

#[derive(Clone, Copy, Debug)]
struct Total {
    block: Option<BlockId>,
    allocations: u64,
    bytes: u64,
    largest: u64,
}

/// A site and what was allocated there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SiteRow {
    /// Where the allocating call is; empty if no block came before it.
    #[serde(flatten)]
    pub place: Place,
    /// The function called there.
    pub callee: String,
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes of all allocations.
    pub bytes: u64,
    /// Bytes of the largest allocation.
    pub largest: u64,
}

impl Sites {
    /// Notes an allocation of `bytes` after `block`.
    pub(crate) fn allocated(&mut self, block: Option<BlockId>, bytes: u64) -> SiteId {
        let next = SiteId::try_from(self.totals.len()).unwrap_or(SiteId::MAX);
        let site = *self.number.entry(block).or_insert(next);
        if site == next {
            self.totals.push(Total { block, allocations: 0, bytes: 0, largest: 0 });
        }
        let total = &mut self.totals[site as usize];
        total.allocations += 1;
        total.bytes = total.bytes.saturating_add(bytes);
        total.largest = total.largest.max(bytes);
        site
    }

    /// Number of sites.
    pub(crate) fn len(&self) -> usize {
        self.totals.len()
    }

    /// Describes all sites, by number.
    pub(crate) fn rows(&self, info: &StaticInfo) -> Vec<SiteRow> {
        let all = (0..).take(self.len());
        all.map(|site| self.row(info, site)).collect()
    }

    /// Describes a site; the row is empty if there is no site with this number.
    pub(crate) fn row(&self, info: &StaticInfo, site: SiteId) -> SiteRow {
        let nowhere = Total { block: None, allocations: 0, bytes: 0, largest: 0 };
        let total = self.totals.get(site as usize).copied().unwrap_or(nowhere);
        let known = total.block.map(|block| Place::of_call_or_block(info, block));
        let (place, callee) = known.unwrap_or_default();
        SiteRow {
            place,
            callee,
            allocations: total.allocations,
            bytes: total.bytes,
            largest: total.largest,
        }
    }
}

impl SiteRow {
    /// Adds the allocations of another block at the same place.
    pub(crate) fn add(&mut self, other: &Self) {
        self.allocations += other.allocations;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.largest = self.largest.max(other.largest);
    }
}
