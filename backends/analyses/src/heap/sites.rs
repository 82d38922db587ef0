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
    /// The block of each, and its row without the place.
    rows: Vec<(Option<BlockId>, SiteRow)>,
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
        let next = SiteId::try_from(self.rows.len()).unwrap_or(SiteId::MAX);
        let site = *self.number.entry(block).or_insert(next);
        if site == next {
            self.rows.push((block, SiteRow::default()));
        }
        let one = SiteRow { allocations: 1, bytes, largest: bytes, ..SiteRow::default() };
        self.rows[site as usize].1.add(&one);
        site
    }

    /// Number of sites.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Describes all sites, by number.
    pub(crate) fn rows(&self, info: &StaticInfo) -> Vec<SiteRow> {
        let all = (0..).take(self.len());
        all.map(|site| self.row(info, site)).collect()
    }

    /// Describes a site; the row is empty if there is no site with this number.
    pub(crate) fn row(&self, info: &StaticInfo, site: SiteId) -> SiteRow {
        let (block, row) = self.rows.get(site as usize).cloned().unwrap_or_default();
        let known = block.map(|block| Place::of_call_or_block(info, block));
        let (place, callee) = known.unwrap_or_default();
        SiteRow { place, callee, ..row }
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
