//! Which allocation an address belongs to.
//!
//! If tasks are visited in another order than they ran in, the allocation that reuses an address
//! may come before the free of the old one. It then takes the place of the old allocation, whose
//! free is ignored.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::SiteId;

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// First byte.
    pub(crate) start: u64,
    /// Requested bytes; an allocation of 0 bytes still has an address of its own.
    pub(crate) size: u64,
    /// Where it was made.
    pub(crate) site: SiteId,
    /// A value of the caller's, for example a time.
    pub(crate) tag: u64,
}

impl Allocation {
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.size.max(1))
    }
}

/// Addresses that have the same answer: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// First address.
    pub(crate) start: u64,
    /// First address after it.
    pub(crate) end: u64,
    /// The site of the allocation there; `None` if nothing is allocated.
    pub(crate) site: Option<SiteId>,
}

/// The live allocations.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    /// By start; no two overlap.
    live: BTreeMap<u64, Allocation>,
    /// By start: allocations whose place was taken and whose free is still to come.
    taken: FxHashMap<u64, u32>,
    version: u64,
}

impl Heap {
    /// A number that changes whenever an earlier answer may be wrong.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Adds an allocation; returns those whose place it takes.
    pub(crate) fn allocate(&mut self, new: Allocation) -> Vec<Allocation> {
        self.version += 1;
        let mut old = Vec::new();
        while let Some((&start, last)) = self.live.range(..new.end()).next_back()
            && last.end() > new.start
        {
            old.extend(self.live.remove(&start));
            *self.taken.entry(start).or_default() += 1;
        }
        self.live.insert(new.start, new);
        old.reverse();
        old
    }

    /// Ends the allocation that starts at `start`. `None` if there is none, or if it has ended
    /// already.
    pub(crate) fn free(&mut self, start: u64) -> Option<Allocation> {
        if let Some(left) = self.taken.get_mut(&start) {
            *left -= 1;
            if *left == 0 {
                self.taken.remove(&start);
            }
            return None;
        }
        let ended = self.live.remove(&start);
        self.version += u64::from(ended.is_some());
        ended
    }

    /// The allocation that contains `address`, if any, and the range in which the answer holds.
    pub(crate) fn find(&self, address: u64) -> Span {
        let before = self.live.range(..=address).next_back();
        let before = before.map(|(_, allocation)| allocation);
        if let Some(found) = before.filter(|allocation| address < allocation.end()) {
            return Span { start: found.start, end: found.end(), site: Some(found.site) };
        }
        let after = self.live.range(address..).next();
        Span {
            start: before.map_or(0, Allocation::end),
            end: after.map_or(u64::MAX, |(&start, _)| start),
            site: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u64, size: u64, site: SiteId) -> Allocation {
        Allocation { start, size, site, tag: 0 }
    }

    #[test]
    fn every_address_of_a_span_has_the_same_answer() {
        let mut heap = Heap::default();
        let mut seed = 7u64;
        for _ in 0..2000 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let (start, size) = ((seed >> 33) % 0x8000, (seed >> 20) % 300);
            if seed >> 63 == 0 {
                heap.allocate(at(start, size, 1 + u32::try_from((seed >> 40) % 5).expect("small")));
            } else {
                heap.free(start);
            }
            let known = |address| {
                heap.live.values().find(|a| (a.start..a.end()).contains(&address)).map(|a| a.site)
            };
            let address = (seed >> 13) % 0x8000;
            let span = heap.find(address);
            assert!((span.start..span.end).contains(&address));
            for address in [address, span.start, span.end - 1] {
                assert_eq!(known(address), span.site, "{address:#x} of {span:?}");
            }
        }
        assert!(heap.live.len() > 20);
    }

    #[test]
    fn the_free_of_an_allocation_whose_place_was_taken_is_ignored() {
        let mut heap = Heap::default();
        heap.allocate(at(0x1000, 64, 1));
        assert_eq!(heap.allocate(at(0x1000, 128, 2)), [at(0x1000, 64, 1)]);
        assert_eq!(heap.free(0x1000), None);
        assert_eq!(heap.find(0x1070).site, Some(2));
        assert_eq!(heap.free(0x1000), Some(at(0x1000, 128, 2)));
        assert!(heap.live.is_empty() && heap.find(0x1000).site.is_none());
    }
}
