//! Cores with private caches, kept coherent by MESI (Papamarcos and Patel, ISCA 1984) over a full directory, and a
//! shared last-level cache.
//!
//! The outer private cache holds the states and includes the inner one. The shared cache is filled by private misses
//! and by modified lines that are written back; it does not include the private caches. Another core supplies a line
//! that it has modified; the shared cache or memory supplies all other lines.

use super::set_cache::SetCache;
use crate::cache::LineIds;

/// The most cores, because the directory has a bit for each.
pub const MAX_CORES: usize = 64;

/// What a core may do with a line it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mesi {
    /// The core has written the line, no other core has it, and memory is stale.
    Modified,
    /// No other core has the line.
    Exclusive,
    /// Other cores may have the line.
    #[default]
    Shared,
}

/// Sets and ways of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Sets, a power of two.
    pub sets: u64,
    /// Lines per set.
    pub ways: usize,
}

/// Look-ups of one level by one core, and the reasons of its misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookups {
    /// Lines looked up.
    pub accesses: u64,
    /// Misses on lines that this core had never used.
    pub cold: u64,
    /// Misses on lines that another core's write took away.
    pub coherence: u64,
    /// Misses on lines that other lines pushed out (capacity or conflict).
    pub replaced: u64,
}

impl Lookups {
    /// Lines not found.
    #[must_use]
    pub fn misses(&self) -> u64 {
        self.cold + self.coherence + self.replaced
    }
}

/// What one core did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounts {
    /// Inner private cache.
    pub l1: Lookups,
    /// Outer private cache; all zero if there is none.
    pub l2: Lookups,
    /// Private misses that another core's modified line answered.
    pub transfers: u64,
    /// Writes to lines that other cores might have.
    pub upgrades: u64,
    /// Lines lost to other cores' writes.
    pub invalidated: u64,
    /// Modified lines that were written back because they were pushed out or another core read them.
    pub write_backs: u64,
    /// Private misses that asked the shared cache.
    pub l3: u64,
    /// Requests to the shared cache that missed.
    pub l3_misses: u64,
}

/// The number of no line: lines have at least 4 bytes.
const NO_LINE: u64 = u64::MAX;

#[derive(Debug)]
struct Core {
    l1: SetCache<Mesi>,
    l2: Option<SetCache<Mesi>>,
    /// By number of the line: whether this core has used it, and lost it last to another core's write, by level.
    history: Vec<Lost>,
    counts: CoreCounts,
    /// See [`Machine::changes`].
    changes: u64,
    /// The line accessed last, as long as this core holds it unchanged, and whether it may be written.
    last: u64,
    last_modified: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lost {
    used: bool,
    l1: bool,
    l2: bool,
}

/// The machine.
#[derive(Debug)]
pub struct Machine {
    cores: Vec<Core>,
    l3: Option<SetCache<()>>,
    /// Numbers of lines, and by number the cores that hold the line, as bits.
    ids: LineIds,
    holders: Vec<u64>,
}

impl Core {
    /// The cache that holds the states.
    fn outer(&mut self) -> &mut SetCache<Mesi> {
        self.l2.as_mut().unwrap_or(&mut self.l1)
    }

    /// Notes that another core changes the state of a line.
    fn forget(&mut self, line: u64) {
        if self.last == line {
            self.last = NO_LINE;
        }
    }

    /// What is known of the line with this number.
    fn history(&mut self, id: u32) -> &mut Lost {
        entry(&mut self.history, id)
    }

    /// Takes a line away because another core writes it.
    fn invalidate(&mut self, line: u64, id: u32) -> Option<Mesi> {
        self.forget(line);
        let inner = self.l1.remove(line);
        let outer = self.l2.as_mut().and_then(|l2| l2.remove(line));
        let lost = self.history(id);
        lost.l1 |= inner.is_some();
        lost.l2 |= outer.is_some();
        let state = if self.l2.is_some() { outer } else { inner };
        self.counts.invalidated += u64::from(state.is_some());
        state
    }

    /// Counts a look-up that missed in the inner private cache and, if `outer_too`, in the outer one.
    fn missed(&mut self, id: u32, outer_too: bool) {
        let used = Lost {
            used: true,
            ..Lost::default()
        };
        let known = std::mem::replace(self.history(id), used);
        let why = |lookups: &mut Lookups, lost: fn(Lost) -> bool| match known {
            Lost { used: false, .. } => lookups.cold += 1,
            known if lost(known) => lookups.coherence += 1,
            _ => lookups.replaced += 1,
        };
        why(&mut self.counts.l1, |known| known.l1);
        if outer_too {
            why(&mut self.counts.l2, |known| known.l2);
        }
    }
}

impl Machine {
    /// A machine of `cores` equal cores (at most [`MAX_CORES`]) with empty caches.
    #[must_use]
    pub fn new(cores: usize, l1: Shape, l2: Option<Shape>, l3: Option<Shape>) -> Self {
        let core = || Core {
            l1: SetCache::new(l1.sets, l1.ways),
            l2: l2.map(|shape| SetCache::new(shape.sets, shape.ways)),
            history: Vec::new(),
            counts: CoreCounts::default(),
            changes: 0,
            last: NO_LINE,
            last_modified: false,
        };
        Self {
            cores: (0..cores.clamp(1, MAX_CORES)).map(|_| core()).collect(),
            l3: l3.map(|shape| SetCache::new(shape.sets, shape.ways)),
            ids: LineIds::default(),
            holders: Vec::new(),
        }
    }

    /// What each core did.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = CoreCounts> + '_ {
        self.cores.iter().map(|core| core.counts)
    }

    /// A number that grows with every access of a core that does more than change the order of last uses in its inner
    /// cache.
    #[must_use]
    pub fn changes(&self, core: usize) -> u64 {
        self.cores[core].changes
    }

    /// Lines looked up by a core.
    pub(super) fn accesses(&self, core: usize) -> u64 {
        self.cores[core].counts.l1.accesses
    }

    /// Counts accesses of a core that find their lines in the inner cache and change nothing.
    pub fn hit(&mut self, core: usize, lines: u64) {
        self.cores[core].counts.l1.accesses += lines;
    }

    /// One access of a core to a line.
    pub fn access(&mut self, core: usize, line: u64, write: bool) {
        let own = &mut self.cores[core];
        own.counts.l1.accesses += 1;
        if line == own.last && (own.last_modified || !write) {
            // The line is at the front of its set, and stays there unchanged.
            return;
        }
        (own.last, own.last_modified) = (line, write);
        if own.l1.touch(line).is_none() {
            own.changes += 1;
            let id = self.ids.id(line);
            if !own.find_outer(line, id) {
                return self.fetch(core, line, id, write);
            }
        }
        if write {
            let state = own
                .outer()
                .peek(line)
                .expect("the outer cache includes the inner");
            let before = std::mem::replace(state, Mesi::Modified);
            own.changes += u64::from(before != Mesi::Modified);
            if before == Mesi::Shared {
                own.counts.upgrades += 1;
                let id = self.ids.id(line);
                self.take_from_others(core, line, id);
            }
        }
    }

    /// Brings in a line that this core does not hold.
    fn fetch(&mut self, core: usize, line: u64, id: u32, write: bool) {
        let others = *entry(&mut self.holders, id);
        let supplied = if write {
            self.take_from_others(core, line, id)
        } else {
            self.share(others, line)
        };
        let counts = &mut self.cores[core].counts;
        if supplied {
            counts.transfers += 1;
        } else if let Some(l3) = &mut self.l3 {
            counts.l3 += 1;
            if l3.touch(line).is_none() {
                counts.l3_misses += 1;
                l3.insert(line, ());
            }
        }
        let state = match (write, others) {
            (true, _) => Mesi::Modified,
            (false, 0) => Mesi::Exclusive,
            (false, _) => Mesi::Shared,
        };
        self.fill(core, line, id, state);
    }

    /// Makes the other cores that hold a line that is read here share it; returns true if one had modified it.
    fn share(&mut self, others: u64, line: u64) -> bool {
        let mut supplied = false;
        for other in bits(others) {
            let holder = &mut self.cores[other];
            holder.forget(line);
            let Some(state) = holder.outer().peek(line) else {
                continue;
            };
            if std::mem::replace(state, Mesi::Shared) == Mesi::Modified {
                holder.counts.write_backs += 1;
                supplied = true;
            }
        }
        if supplied {
            self.write_back(line);
        }
        supplied
    }

    /// Takes a line that is written here from other cores; returns true if one had modified it.
    fn take_from_others(&mut self, core: usize, line: u64, id: u32) -> bool {
        let own = 1 << core;
        let holders = entry(&mut self.holders, id);
        let others = *holders & !own;
        *holders &= own;
        let mut supplied = false;
        for other in bits(others) {
            supplied |= self.cores[other].invalidate(line, id) == Some(Mesi::Modified);
        }
        supplied
    }

    /// Puts a line into both private caches. A modified line that must go is written back.
    fn fill(&mut self, core: usize, line: u64, id: u32, state: Mesi) {
        *entry(&mut self.holders, id) |= 1 << core;
        let own = &mut self.cores[core];
        let out = match &mut own.l2 {
            None => own.l1.insert(line, state),
            Some(l2) => {
                let out = l2.insert(line, state);
                if let Some((gone, _)) = out {
                    own.l1.remove(gone);
                }
                own.l1.insert(line, state);
                out
            }
        };
        let Some((gone, state)) = out else { return };
        let id = self.ids.id(gone);
        *entry(&mut self.holders, id) &= !(1 << core);
        if state == Mesi::Modified {
            own.counts.write_backs += 1;
            self.write_back(gone);
        }
    }

    /// A modified line arrives in the shared cache.
    fn write_back(&mut self, line: u64) {
        if let Some(l3) = &mut self.l3
            && l3.touch(line).is_none()
        {
            l3.insert(line, ());
        }
    }
}

impl Core {
    /// After a miss in the inner cache, looks up the outer one and fills the inner one from it. Counts both misses.
    fn find_outer(&mut self, line: u64, id: u32) -> bool {
        let Some(l2) = &mut self.l2 else {
            self.missed(id, false);
            return false;
        };
        self.counts.l2.accesses += 1;
        let state = l2.touch(line).copied();
        self.missed(id, state.is_none());
        if let Some(state) = state {
            self.l1.insert(line, state);
        }
        state.is_some()
    }
}

/// The entry of the line with this number.
#[inline]
fn entry<T: Clone + Default>(table: &mut Vec<T>, id: u32) -> &mut T {
    let at = id as usize;
    if at >= table.len() {
        table.resize((at + 1).next_power_of_two(), T::default());
    }
    &mut table[at]
}

/// Positions of the bits that are set, lowest first.
fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lowest < 64).then_some(lowest as usize)
    })
}
