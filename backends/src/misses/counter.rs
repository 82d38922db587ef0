//! Counts of look-ups by instruction and by allocation site, by the smallest cache that hit.

use rustc_hash::FxHashMap;
use taskgraph::{Access, Action, BlockId, ContextId};

use super::levels::Levels;
use crate::analysis::Task;
use crate::cache::Geometries;
use crate::heap::{Allocation, Heap, Sites, Span};

/// The state of the analysis.
#[derive(Debug)]
pub struct Counter {
    line_shift: u32,
    levels: Levels,
    /// Counters per instruction or site: one per cache, and one for what no cache holds.
    width: usize,
    /// Look-ups by instruction, then by the smallest cache that hit.
    by_op: Vec<u64>,
    /// The same by site, hits in the smallest cache left out; the last row is memory that no allocation holds.
    by_site: Vec<u64>,
    unowned: Vec<u64>,
    heap: Heap,
    sites: Sites,
    /// By instruction: where its last look-up found its memory, and the version of the heap then.
    hints: Vec<(Span, u64)>,
    last_block: FxHashMap<ContextId, BlockId>,
}

impl Counter {
    /// Empty caches and counts for `ops` instructions.
    #[must_use]
    pub fn new(geometries: &Geometries, ops: usize) -> Self {
        let width = geometries.all.len() + 1;
        Self {
            line_shift: geometries.line_shift,
            levels: Levels::new(geometries),
            width,
            by_op: vec![0; ops * width],
            by_site: Vec::new(),
            unowned: vec![0; width],
            heap: Heap::default(),
            sites: Sites::default(),
            hints: vec![(Span::default(), 0); ops],
            last_block: FxHashMap::default(),
        }
    }

    /// Takes in one task.
    ///
    /// # Errors
    /// When the task cannot be decoded.
    pub fn task(&mut self, task: &Task<'_>) -> taskgraph::Result<()> {
        let context = task.id().context;
        let mut last = self.last_block.get(&context).copied();
        task.for_each_action(|action| match action {
            Action::Block(block) => {
                last = Some(block.id());
                block.for_each_access(|access| self.access(access));
            }
            Action::Alloc { addr, size, .. } => {
                let site = self.sites.allocated(last, size);
                self.by_site.resize(self.sites.len() * self.width, 0);
                self.heap.allocate(Allocation {
                    start: addr,
                    size,
                    site,
                    tag: 0,
                });
            }
            Action::Free { addr } => _ = self.heap.free(addr),
            _ => {}
        })?;
        if let Some(block) = last {
            self.last_block.insert(context, block);
        }
        Ok(())
    }

    /// Look-ups of the lines of one access, as `cache` counts them.
    #[inline]
    fn access(&mut self, access: Access) {
        if access.size == 0 {
            return;
        }
        let first = access.addr >> self.line_shift;
        let last = access.addr.saturating_add(access.size - 1) >> self.line_shift;
        for line in first..=last {
            let smallest = self.levels.touch(line);
            if let Some(count) = self
                .by_op
                .get_mut(access.op.index() * self.width + smallest)
            {
                *count += 1;
            }
            if smallest > 0 {
                self.missed(access, (line << self.line_shift).max(access.addr), smallest);
            }
        }
    }

    /// The smallest cache missed at `address`.
    #[inline]
    fn missed(&mut self, access: Access, address: u64, smallest: usize) {
        let Some((span, version)) = self.hints.get_mut(access.op.index()) else {
            return;
        };
        if *version != self.heap.version() || !(span.start..span.end).contains(&address) {
            (*span, *version) = (self.heap.find(address), self.heap.version());
        }
        match span.site {
            Some(site) => self.by_site[site as usize * self.width + smallest] += 1,
            None => self.unowned[smallest] += 1,
        }
    }

    /// Look-ups of each instruction.
    pub fn instructions(&self) -> impl Iterator<Item = Lookups> + '_ {
        self.by_op.chunks_exact(self.width).map(Lookups::of)
    }

    /// Misses of the smallest cache by site, then of memory no allocation holds.
    pub fn memory(&self) -> (impl Iterator<Item = Lookups> + '_, Lookups) {
        (
            self.by_site.chunks_exact(self.width).map(Lookups::of),
            Lookups::of(&self.unowned),
        )
    }

    /// The allocation sites.
    #[must_use]
    pub fn sites(&self) -> &Sites {
        &self.sites
    }
}

/// Look-ups of something, and how many of them missed in each cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Lines looked up.
    pub accesses: u64,
    /// Lines not found, by cache in ascending size.
    pub misses: Vec<u64>,
}

impl Lookups {
    fn of(counts: &[u64]) -> Self {
        let accesses = counts.iter().sum();
        let mut left = accesses;
        let misses = counts[..counts.len() - 1].iter().map(|hits| {
            left -= hits;
            left
        });
        Self {
            accesses,
            misses: misses.collect(),
        }
    }

    /// Adds those of something else.
    pub fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.misses.resize(other.misses.len(), 0);
        for (sum, misses) in self.misses.iter_mut().zip(&other.misses) {
            *sum += misses;
        }
    }
}
