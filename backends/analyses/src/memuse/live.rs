//! Live bytes over time, their peak, and who holds them.

use taskgraph::StaticInfo;

use super::SiteUse;
use crate::heap::{Allocation, Heap, Origin, SiteId, Sites};

/// Live bytes of one site.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    live: u64,
    most: u64,
    at_peak: u64,
    /// The peak `at_peak` belongs to; later ones left it as it is now.
    peak: u64,
    frees: u64,
    /// Sum of the life times of what was freed.
    life_ns: u128,
}

/// The heap, allocation by allocation.
#[derive(Debug, Default)]
pub(super) struct Live {
    heap: Heap,
    /// Where memory is allocated.
    pub(super) sites: Sites,
    held: Vec<Held>,
    /// Live bytes.
    pub(super) bytes: u64,
    /// Most live bytes, and when.
    pub(super) peak: (u64, u64),
    /// Number of the peak: changes with every new one.
    peaks: u64,
    /// Allocations and frees.
    pub(super) counts: (u64, u64),
}

impl Live {
    /// An allocation.
    pub(super) fn allocate(&mut self, time: u64, addr: u64, size: u64, origin: Origin) {
        let site = self.sites.allocated(origin, size);
        self.held.resize(self.sites.len(), Held::default());
        for taken in self.heap.allocate(Allocation { start: addr, size, site, tag: time }) {
            self.end(taken, time);
        }
        self.counts.0 += 1;
        self.bytes += size;
        let held = self.before_change(site);
        held.live += size;
        held.most = held.most.max(held.live);
        if self.bytes > self.peak.0 {
            self.peak = (self.bytes, time);
            self.peaks += 1;
        }
    }

    /// A free.
    pub(super) fn free(&mut self, time: u64, addr: u64) {
        if let Some(allocation) = self.heap.free(addr) {
            self.end(allocation, time);
        }
    }

    fn end(&mut self, allocation: Allocation, time: u64) {
        self.counts.1 += 1;
        let size = allocation.size;
        self.bytes = self.bytes.saturating_sub(size);
        let held = self.before_change(allocation.site);
        held.live = held.live.saturating_sub(size);
        held.frees += 1;
        held.life_ns += u128::from(time.saturating_sub(allocation.tag));
    }

    /// Notes what the site held at the latest peak, if it has not changed since.
    fn before_change(&mut self, site: SiteId) -> &mut Held {
        let held = &mut self.held[site as usize];
        if held.peak != self.peaks {
            (held.peak, held.at_peak) = (self.peaks, held.live);
        }
        held
    }

    /// The use of each site, by number.
    pub(super) fn uses<'l>(&'l self, info: &'l StaticInfo) -> impl Iterator<Item = SiteUse> + 'l {
        (0..).zip(&self.held).map(|(site, held)| SiteUse {
            site: self.sites.row(info, site),
            peak_bytes: if held.peak == self.peaks { held.at_peak } else { held.live },
            most_bytes: held.most,
            end_bytes: held.live,
            frees: held.frees,
            mean_life_ns: u64::try_from(
                held.life_ns.checked_div(u128::from(held.frees)).unwrap_or(0),
            )
            .unwrap_or(u64::MAX),
        })
    }
}
