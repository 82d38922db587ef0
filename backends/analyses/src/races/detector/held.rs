//! Allocations of the task at hand whose marks are not in the shadow yet. Libraries allocate and
//! free the same memory again and again without a look of the program at it, and nobody sees the
//! marks but the last one's.

use super::Detector;
use crate::races::record::{Kind, Use};
use crate::races::shadow::{GRANULE_SHIFT, GRANULES_OF_PAGE, page_of};

/// The most allocations that are held.
const MOST: usize = 8;

/// An allocation, and the free of it if there was one.
#[derive(Clone, Copy, Debug)]
struct Held {
    addr: u64,
    size: u64,
    made: u32,
    freed: Option<u32>,
}

/// The allocations that are held, oldest first, none of which overlaps another one.
#[derive(Debug, Default)]
pub(super) struct HeldMarks(Vec<Held>);

/// The first and the last page of some bytes.
fn pages_of(addr: u64, size: u64) -> (u64, u64) {
    let last = addr.saturating_add(size.saturating_sub(1));
    (page_of(addr >> GRANULE_SHIFT), page_of(last >> GRANULE_SHIFT))
}

impl HeldMarks {
    /// Whether an allocation that is held is on a page of the bytes.
    #[inline]
    pub(super) fn may_have(&self, addr: u64, size: u64) -> bool {
        let (first, last) = pages_of(addr, size);
        self.0.iter().any(|held| {
            let own = pages_of(held.addr, held.size);
            own.0 <= last && first <= own.1
        })
    }
}

impl Detector {
    /// Marks an allocation, later if it is small. What the task did before with the same allocation
    /// is forgotten: the mark replaces all marks that are older.
    pub(super) fn allocate(&mut self, addr: u64, size: u64, op: u32) {
        let own = |held: &Held| (held.addr, held.size) == (addr, size);
        if let Some(before) = self.held.0.iter().position(own) {
            self.held.0.remove(before);
        } else if self.held.may_have(addr, size) || self.held.0.len() == MOST {
            self.settle_marks();
        }
        if size > GRANULES_OF_PAGE << GRANULE_SHIFT {
            return self.renew(addr, size, Kind::Alloc, op);
        }
        self.held.0.push(Held { addr, size, made: op, freed: None });
    }

    /// Marks a free.
    pub(super) fn freed(&mut self, addr: u64, size: u64, op: u32) {
        let mut held = self.held.0.iter_mut();
        let own = |held: &&mut Held| (held.addr, held.size) == (addr, size);
        match held.find(own) {
            Some(held) if held.freed.is_none() => held.freed = Some(op),
            _ => self.renew(addr, size, Kind::Free, op),
        }
    }

    /// Puts all marks that are held into the shadow.
    #[cold]
    pub(super) fn settle_marks(&mut self) {
        for Held { addr, size, made, freed } in std::mem::take(&mut self.held.0) {
            self.range(addr, size, Use::of(made, Kind::Alloc));
            if let Some(op) = freed {
                self.range(addr, size, Use::of(op, Kind::Free));
            }
        }
    }
}
