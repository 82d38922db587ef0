//! Shadow memory: the state of every accessed granule of 8 bytes, in pages of 16 KiB that are made
//! when they are first touched.

use rustc_hash::FxHashMap;

use super::states::{StateId, States, UNTOUCHED};
use crate::analysis::Share;

/// Log2 of the bytes of a granule.
pub(super) const GRANULE_SHIFT: u32 = 3;
/// Log2 of the granules of a page.
const PAGE_SHIFT: u32 = Share::PAGE_SHIFT - GRANULE_SHIFT;
const GRANULES: usize = 1 << PAGE_SHIFT;
/// Granules of a page.
pub(super) const GRANULES_OF_PAGE: u64 = 1 << PAGE_SHIFT;
const INSIDE: u64 = GRANULES as u64 - 1;
/// The most pages that are made at once for an allocation: 1 GiB of memory. Of a larger allocation
/// only the existing pages are marked.
const MOST_MADE: u64 = 1 << 16;
/// Entries of the cache of pages.
const CACHED: usize = 4096;
/// Slot of the pages that are not in this part of the shadow.
const ELSEWHERE: u32 = u32::MAX;

#[derive(Debug)]
struct Page {
    /// The state of all granules, as long as they have the same.
    uniform: StateId,
    granules: Option<Box<[StateId; GRANULES]>>,
}

/// The shadow of one part of memory.
#[derive(Debug)]
pub(super) struct Shadow {
    part: Share,
    slots: FxHashMap<u64, u32>,
    pages: Vec<Page>,
    /// Number of pages with granules of their own.
    detailed: usize,
    /// Page and slot.
    cache: Box<[(u64, u32); CACHED]>,
}

impl Default for Shadow {
    fn default() -> Self {
        Self::new(Share::ALL)
    }
}

impl Shadow {
    /// An empty shadow of `part`.
    pub(super) fn new(part: Share) -> Self {
        Self {
            part,
            slots: FxHashMap::default(),
            pages: Vec::new(),
            detailed: 0,
            // No address has this page, which is beyond 2^64.
            cache: Box::new([(u64::MAX, ELSEWHERE); CACHED]),
        }
    }

    /// The state of granule `granule` (an address divided by 8), to read and to change; `None` if
    /// another part has it.
    #[inline]
    pub(super) fn granule(&mut self, granule: u64, states: &mut States) -> Option<&mut StateId> {
        let page = granule >> PAGE_SHIFT;
        let slot = self.slot(page);
        if slot == ELSEWHERE {
            return None;
        }
        let page = &mut self.pages[slot as usize];
        if page.granules.is_none() {
            // Until now the page counted as one granule.
            states.moved(UNTOUCHED, page.uniform, (1 << PAGE_SHIFT) - 1);
            self.detailed += 1;
        }
        let granules = page.granules.get_or_insert_with(|| Box::new([page.uniform; GRANULES]));
        usize::try_from(granule & INSIDE).ok().map(|at| &mut granules[at])
    }

    #[inline]
    fn slot(&mut self, page: u64) -> u32 {
        let entry = usize::try_from(page).unwrap_or(0) % CACHED;
        if self.cache[entry].0 == page {
            return self.cache[entry].1;
        }
        let slot = self.find(page);
        self.cache[entry] = (page, slot);
        slot
    }

    fn find(&mut self, page: u64) -> u32 {
        if !self.part.has_page(page) {
            return ELSEWHERE;
        }
        let pages = &mut self.pages;
        *self.slots.entry(page).or_insert_with(|| {
            pages.push(Page { uniform: UNTOUCHED, granules: None });
            u32::try_from(pages.len() - 1).unwrap_or(ELSEWHERE)
        })
    }

    /// Puts all granules of the pages from `first` up to but not including `end` into one state.
    /// Pages that were never touched are made as well, unless there are very many.
    pub(super) fn fill(&mut self, first: u64, end: u64, state: StateId, states: &mut States) {
        if end.saturating_sub(first) > MOST_MADE {
            for page in self.touched(first, end) {
                self.fill_page(page, state, states);
            }
        } else {
            (first..end).for_each(|page| self.fill_page(page, state, states));
        }
    }

    /// Puts all granules of a page into one state.
    pub(super) fn fill_page(&mut self, page: u64, state: StateId, states: &mut States) {
        let slot = self.slot(page);
        if slot == ELSEWHERE {
            return;
        }
        let page = &mut self.pages[slot as usize];
        let old = std::mem::replace(&mut page.uniform, state);
        match page.granules.take() {
            Some(granules) => {
                self.detailed -= 1;
                granules.iter().for_each(|&old| states.moved(old, UNTOUCHED, 1));
                states.moved(UNTOUCHED, state, 1);
            }
            None => states.moved(old, state, 1),
        }
    }

    /// The pages that have a shadow, from `first` up to but not including `end`.
    pub(super) fn touched(&self, first: u64, end: u64) -> Vec<u64> {
        if end.saturating_sub(first) < self.slots.len() as u64 {
            (first..end).filter(|page| self.slots.contains_key(page)).collect()
        } else {
            self.slots.keys().copied().filter(|page| (first..end).contains(page)).collect()
        }
    }

    /// The state of all granules of a page, `Some(None)` if they differ; `None` if another part has
    /// the page.
    pub(super) fn page(&mut self, page: u64) -> Option<Option<StateId>> {
        let slot = self.slot(page);
        let page = self.pages.get(slot as usize)?;
        Some(page.granules.is_none().then_some(page.uniform))
    }

    /// Keeps one state for all granules of a page, if they have the same.
    pub(super) fn join(&mut self, page: u64, states: &mut States) {
        let slot = self.slot(page);
        let Some(Page { granules: Some(granules), .. }) = self.pages.get(slot as usize) else {
            return;
        };
        let state = granules[0];
        if granules.iter().all(|&other| other == state) {
            self.fill_page(page, state, states);
        }
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.detailed * GRANULES * size_of::<StateId>()
            + self.pages.capacity() * size_of::<Page>()
            + self.slots.capacity() * 16
    }
}

/// The page of a granule.
pub(super) fn page_of(granule: u64) -> u64 {
    granule >> PAGE_SHIFT
}

/// The address of the first byte of a page.
pub(super) fn address_of(page: u64) -> u64 {
    page << (PAGE_SHIFT + GRANULE_SHIFT)
}
