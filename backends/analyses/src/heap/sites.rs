//! Allocation sites: the program's innermost call that led to an allocation, and those above it.

use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::StaticInfo;

use super::Origin;
use crate::analysis::calls::ABOVE;
use crate::analysis::source::Place;

pub(crate) type SiteId = u32;

/// All sites seen so far, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    number: FxHashMap<Origin, SiteId>,
    /// The origin of each, and its row without the place.
    rows: Vec<(Origin, SiteRow)>,
}

/// A site and what was allocated there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SiteRow {
    /// The innermost line of the program that led to the allocation, or a library's if none is
    /// recorded; empty if no block came before it.
    #[serde(flatten)]
    pub place: Place,
    /// The function called there.
    pub callee: String,
    /// The function called in the end, which allocates.
    pub allocator: String,
    /// The program's own calls that led to the place, the innermost first, of `memuse`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Place>,
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes of all allocations.
    pub bytes: u64,
    /// Bytes of the largest allocation.
    pub largest: u64,
}

impl Sites {
    /// Notes an allocation of `bytes`.
    pub(crate) fn allocated(&mut self, origin: Origin, bytes: u64) -> SiteId {
        let next = SiteId::try_from(self.rows.len()).unwrap_or(SiteId::MAX);
        let site = *self.number.entry(origin).or_insert(next);
        if site == next {
            self.rows.push((origin, SiteRow::default()));
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
        let (origin, row) = self.rows.get(site as usize).cloned().unwrap_or_default();
        let blocks = || origin.blocks.into_iter().flatten();
        let last = blocks().next().map(|last| Place::of_call_or_block(info, last));
        let (place, allocator) = last.unwrap_or_default();
        let callee = blocks().find_map(|block| Place::callee_of(info, block));
        let mut stack: Vec<Place> =
            blocks().flat_map(|block| Place::stack_of_call(info, block)).collect();
        stack.dedup();
        let mut stack = stack.into_iter();
        SiteRow {
            place: stack.next().unwrap_or(place),
            callee: callee.unwrap_or(&allocator).to_owned(),
            allocator,
            callers: stack.take(ABOVE).collect(),
            ..row
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
