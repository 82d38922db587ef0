//! Private, coherent caches of one line size, of all contexts.

use rustc_hash::FxHashMap;
use taskgraph::Access;

use super::line::{Bytes, Effects, LineAccess, Miss, NOWHERE, SharedLine};
use crate::analysis::{Moving, lines_of};
use crate::heap::SiteId;

/// Entries of the table of the lines used last.
const RECENT: usize = 4096;
/// Marks the index of a line that several contexts use.
const SHARED: u32 = 1 << 31;

/// A line that one context uses.
#[derive(Clone, Copy, Debug)]
struct Private {
    written: Bytes,
    owner: u32,
    /// Operation of the last write.
    op: u32,
}

/// Misses that needed another context's data, and misses that did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    /// Data of another context was needed.
    pub true_misses: u64,
    /// No data of another context was needed.
    pub false_misses: u64,
}

impl Misses {
    /// Both kinds.
    #[must_use]
    pub fn all(self) -> u64 {
        self.true_misses + self.false_misses
    }

    fn count(&mut self, useless: bool) {
        if useless {
            self.false_misses += 1;
        } else {
            self.true_misses += 1;
        }
    }

    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.true_misses += other.true_misses;
        self.false_misses += other.false_misses;
    }
}

/// Misses of one line, by the place where its memory was allocated and by the operations on both sides.
pub type LineMisses = FxHashMap<(SiteId, u32, u32), Misses>;

/// The state of all lines.
#[derive(Debug)]
pub struct Caches {
    shift: u32,
    index: FxHashMap<u64, u32>,
    private: Vec<Private>,
    shared: Vec<SharedLine>,
    /// Line and index.
    recent: Vec<(u64, u32)>,
    effects: Effects,
    misses: FxHashMap<u64, LineMisses>,
    /// Bytes read by one context that another wrote: `(writer, reader)`.
    pub communicated: FxHashMap<(u32, u32), u64>,
    /// First accesses of a context to a line.
    pub cold: u64,
    /// Writes that took a line away from other contexts.
    pub taken: u64,
}

impl Caches {
    /// Empty caches with lines of `1 << shift` bytes, at most 128.
    #[must_use]
    pub fn new(shift: u32) -> Self {
        Self {
            shift,
            index: FxHashMap::default(),
            private: Vec::new(),
            shared: Vec::new(),
            recent: vec![(u64::MAX, 0); RECENT],
            effects: Effects::default(),
            misses: FxHashMap::default(),
            communicated: FxHashMap::default(),
            cold: 0,
            taken: 0,
        }
    }

    /// Number of bytes of a line.
    #[must_use]
    pub fn line(&self) -> u64 {
        1 << self.shift
    }

    /// The line of an address is the address shifted by so many bits.
    #[must_use]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// One access by `context`; `site` gives the place where the memory was allocated.
    #[inline]
    pub fn access(&mut self, context: u32, access: &Access, site: impl Fn(u64) -> SiteId) {
        let (addr, size) = (access.addr, access.size);
        if size == 0 {
            return;
        }
        let last_byte = addr.saturating_add(size - 1);
        for line in addr >> self.shift..=last_byte >> self.shift {
            let start = line << self.shift;
            let from = addr.max(start) - start;
            let to = last_byte.min(start + (self.line() - 1)) - start;
            let touched = LineAccess {
                context,
                bytes: (Bytes::MAX >> (127 - (to - from))) << from,
                write: access.write,
                op: access.op.get(),
            };
            self.touch(line, touched, || site(start + from));
        }
    }

    /// So many iterations of a run by `context`, in which no access leaves its lines. In lines that the context does
    /// not share each access is taken once, with all its bytes.
    pub(super) fn stretch(
        &mut self,
        context: u32,
        moving: &[Moving],
        times: u64,
        site: impl Fn(u64) -> SiteId,
    ) {
        let own = |moving: &Moving| self.is_own(context, &moving.access);
        if times == 1 || !moving.iter().all(own) {
            for iteration in 0..times {
                for moving in moving {
                    self.access(context, &moving.later(iteration), &site);
                }
            }
            return;
        }
        let within = self.line() - 1;
        for moving in moving.iter().filter(|moving| moving.access.size > 0) {
            let Access { addr, size, .. } = moving.access;
            let one = Bytes::MAX >> (128 - size);
            let bytes = match moving.stride {
                0 => one << (addr & within),
                _ => (0..times).fold(0, |all, iteration| {
                    all | one << (moving.later(iteration).addr & within)
                }),
            };
            let touched = LineAccess {
                context,
                bytes,
                write: moving.access.write,
                op: moving.access.op.get(),
            };
            self.touch(addr >> self.shift, touched, || NOWHERE);
        }
    }

    /// Whether an access is to one line that no other context has used.
    fn is_own(&self, context: u32, access: &Access) -> bool {
        let line = access.addr >> self.shift;
        let recent = self.recent[usize::try_from(line % RECENT as u64).unwrap_or(0)];
        let index = match recent.0 == line {
            true => Some(recent.1),
            false => self.index.get(&line).copied(),
        };
        let own = |index: u32| index & SHARED == 0 && self.private[index as usize].owner == context;
        lines_of(access, self.shift) <= 1 && index.is_none_or(own)
    }

    #[inline]
    fn touch(&mut self, line: u64, access: LineAccess, site: impl FnOnce() -> SiteId) {
        let recent = usize::try_from(line % RECENT as u64).unwrap_or(0);
        let index = if self.recent[recent].0 == line {
            self.recent[recent].1
        } else {
            self.find(line, access.context)
        };
        self.recent[recent] = (line, index);
        if index & SHARED == 0 {
            let private = &mut self.private[index as usize];
            if private.owner == access.context {
                if access.write {
                    (private.written, private.op) = (private.written | access.bytes, access.op);
                }
                return;
            }
        }
        self.touch_shared(line, index, access, site);
    }

    fn find(&mut self, line: u64, context: u32) -> u32 {
        let (private, cold) = (&mut self.private, &mut self.cold);
        *self.index.entry(line).or_insert_with(|| {
            *cold += 1;
            private.push(Private {
                written: 0,
                owner: context,
                op: 0,
            });
            u32::try_from(private.len() - 1).unwrap_or(0)
        })
    }

    fn touch_shared(
        &mut self,
        line: u64,
        index: u32,
        access: LineAccess,
        site: impl FnOnce() -> SiteId,
    ) {
        let index = if index & SHARED == 0 {
            self.share(line, index)
        } else {
            index
        };
        let effects = &mut self.effects;
        self.shared[(index & !SHARED) as usize].access(access, effects, site);
        self.cold += u64::from(std::mem::take(&mut effects.cold));
        self.taken += u64::from(std::mem::take(&mut effects.took));
        for (writer, bytes) in effects.read.drain(..) {
            *self
                .communicated
                .entry((writer, access.context))
                .or_default() += u64::from(bytes);
        }
        settle(&mut self.misses, line, effects);
    }

    /// Notes that a second context uses the line from now on.
    fn share(&mut self, line: u64, index: u32) -> u32 {
        let Private { written, owner, op } = self.private[index as usize];
        self.shared.push(SharedLine::new(owner, written, op));
        let index = u32::try_from(self.shared.len() - 1).unwrap_or(0) | SHARED;
        self.index.insert(line, index);
        self.recent[usize::try_from(line % RECENT as u64).unwrap_or(0)] = (line, index);
        index
    }

    /// Ends the run and returns the misses of each line, with the number of contexts that use it.
    pub fn finish(&mut self) -> Vec<(u64, usize, LineMisses)> {
        for (&line, &index) in self.index.iter().filter(|(_, index)| **index & SHARED != 0) {
            self.shared[(index & !SHARED) as usize].finish(&mut self.effects);
            settle(&mut self.misses, line, &mut self.effects);
        }
        let contexts = |line: &u64| {
            self.index.get(line).map_or(0, |&index| {
                self.shared[(index & !SHARED) as usize].contexts()
            })
        };
        let mut lines: Vec<_> = std::mem::take(&mut self.misses)
            .into_iter()
            .map(|(line, misses)| (line << self.shift, contexts(&line), misses))
            .collect();
        lines.sort_by_key(|row| row.0);
        lines
    }
}

fn settle(misses: &mut FxHashMap<u64, LineMisses>, line: u64, effects: &mut Effects) {
    for Miss {
        writer,
        missed,
        site,
        useless,
    } in effects.settled.drain(..)
    {
        misses
            .entry(line)
            .or_default()
            .entry((site, writer, missed))
            .or_default()
            .count(useless);
    }
}
