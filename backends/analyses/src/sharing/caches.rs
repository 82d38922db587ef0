//! Private, coherent caches of one line size, of all executors.

use taskgraph::Access;

use super::line::{Bytes, Effects, LineAccess, NOWHERE, SharedLine};
use crate::analysis::{Moving, lines, lines_of};
use crate::cache::LineIds;
use crate::heap::SiteId;

/// The index of a line that nobody has used.
const UNUSED: u32 = u32::MAX;
/// Marks the index of a line that several executors use.
const SHARED: u32 = 1 << 31;

/// Entries of the table of quiet lines.
const QUIET: usize = 1024;
/// No line has this number, because lines have at least 8 bytes.
const NO_LINE: u64 = u64::MAX;
/// Log2 of the bytes within which neighbours of a line are looked for.
const PAGE_SHIFT: u32 = 14;

/// A line that one executor uses.
#[derive(Clone, Copy, Debug)]
struct Private {
    written: Bytes,
    owner: u32,
    /// Operation of the last write.
    op: u32,
}

/// The state of all lines.
#[derive(Debug)]
pub(super) struct Caches {
    /// The line of an address is the address shifted by so many bits.
    pub(super) shift: u32,
    ids: LineIds,
    /// By number of the line: where it is among the private or the shared lines.
    index: Vec<u32>,
    /// Lines, and the executor that used each of them last and learns nothing from reading it
    /// again.
    quiet: Box<[(u64, u32); QUIET]>,
    private: Vec<Private>,
    /// The shared lines and what is known of them.
    shared: Vec<(u64, SharedLine)>,
    /// By position: whether an executor has ended.
    ended: Vec<bool>,
    pub(super) effects: Effects,
    /// Misses that nobody fights for on a line beside one that the executor has just missed on.
    pub(super) ahead: u64,
    /// How often another executor had its turn so far; a turn that was longer than two slices
    /// counts more often.
    pub(super) turn: u64,
}

impl Caches {
    /// Empty caches with lines of `1 << shift` bytes, at most 128.
    pub(super) fn new(shift: u32) -> Self {
        Self {
            shift,
            ids: LineIds::default(),
            index: Vec::new(),
            quiet: Box::new([(NO_LINE, 0); QUIET]),
            private: Vec::new(),
            shared: Vec::new(),
            ended: Vec::new(),
            effects: Effects::default(),
            ahead: 0,
            turn: 0,
        }
    }

    /// An executor accesses nothing any more.
    pub(super) fn end_executor(&mut self, executor: u32) {
        let at = executor as usize;
        self.ended.resize(self.ended.len().max(at + 1), false);
        self.ended[at] = true;
    }

    /// Number of bytes of a line.
    pub(super) fn line(&self) -> u64 {
        1 << self.shift
    }

    /// One access by `executor`; `site` gives the place where the memory was allocated.
    #[inline]
    pub(super) fn access(&mut self, executor: u32, access: &Access, site: impl Fn(u64) -> SiteId) {
        let (addr, size) = (access.addr, access.size);
        for line in lines(addr, size, self.shift) {
            let quiet = usize::try_from(line).unwrap_or(0) % QUIET;
            if !access.write && self.quiet[quiet] == (line, executor) {
                continue;
            }
            let start = line << self.shift;
            let from = addr.max(start) - start;
            let to = addr.saturating_add(size - 1).min(start + (self.line() - 1)) - start;
            let touched = LineAccess {
                executor,
                bytes: (Bytes::MAX >> (127 - (to - from))) << from,
                write: access.write,
                op: access.op.get(),
                turn: self.turn,
            };
            let learns = self.touch(line, touched, || site(start + from));
            self.quiet[quiet] = (if learns { NO_LINE } else { line }, executor);
        }
    }

    /// So many iterations of a run by `executor`, in which no access leaves its lines. In lines
    /// that the executor does not share, or knows all of, each access is taken once, with all its
    /// bytes.
    pub(super) fn stretch(
        &mut self,
        executor: u32,
        moving: &[Moving],
        times: u64,
        site: impl Fn(u64) -> SiteId,
    ) {
        let mut all = moving.iter();
        if times == 1 || !all.all(|moving| self.is_known(executor, moving, times)) {
            // An iteration that does what the one before did changes nothing.
            let stands = moving.iter().all(|moving| moving.stride == 0);
            for iteration in 0..if stands { 1 } else { times } {
                for moving in moving {
                    self.access(executor, &moving.later(iteration), &site);
                }
            }
            return;
        }
        for moving in moving.iter().filter(|moving| moving.access.size > 0) {
            let line = moving.access.addr >> self.shift;
            let touched = LineAccess {
                executor,
                bytes: self.bytes(moving, times),
                write: moving.access.write,
                op: moving.access.op.get(),
                turn: self.turn,
            };
            self.touch(line, touched, || NOWHERE);
        }
    }

    /// The bytes of a line that so many iterations access.
    fn bytes(&self, moving: &Moving, times: u64) -> Bytes {
        let within = self.line() - 1;
        let one = Bytes::MAX >> (128 - moving.access.size);
        match moving.stride {
            0 => one << (moving.access.addr & within),
            _ => (0..times)
                .fold(0, |all, iteration| all | one << (moving.later(iteration).addr & within)),
        }
    }

    /// Whether accesses are to one line that no other executor has used, or that the executor knows
    /// all of.
    fn is_known(&mut self, executor: u32, moving: &Moving, times: u64) -> bool {
        let Access { addr, size, write, .. } = moving.access;
        if lines_of(&moving.access, self.shift) > 1 {
            return false;
        }
        let line = addr >> self.shift;
        if size == 0 {
            return true;
        }
        let index = *self.index(line);
        if index == UNUSED || index & SHARED == 0 {
            let private = self.private.get(index as usize);
            return private.is_none_or(|private| private.owner == executor);
        }
        let shared = &self.shared[(index & !SHARED) as usize].1;
        shared.knows(executor, self.bytes(moving, times), write)
    }

    /// Returns whether the executor may learn something when it reads the line again.
    #[inline]
    fn touch(&mut self, line: u64, access: LineAccess, site: impl FnOnce() -> SiteId) -> bool {
        let index = *self.index(line);
        if let Some(private) = self.private.get_mut(index as usize)
            && private.owner == access.executor
        {
            if access.write {
                (private.written, private.op) = (private.written | access.bytes, access.op);
            }
            return false;
        }
        if index == UNUSED {
            self.begin(line, access);
            return false;
        }
        self.touch_shared(line, index, access, site)
    }

    /// Where a line is.
    #[inline]
    fn index(&mut self, line: u64) -> &mut u32 {
        let id = self.ids.id(line) as usize;
        if id >= self.index.len() {
            self.index.resize((id + 1).next_power_of_two(), UNUSED);
        }
        &mut self.index[id]
    }

    /// The first access to a line.
    fn begin(&mut self, line: u64, access: LineAccess) {
        self.effects.cold += 1;
        *self.index(line) = u32::try_from(self.private.len()).unwrap_or(0);
        self.private.push(match access.write {
            true => Private { written: access.bytes, owner: access.executor, op: access.op },
            false => Private { written: 0, owner: access.executor, op: 0 },
        });
    }

    fn touch_shared(
        &mut self,
        line: u64,
        index: u32,
        access: LineAccess,
        site: impl FnOnce() -> SiteId,
    ) -> bool {
        let index = if index & SHARED == 0 { self.share(line, index) } else { index };
        let effects = &mut self.effects;
        let shared = &mut self.shared[(index & !SHARED) as usize].1;
        effects.line = line;
        let learns = shared.access(access, &self.ended, effects, site);
        if std::mem::take(&mut effects.missed) {
            self.ahead += u64::from(self.is_fetched_ahead(line, &access));
        }
        learns
    }

    /// Whether the executor has just missed on a neighbour of this line. Neighbours on another page
    /// do not count, because processors fetch nothing ahead of them.
    fn is_fetched_ahead(&mut self, line: u64, access: &LineAccess) -> bool {
        let page = PAGE_SHIFT - self.shift;
        [line.wrapping_sub(1), line.wrapping_add(1)]
            .into_iter()
            .filter(|other| other >> page == line >> page)
            .any(|other| {
                let at = (*self.index(other) & !SHARED) as usize;
                let shared = *self.index(other) & SHARED != 0;
                let known = self.shared.get(at).filter(|_| shared);
                known.is_some_and(|known| known.1.fetches_ahead(access))
            })
    }

    /// Notes that a second executor uses the line from now on.
    fn share(&mut self, line: u64, index: u32) -> u32 {
        let Private { written, owner, op } = self.private[index as usize];
        let new = SharedLine::new(owner, written, op);
        self.shared.push((line, new));
        let index = u32::try_from(self.shared.len() - 1).unwrap_or(0) | SHARED;
        *self.index(line) = index;
        index
    }

    /// Ends the run: decides the misses that are still open.
    pub(super) fn finish(&mut self) {
        for (line, shared) in &mut self.shared {
            self.effects.line = *line;
            shared.finish(&mut self.effects);
        }
    }

    /// Number of executors that use a line with misses.
    pub(super) fn executors(&mut self, line: u64) -> u64 {
        let index = *self.index(line) & !SHARED;
        let shared = self.shared.get(index as usize);
        shared.map_or(0, |shared| shared.1.executors)
    }
}
