//! Allocations of the task at hand whose marks are not in the shadow yet. Libraries allocate and
//! free the same memory again and again without a look of the program at it, and nobody sees the
//! marks but the last one's.

use super::Detector;
use crate::races::record::{Kind, Use};
use crate::races::shadow::{GRANULE_SHIFT, GRANULES_OF_PAGE, page_of};

/// The most allocations that are held.
const MOST: usize = 16;
/// Pages that are told apart; a power of two.
const PAGES: u64 = 1 << 12;

/// An allocation, and the free of it if there was one.
#[derive(Clone, Copy, Debug)]
struct Held {
    addr: u64,
    size: u64,
    made: u32,
    freed: Option<u32>,
}

/// The allocations that are held, oldest first, none of which overlaps another one.
#[derive(Debug)]
pub(super) struct HeldMarks {
    all: Vec<Held>,
    /// By number of the page: whether an allocation that is held is there.
    pages: Box<[bool]>,
}

impl Default for HeldMarks {
    fn default() -> Self {
        Self { all: Vec::new(), pages: (0..PAGES).map(|_| false).collect() }
    }
}

/// Where the pages of some bytes are noted.
fn pages_of(addr: u64, size: u64) -> impl Iterator<Item = usize> {
    let last = addr.saturating_add(size.saturating_sub(1));
    let (first, last) = (page_of(addr >> GRANULE_SHIFT), page_of(last >> GRANULE_SHIFT));
    let last = last.min(first + PAGES - 1);
    (first..=last).map(|page| usize::try_from(page % PAGES).unwrap_or(0))
}

impl HeldMarks {
    /// Whether one of the bytes may be in an allocation that is held.
    #[inline]
    pub(super) fn may_have(&self, addr: u64, size: u64) -> bool {
        !self.all.is_empty() && pages_of(addr, size).any(|page| self.pages[page])
    }
}

impl Detector {
    /// Marks an allocation, later if it is small. What the task did before with the same allocation
    /// is forgotten: the mark replaces all marks that are older.
    pub(super) fn allocate(&mut self, addr: u64, size: u64, op: u32) {
        let own = |held: &Held| (held.addr, held.size) == (addr, size);
        if let Some(before) = self.held.all.iter().position(own) {
            self.held.all.remove(before);
        } else if self.held.may_have(addr, size) || self.held.all.len() == MOST {
            self.settle_marks();
        }
        if size > GRANULES_OF_PAGE << GRANULE_SHIFT {
            return self.renew(addr, size, Kind::Alloc, op);
        }
        pages_of(addr, size).for_each(|page| self.held.pages[page] = true);
        self.held.all.push(Held { addr, size, made: op, freed: None });
    }

    /// Marks a free.
    pub(super) fn freed(&mut self, addr: u64, size: u64, op: u32) {
        let mut held = self.held.all.iter_mut();
        let own = |held: &&mut Held| (held.addr, held.size) == (addr, size);
        match held.find(own) {
            Some(held) if held.freed.is_none() => held.freed = Some(op),
            _ => self.renew(addr, size, Kind::Free, op),
        }
    }

    /// Puts all marks that are held into the shadow.
    #[cold]
    pub(super) fn settle_marks(&mut self) {
        let held = std::mem::take(&mut self.held.all);
        for Held { addr, size, .. } in &held {
            pages_of(*addr, *size).for_each(|page| self.held.pages[page] = false);
        }
        for Held { addr, size, made, freed } in held {
            self.range(addr, size, Use::of(made, Kind::Alloc));
            if let Some(op) = freed {
                self.range(addr, size, Use::of(op, Kind::Free));
            }
        }
    }
}
