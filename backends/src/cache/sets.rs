//! Exact LRU for many set-associative caches in one pass: all ways of one set count share a recency list per set
//! (Mattson et al., "Evaluation techniques for storage hierarchies", 1970), and set counts are visited from the
//! coarsest to the finest so that one hit at the front settles all that follow (forest simulation: Hill and Smith,
//! "Evaluating associativity in CPU caches", 1989).

/// The recency lists of every set, for one number of sets.
#[derive(Debug)]
struct Level {
    /// Sets - 1; sets are a power of two.
    mask: u64,
    /// Lines remembered per set: the largest number of ways asked for.
    ways: usize,
    /// Per set, most recent first: line + 1, or 0 where nothing has been yet. Zeroed memory is mapped lazily, so a
    /// large cache costs only the sets that are touched.
    slots: Vec<u64>,
    /// Hits by position in the recency list, position 0 excepted (see `settled`).
    hits: Vec<u64>,
    /// Accesses that were found at the front here, and therefore are at the front in every finer level too.
    settled: u64,
}

/// Recency lists for several set counts, fed with one stream of line numbers.
#[derive(Debug)]
pub struct SetForest {
    levels: Vec<Level>,
}

impl SetForest {
    /// One level for each `(sets, ways)`: sets are distinct powers of two in ascending order, ways the most that will
    /// be asked of [`SetForest::misses`].
    #[must_use]
    pub fn new(levels: impl IntoIterator<Item = (u64, usize)>) -> Self {
        let levels = levels.into_iter().map(|(sets, ways)| {
            let count = usize::try_from(sets).expect("sets fit the address space");
            Level {
                mask: sets - 1,
                ways,
                slots: vec![0; count * ways],
                hits: vec![0; ways],
                settled: 0,
            }
        });
        Self {
            levels: levels.collect(),
        }
    }

    /// One access to `line` (an address divided by the line size).
    #[inline]
    pub fn access(&mut self, line: u64) {
        let tag = line + 1;
        for level in &mut self.levels {
            let first =
                usize::try_from(line & level.mask).expect("below the number of sets") * level.ways;
            let set = &mut level.slots[first..first + level.ways];
            if set[0] == tag {
                level.settled += 1;
                return;
            }
            // Shift the list by one until the line's old place, the first empty slot or the end.
            let mut moving = std::mem::replace(&mut set[0], tag);
            for (slot, hits) in set[1..].iter_mut().zip(&mut level.hits[1..]) {
                if moving == 0 {
                    break;
                }
                std::mem::swap(slot, &mut moving);
                if moving == tag {
                    *hits += 1;
                    break;
                }
            }
        }
    }

    /// One access to the very line that was accessed last: a hit everywhere that changes nothing.
    #[inline]
    pub fn settle(&mut self) {
        if let Some(coarsest) = self.levels.first_mut() {
            coarsest.settled += 1;
        }
    }

    /// Misses of a cache of `sets` sets and `ways` ways, of `accesses` accesses in all.
    /// `None` when that geometry was not among the levels.
    #[must_use]
    pub fn misses(&self, sets: u64, ways: usize, accesses: u64) -> Option<u64> {
        let at = self
            .levels
            .iter()
            .position(|level| level.mask + 1 == sets)?;
        let front: u64 = self.levels[..=at].iter().map(|level| level.settled).sum();
        let behind: u64 = self.levels[at].hits.get(1..ways)?.iter().sum();
        Some(accesses - front - behind)
    }
}
