//! Exact LRU for many set-associative caches in one pass. All ways of one set count share a recency
//! list per set (Mattson et al., "Evaluation techniques for storage hierarchies", 1970). Set counts
//! are visited from the coarsest to the finest, so that a hit at the front settles all that follow
//! (forest simulation: Hill and Smith, "Evaluating associativity in CPU caches", 1989).

/// The recency lists of every set, for one number of sets.
#[derive(Debug)]
struct Level {
    sets: u64,
    /// Lines of a list.
    ways: usize,
    /// For each set the numbers of its lines, most recent first; 0 marks an unused place. Zeroed
    /// memory is mapped lazily, so a large cache costs only the sets that are touched.
    slots: Vec<u32>,
    /// Look-ups by position in the list; the last entry counts those that found nothing. A line at
    /// position 0 is at the front in every finer level too.
    hits: Vec<u64>,
    touch: Touch,
}

/// Looks a line up in a level. Returns its position in the list of its set, or the length of that
/// list.
type Touch = fn(&mut Level, line: u64, id: u32, times: u64) -> usize;

/// Recency lists for several set counts, fed with one stream of lines.
#[derive(Debug)]
pub(super) struct SetForest(Vec<Level>);

impl SetForest {
    /// Makes one level for each `(sets, ways)`. The numbers of sets must be distinct powers of two
    /// in ascending order; `ways` is the most that [`SetForest::misses`] will be asked for.
    pub(super) fn new(levels: impl IntoIterator<Item = (u64, usize)>) -> Self {
        let new = |(sets, ways)| {
            let count = usize::try_from(sets).expect("sets fit the address space");
            Level {
                sets,
                ways,
                slots: vec![0; count * ways],
                hits: vec![0; ways + 1],
                touch: touch(ways),
            }
        };
        Self(levels.into_iter().map(new).collect())
    }

    /// A look-up of `line` (an address divided by the line size), whose number is `id`, that counts
    /// `times` times. Returns the index of the first level that holds it; `usize::MAX` if none
    /// does.
    #[inline]
    pub(super) fn touch(&mut self, line: u64, id: u32, times: u64) -> usize {
        let mut first = usize::MAX;
        for (at, level) in self.0.iter_mut().enumerate() {
            let position = (level.touch)(level, line, id, times);
            if position < level.ways {
                first = first.min(at);
            }
            if position == 0 {
                break;
            }
        }
        first
    }

    /// How many of `lookups` touches missed in a cache of `sets` sets and `ways` ways. `None` if
    /// that geometry is not among the levels.
    pub(super) fn misses(&self, sets: u64, ways: usize, lookups: u64) -> Option<u64> {
        let at = self.0.iter().position(|level| level.sets == sets)?;
        let front: u64 = self.0[..=at].iter().map(|level| level.hits[0]).sum();
        let behind: u64 = self.0[at].hits.get(1..ways)?.iter().sum();
        Some(lookups - front - behind)
    }
}

impl Level {
    #[inline(always)]
    fn look_up(&mut self, ways: usize, line: u64, id: u32, times: u64) -> usize {
        let set = usize::try_from(line & (self.sets - 1)).unwrap_or(0);
        let list = &mut self.slots[set * ways..(set + 1) * ways];
        let position = if list[0] == id { 0 } else { promote(list, id) };
        self.hits[position] += times;
        position
    }
}

/// For the usual numbers of ways the length of the list is a constant, which saves a third of the
/// time.
fn touch(ways: usize) -> Touch {
    fn of<const WAYS: usize>(level: &mut Level, line: u64, id: u32, times: u64) -> usize {
        level.look_up(WAYS, line, id, times)
    }
    match ways {
        1 => of::<1>,
        2 => of::<2>,
        4 => of::<4>,
        8 => of::<8>,
        16 => of::<16>,
        _ => |level, line, id, times| level.look_up(level.ways, line, id, times),
    }
}

/// Moves a line that is not at the front of its list to the front; returns its old position, or the
/// length of the list if it was not there. What was in front of it moves back by one place.
/// (Without branches this is slower, because misses and hits come in streaks.)
#[inline(always)]
fn promote(list: &mut [u32], id: u32) -> usize {
    let mut moving = std::mem::replace(&mut list[0], id);
    for (position, slot) in list.iter_mut().enumerate().skip(1) {
        std::mem::swap(slot, &mut moving);
        if moving == id {
            return position;
        }
    }
    list.len()
}
