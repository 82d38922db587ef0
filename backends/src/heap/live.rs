//! Which allocation an address belongs to.
//!
//! Addresses are looked up by pages of 4 KiB; an allocation of 64 MiB or more is stored separately. If tasks are
//! visited in another order than they ran in, the allocation that reuses an address may come before the free of the
//! old one. It then takes the place of the old allocation, whose free is ignored.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::SiteId;

const PAGE_SHIFT: u32 = 12;
/// Allocations of this size or more are not entered into pages.
const LARGE: u64 = 64 << 20;

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// First byte.
    pub start: u64,
    /// Requested bytes; an allocation of 0 bytes still has an address of its own.
    pub size: u64,
    /// Where it was made.
    pub site: SiteId,
    /// A value of the caller's, for example a time.
    pub tag: u64,
}

impl Allocation {
    pub(crate) fn end(&self) -> u64 {
        self.start.saturating_add(self.size.max(1))
    }
}

/// Addresses that have the same answer: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// The site of the allocation there; `None` if nothing is allocated.
    pub site: Option<SiteId>,
}

/// Where an allocation is: from `start` up to but not including `end`.
#[derive(Clone, Copy, Debug)]
struct Place {
    start: u64,
    end: u64,
    site: SiteId,
}

impl Place {
    fn of(allocation: &Allocation) -> Self {
        Self {
            start: allocation.start,
            end: allocation.end(),
            site: allocation.site,
        }
    }
}

/// The live allocations.
#[derive(Debug, Default)]
pub struct Heap {
    slots: Vec<Allocation>,
    unused: Vec<u32>,
    by_start: FxHashMap<u64, u32>,
    /// By page: the allocations that touch it, ascending, with all that a search needs.
    pages: FxHashMap<u64, Vec<Place>>,
    large: BTreeMap<u64, u32>,
    /// By start: allocations whose place was taken and whose free is still to come.
    taken: FxHashMap<u64, u32>,
    version: u64,
}

impl Heap {
    /// A number that changes whenever an earlier answer may be wrong.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Number of live allocations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_start.len()
    }

    /// Whether nothing is allocated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_start.is_empty()
    }

    /// Adds an allocation; returns those whose place it takes.
    pub fn allocate(&mut self, new: Allocation) -> Vec<Allocation> {
        self.version += 1;
        let old: Vec<Allocation> = self
            .overlapping(&new)
            .into_iter()
            .filter_map(|start| self.remove(start))
            .collect();
        for taken in &old {
            *self.taken.entry(taken.start).or_default() += 1;
        }
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.slots.push(new);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        self.slots[slot as usize] = new;
        self.by_start.insert(new.start, slot);
        if new.size >= LARGE {
            self.large.insert(new.start, slot);
        } else {
            for page in pages(&new) {
                let list = self.pages.entry(page).or_default();
                let at = list.partition_point(|other| other.start < new.start);
                list.insert(at, Place::of(&new));
            }
        }
        old
    }

    /// Ends the allocation that starts at `start`. `None` if there is none, or if it has ended already.
    pub fn free(&mut self, start: u64) -> Option<Allocation> {
        if let Some(left) = self.taken.get_mut(&start) {
            *left -= 1;
            if *left == 0 {
                self.taken.remove(&start);
            }
            return None;
        }
        self.remove(start)
    }

    /// The allocation that contains `address`, if any, and the range in which the answer holds.
    #[must_use]
    pub fn find(&self, address: u64) -> Span {
        let page = address >> PAGE_SHIFT;
        let list = self.pages.get(&page).map_or(&[][..], Vec::as_slice);
        let at = list.partition_point(|place| place.start <= address);
        let before = at.checked_sub(1).map(|at| list[at]);
        let inside = |place: &Place| address < place.end;
        let found = before.filter(inside).or_else(|| {
            let (_, &slot) = self.large.range(..=address).next_back()?;
            Some(Place::of(&self.slots[slot as usize])).filter(inside)
        });
        if let Some(Place { start, end, site }) = found {
            return Span {
                start,
                end,
                site: Some(site),
            };
        }
        // Nothing is allocated here. This holds at least between the neighbours in this page, unless a large
        // allocation begins there.
        let (low, high) = (
            page << PAGE_SHIFT,
            (page << PAGE_SHIFT).saturating_add(1 << PAGE_SHIFT),
        );
        if self.large.range(low..high).next().is_some() {
            return Span {
                start: address,
                end: address.saturating_add(1),
                site: None,
            };
        }
        let start = before.map_or(low, |place| place.end.max(low));
        let end = list.get(at).map_or(high, |place| place.start);
        Span {
            start,
            end,
            site: None,
        }
    }

    /// The live allocations, in no order.
    pub fn live(&self) -> impl Iterator<Item = &Allocation> {
        self.by_start
            .values()
            .map(|&slot| &self.slots[slot as usize])
    }

    fn overlapping(&self, new: &Allocation) -> Vec<u64> {
        let overlaps = |&slot: &u32| {
            let old = &self.slots[slot as usize];
            (old.start < new.end() && new.start < old.end()).then_some(old.start)
        };
        let mut starts: Vec<u64> = self.large.values().filter_map(overlaps).collect();
        if new.size >= LARGE {
            starts.extend(self.by_start.values().filter_map(overlaps));
        } else {
            let places = pages(new).filter_map(|page| self.pages.get(&page));
            let overlaps = |old: &&Place| old.start < new.end() && new.start < old.end;
            starts.extend(places.flatten().filter(overlaps).map(|old| old.start));
        }
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    fn remove(&mut self, start: u64) -> Option<Allocation> {
        let slot = self.by_start.remove(&start)?;
        self.version += 1;
        let old = self.slots[slot as usize];
        if old.size >= LARGE {
            self.large.remove(&start);
        } else {
            for page in pages(&old) {
                if let Some(list) = self.pages.get_mut(&page) {
                    list.retain(|other| other.start != start);
                    if list.is_empty() {
                        self.pages.remove(&page);
                    }
                }
            }
        }
        self.unused.push(slot);
        Some(old)
    }
}

fn pages(of: &Allocation) -> std::ops::RangeInclusive<u64> {
    of.start >> PAGE_SHIFT..=(of.end() - 1) >> PAGE_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u64, size: u64, site: SiteId) -> Allocation {
        Allocation {
            start,
            size,
            site,
            tag: 0,
        }
    }

    #[test]
    fn addresses_find_their_allocation_and_the_gaps_between() {
        let mut heap = Heap::default();
        heap.allocate(at(0x1010, 0x20, 1));
        heap.allocate(at(0x1040, 0x3000, 2));
        heap.allocate(at(1 << 40, 1 << 30, 3));
        let sites = |addresses: &[u64]| -> Vec<Option<SiteId>> {
            addresses.iter().map(|&a| heap.find(a).site).collect()
        };
        assert_eq!(
            sites(&[
                0x100f, 0x1010, 0x102f, 0x1030, 0x1040, 0x2fff, 0x403f, 0x4040
            ]),
            [
                None,
                Some(1),
                Some(1),
                None,
                Some(2),
                Some(2),
                Some(2),
                None
            ]
        );
        assert_eq!(
            sites(&[
                (1 << 40) - 1,
                1 << 40,
                (1 << 40) + (1 << 29),
                (1 << 40) + (1 << 30)
            ]),
            [None, Some(3), Some(3), None]
        );
        assert_eq!(
            heap.find(0x1035),
            Span {
                start: 0x1030,
                end: 0x1040,
                site: None
            }
        );
        assert_eq!(
            heap.find(0x9000),
            Span {
                start: 0x9000,
                end: 0xa000,
                site: None
            }
        );
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
                heap.allocate(at(
                    start,
                    size,
                    1 + u32::try_from((seed >> 40) % 5).expect("small"),
                ));
            } else {
                heap.free(start);
            }
            let known = |address| {
                heap.live()
                    .find(|a| (a.start..a.end()).contains(&address))
                    .map(|a| a.site)
            };
            let address = (seed >> 13) % 0x8000;
            let span = heap.find(address);
            assert!((span.start..span.end).contains(&address));
            for address in [address, span.start, span.end - 1] {
                assert_eq!(known(address), span.site, "{address:#x} of {span:?}");
            }
        }
        assert!(heap.len() > 20);
    }

    #[test]
    fn the_free_of_an_allocation_whose_place_was_taken_is_ignored() {
        let mut heap = Heap::default();
        heap.allocate(at(0x1000, 64, 1));
        assert_eq!(heap.allocate(at(0x1000, 128, 2)), [at(0x1000, 64, 1)]);
        assert_eq!(heap.free(0x1000), None);
        assert_eq!(heap.find(0x1070).site, Some(2));
        assert_eq!(heap.free(0x1000), Some(at(0x1000, 128, 2)));
        assert!(heap.is_empty() && heap.find(0x1000).site.is_none());
    }
}
