//! Exact LRU for many set-associative caches in one pass. All ways of one set count share a recency
//! list per set (Mattson et al., "Evaluation techniques for storage hierarchies", 1970). Set counts
//! are visited from the coarsest to the finest, so that a hit at the front settles all that follow
//! (forest simulation: Hill and Smith, "Evaluating associativity in CPU caches", 1989).

#[cfg(target_arch = "x86_64")]
use super::promote::Vectors;
use super::promote::{OneByOne, Promote};

/// A power of two above the number of positions of any list with a fixed length, plus one for "not
/// found".
const POSITIONS: usize = 32;

/// Numbers of lines in a line of the processor's cache.
const ALIGNED: usize = 16;

/// The recency lists of every set, for one number of sets. A list has `W` lines.
#[derive(Debug)]
struct Level<const W: usize> {
    /// Sets - 1; sets are a power of two.
    mask: u64,
    /// Position of the level in the forest.
    index: usize,
    /// The number of lines at the front of a list that count as hits.
    ways: usize,
    /// For each set the numbers of its lines, most recent first; 0 marks an unused place. Zeroed
    /// memory is mapped lazily, so a large cache costs only the sets that are touched.
    slots: Vec<u32>,
    /// The place of the first set: no list crosses a line of the processor's cache.
    start: usize,
    /// Look-ups by position in the list. A line at position 0 is at the front in every finer level
    /// too.
    hits: [u64; POSITIONS],
}

/// The same for lists of any length.
#[derive(Debug)]
struct WideLevel {
    mask: u64,
    index: usize,
    ways: usize,
    slots: Vec<u32>,
    hits: Vec<u64>,
}

/// Levels with lists of equal length.
#[derive(Debug)]
enum Group {
    One(Vec<Level<1>>),
    Two(Vec<Level<2>>),
    Four(Vec<Level<4>>),
    Eight(Vec<Level<8>>),
    Sixteen(Vec<Level<16>>),
    Wide(Vec<WideLevel>),
}

/// Recency lists for several set counts, fed with one stream of lines.
#[derive(Debug)]
pub(super) struct SetForest {
    groups: Vec<Group>,
    /// Number of sets of each level.
    sets: Vec<u64>,
    #[cfg(target_arch = "x86_64")]
    vectors: Option<Vectors>,
}

impl SetForest {
    /// Makes one level for each `(sets, ways)`. The numbers of sets must be distinct powers of two
    /// in ascending order; `ways` is the most that [`SetForest::misses`] will be asked for.
    pub(super) fn new(levels: impl IntoIterator<Item = (u64, usize)>) -> Self {
        let mut this = Self {
            groups: Vec::new(),
            sets: Vec::new(),
            #[cfg(target_arch = "x86_64")]
            vectors: Vectors::try_new(),
        };
        for (sets, ways) in levels {
            this.push(sets, ways);
            this.sets.push(sets);
        }
        this
    }

    fn push(&mut self, sets: u64, ways: usize) {
        let index = self.sets.len();
        let last = self.groups.last_mut();
        match (ways, last) {
            (1, Some(Group::One(levels))) => levels.push(Level::new(sets, ways, index)),
            (1, _) => self.groups.push(Group::One(vec![Level::new(sets, ways, index)])),
            (2, Some(Group::Two(levels))) => levels.push(Level::new(sets, ways, index)),
            (2, _) => self.groups.push(Group::Two(vec![Level::new(sets, ways, index)])),
            (3..=4, Some(Group::Four(levels))) => levels.push(Level::new(sets, ways, index)),
            (3..=4, _) => self.groups.push(Group::Four(vec![Level::new(sets, ways, index)])),
            (5..=8, Some(Group::Eight(levels))) => levels.push(Level::new(sets, ways, index)),
            (5..=8, _) => self.groups.push(Group::Eight(vec![Level::new(sets, ways, index)])),
            (9..=16, Some(Group::Sixteen(levels))) => levels.push(Level::new(sets, ways, index)),
            (9..=16, _) => self.groups.push(Group::Sixteen(vec![Level::new(sets, ways, index)])),
            (_, Some(Group::Wide(levels))) => levels.push(WideLevel::new(sets, ways, index)),
            (_, _) => self.groups.push(Group::Wide(vec![WideLevel::new(sets, ways, index)])),
        }
    }

    /// A look-up of `line` (an address divided by the line size), whose number is `id`, that counts
    /// `times` times. Returns the index of the first level that holds it within its ways;
    /// `usize::MAX` if none does.
    #[inline]
    pub(super) fn touch(&mut self, line: u64, id: u32, times: u64) -> usize {
        #[cfg(target_arch = "x86_64")]
        if let Some(vectors) = self.vectors {
            return vectors.vectorize(|| self.walk(vectors, line, id, times));
        }
        self.walk(OneByOne, line, id, times)
    }

    #[inline(always)]
    fn walk(&mut self, how: impl Promote, line: u64, id: u32, times: u64) -> usize {
        let mut first = usize::MAX;
        for group in &mut self.groups {
            let first = &mut first;
            let settled = match group {
                Group::One(levels) => walk(how, levels, line, id, times, first),
                Group::Two(levels) => walk(how, levels, line, id, times, first),
                Group::Four(levels) => walk(how, levels, line, id, times, first),
                Group::Eight(levels) => walk(how, levels, line, id, times, first),
                Group::Sixteen(levels) => walk(how, levels, line, id, times, first),
                Group::Wide(levels) => walk_wide(levels, line, id, times, first),
            };
            if settled {
                break;
            }
        }
        first
    }

    /// How many of `lookups` touches missed in a cache of `sets` sets and `ways` ways. `None` if
    /// that geometry is not among the levels.
    pub(super) fn misses(&self, sets: u64, ways: usize, lookups: u64) -> Option<u64> {
        let at = self.sets.iter().position(|&known| known == sets)?;
        let all: Vec<&[u64]> = self.groups.iter().flat_map(Group::hits).collect();
        let front: u64 = all[..=at].iter().map(|hits| hits[0]).sum();
        let behind: u64 = all[at].get(1..ways)?.iter().sum();
        Some(lookups - front - behind)
    }
}

impl Group {
    /// Hits by position of each level.
    fn hits(&self) -> Vec<&[u64]> {
        fn of<const W: usize>(levels: &[Level<W>]) -> Vec<&[u64]> {
            levels.iter().map(|level| &level.hits[..]).collect()
        }
        match self {
            Self::One(levels) => of(levels),
            Self::Two(levels) => of(levels),
            Self::Four(levels) => of(levels),
            Self::Eight(levels) => of(levels),
            Self::Sixteen(levels) => of(levels),
            Self::Wide(levels) => levels.iter().map(|level| &level.hits[..]).collect(),
        }
    }
}

impl<const W: usize> Level<W> {
    fn new(sets: u64, ways: usize, index: usize) -> Self {
        let slots = vec![0; count(sets) * W + ALIGNED];
        Self {
            mask: sets - 1,
            index,
            ways,
            start: slots.as_ptr().align_offset(ALIGNED * size_of::<u32>()) % ALIGNED,
            slots,
            hits: [0; POSITIONS],
        }
    }

    /// The list of a line's set.
    #[inline(always)]
    fn list(&mut self, line: u64) -> &mut [u32; W] {
        let set = usize::try_from(line & self.mask).unwrap_or(0);
        let at = self.start + set * W;
        let list = self.slots[at..].first_chunk_mut();
        list.expect("every set has a list")
    }
}

impl WideLevel {
    fn new(sets: u64, ways: usize, index: usize) -> Self {
        Self {
            mask: sets - 1,
            index,
            ways,
            slots: vec![0; count(sets) * ways],
            hits: vec![0; ways + 1],
        }
    }
}

fn count(sets: u64) -> usize {
    usize::try_from(sets).expect("sets fit the address space")
}

/// Touches a line in levels from the coarsest on. Returns true if it was at the front of one, and
/// so is in all that follow.
#[inline(always)]
fn walk<const W: usize>(
    how: impl Promote,
    levels: &mut [Level<W>],
    line: u64,
    id: u32,
    times: u64,
    first: &mut usize,
) -> bool {
    for level in levels {
        let list = level.list(line);
        if list[0] == id {
            level.hits[0] += times;
            *first = (*first).min(level.index);
            return true;
        }
        let at = how.promote(list, id);
        level.hits[at % POSITIONS] += times;
        let found = if at < level.ways { level.index } else { usize::MAX };
        *first = (*first).min(found);
    }
    false
}

fn walk_wide(levels: &mut [WideLevel], line: u64, id: u32, times: u64, first: &mut usize) -> bool {
    for level in levels {
        let start = usize::try_from(line & level.mask).unwrap_or(0) * level.ways;
        let set = &mut level.slots[start..start + level.ways];
        let found = set.iter().position(|&known| known == id);
        level.hits[found.unwrap_or(level.ways)] += times;
        if found.is_some() {
            *first = (*first).min(level.index);
        }
        if found == Some(0) {
            return true;
        }
        set[..=found.unwrap_or(level.ways - 1)].rotate_right(1);
        set[0] = id;
    }
    false
}
