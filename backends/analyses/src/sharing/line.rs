//! One line of memory that several executors use: which executors hold a copy, which have written
//! what, and why copies were lost.
//!
//! Caches are private, of unlimited size, and coherent. A write takes the line away from all other
//! executors (as MESI and its relatives do), and an executor that lost it misses at its next
//! access. Such a miss is *true sharing* if, before the line is lost again, the executor touches a
//! byte that another executor wrote since it last got the line's news, and *false sharing* if it
//! never does (Dubois et al., "The detection and elimination of useless misses in multiprocessors",
//! ISCA 1993).

use rustc_hash::FxHashMap;

use crate::heap::SiteId;

/// Bytes of a line; bit 0 is the first.
pub(super) type Bytes = u128;

/// The static operation of an access.
pub(super) type Op = u32;

/// An executor that goes through memory in order misses on neighbouring lines within so many turns.
const AHEAD_TURNS: u64 = 8;

/// The site of memory that no recorded allocation holds.
pub(super) const NOWHERE: SiteId = SiteId::MAX;

/// One access to some bytes of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineAccess {
    /// The executor, by position.
    pub(super) executor: u32,
    /// The accessed bytes.
    pub(super) bytes: Bytes,
    /// Whether it writes.
    pub(super) write: bool,
    /// The operation.
    pub(super) op: Op,
    /// How often another executor had its turn before.
    pub(super) turn: u64,
}

/// The copy of one executor.
#[derive(Clone, Copy, Debug, Default)]
struct Copy {
    executor: u32,
    valid: bool,
    /// Whether it is not known yet that the miss which brought the copy is true sharing.
    pending: bool,
    /// The operation that missed, and the operation that had taken the line away.
    missed: Op,
    taken_by: Op,
    /// The turn in which it was taken.
    taken_at: u64,
    /// Where the memory was allocated.
    site: SiteId,
    /// Bytes that others have written since the last news.
    stale: Bytes,
    /// Bytes that others have written and that were not read since.
    unread: Bytes,
}

/// What one executor wrote last.
#[derive(Clone, Copy, Debug)]
struct Writer {
    executor: u32,
    op: Op,
    /// Bytes that nobody has overwritten since.
    bytes: Bytes,
}

/// Misses that needed another executor's data, and misses that did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Misses {
    /// Data of another executor was needed.
    pub(super) true_misses: u64,
    /// No data of another executor was needed.
    pub(super) false_misses: u64,
}

impl Misses {
    /// Both kinds.
    pub(super) fn all(self) -> u64 {
        self.true_misses + self.false_misses
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: Self) {
        self.true_misses += other.true_misses;
        self.false_misses += other.false_misses;
    }

    /// So many times as much.
    pub(super) fn times(self, n: u64) -> Self {
        Self {
            true_misses: self.true_misses.saturating_mul(n),
            false_misses: self.false_misses.saturating_mul(n),
        }
    }
}

/// A line used by several executors.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedLine {
    /// Copies of executors that go on; some that have ended may be among them.
    copies: Vec<Copy>,
    /// Number of executors that have used the line.
    pub(super) executors: u64,
    /// Whether an executor that has ended had the line, and nobody has taken it since.
    left: bool,
    writers: Vec<Writer>,
    /// The executor that missed last, and the turn in which it did.
    missed: Option<(u32, u64)>,
    /// The bytes that the executor of the first copy has written since the other executors' last
    /// access.
    own: Bytes,
}

/// What accesses did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Effects {
    /// The line that is accessed.
    pub(super) line: u64,
    /// Misses whose kind is known, by line, place where its memory was allocated, and operations on
    /// both sides: the write that took the line away (for true sharing, the one whose data was
    /// needed), and the miss.
    pub(super) misses: FxHashMap<(u64, SiteId, Op, Op), Misses>,
    /// Bytes read by one executor that another wrote: `(writer, reader)`.
    pub(super) communicated: FxHashMap<(u32, u32), u64>,
    /// First accesses of an executor to a line.
    pub(super) cold: u64,
    /// Writes that took a line away from other executors.
    pub(super) taken: u64,
    /// Misses on lines that the executor lost when it was another one's turn, so shortly before
    /// that they fight for it.
    pub(super) contested: u64,
    /// Whether the access missed for another reason: another executor had taken the line.
    pub(super) missed: bool,
}

impl Effects {
    /// The misses like that which brought a copy, after a write.
    fn of(&mut self, copy: &Copy, writer: Op) -> &mut Misses {
        self.misses.entry((self.line, copy.site, writer, copy.missed)).or_default()
    }
}

impl SharedLine {
    /// A line that one executor has used so far, which wrote `written` (last by `op`).
    pub(super) fn new(owner: u32, written: Bytes, op: Op) -> Self {
        let writer = Writer { executor: owner, op, bytes: written };
        Self {
            copies: vec![Copy::fresh(owner)],
            executors: 1,
            writers: if written == 0 { Vec::new() } else { vec![writer] },
            ..Self::default()
        }
    }

    /// Whether the executor of this access has just missed here, so that its processor fetches the
    /// neighbours ahead.
    pub(super) fn fetches_ahead(&self, access: &LineAccess) -> bool {
        self.missed.is_some_and(|(executor, turn)| {
            executor == access.executor && access.turn - turn <= AHEAD_TURNS
        })
    }

    /// Whether these accesses change nothing but the operation of the last write: the executor has
    /// the line and all its news, and the others know already that what it writes is not theirs any
    /// more.
    pub(super) fn knows(&self, executor: u32, bytes: Bytes, write: bool) -> bool {
        self.copies.first().is_some_and(|copy| {
            copy.executor == executor
                && copy.valid
                && (copy.stale | copy.unread) & bytes == 0
                && (!write || bytes & !self.own == 0)
        })
    }

    /// Takes an access; calls `site` if the access misses. `ended` says of each executor whether it
    /// accesses nothing any more. Returns whether the executor may learn something when it reads
    /// the line again.
    pub(super) fn access(
        &mut self,
        access: LineAccess,
        ended: &[bool],
        effects: &mut Effects,
        site: impl FnOnce() -> SiteId,
    ) -> bool {
        if self.knows(access.executor, access.bytes, access.write) {
            let mut writers = self.writers.iter_mut().filter(|_| access.write);
            if let Some(writer) = writers.find(|writer| writer.executor == access.executor) {
                writer.op = access.op;
            }
            return (self.copies[0].stale | self.copies[0].unread) != 0;
        }
        let first = self.copies.first();
        if first.is_none_or(|copy| copy.executor != access.executor) {
            self.own = 0;
        }
        let mut own = self.copies.iter();
        let at = own.position(|copy| copy.executor == access.executor).unwrap_or_else(|| {
            self.forget(ended, effects);
            let others = self.writers.iter().fold(0, |all, writer| all | writer.bytes);
            self.copies.push(Copy { unread: others, ..Copy::fresh(access.executor) });
            self.executors += 1;
            effects.cold += 1;
            self.copies.len() - 1
        });
        // The executors that took turns last are the first ones. Otherwise the order of the copies
        // means nothing.
        self.copies.swap(1.min(at), at);
        self.copies.swap(0, 1.min(at));
        let executors = self.executors;
        let copy = &mut self.copies[0];
        if !copy.valid {
            effects.missed = access.turn - copy.taken_at > executors;
            effects.contested += u64::from(!effects.missed);
            self.missed = Some((access.executor, access.turn));
            (copy.valid, copy.pending, copy.missed, copy.site) = (true, true, access.op, site());
        }
        if access.bytes & copy.stale != 0 {
            let news = access.bytes & copy.stale;
            copy.stale = 0;
            if std::mem::take(&mut copy.pending) {
                let writer = self.writers.iter().find(|writer| writer.bytes & news != 0);
                let writer = writer.map_or(copy.taken_by, |writer| writer.op);
                effects.of(copy, writer).true_misses += 1;
            }
        }
        if access.write {
            copy.unread &= !access.bytes;
            copy.stale &= !access.bytes;
            self.write(access, effects);
        } else {
            let new = copy.unread & access.bytes;
            copy.unread &= !access.bytes;
            for writer in self.writers.iter().filter(|writer| writer.bytes & new != 0) {
                let pair = (writer.executor, access.executor);
                let bytes = (writer.bytes & new).count_ones();
                *effects.communicated.entry(pair).or_default() += u64::from(bytes);
            }
        }
        (self.copies[0].stale | self.copies[0].unread) != 0
    }

    /// Forgets the copies of executors that have ended, each time that there are twice as many.
    fn forget(&mut self, ended: &[bool], effects: &mut Effects) {
        if self.copies.len() < 4 || !self.copies.len().is_power_of_two() {
            return;
        }
        let left = &mut self.left;
        self.copies.retain_mut(|copy| {
            let stays = ended.get(copy.executor as usize) != Some(&true);
            if !stays {
                *left |= copy.valid;
                copy.lose(effects);
            }
            stays
        });
    }

    /// A write by the executor of the first copy.
    fn write(&mut self, access: LineAccess, effects: &mut Effects) {
        self.own |= access.bytes;
        let mut took = std::mem::take(&mut self.left);
        for copy in self.copies.iter_mut().skip(1) {
            copy.stale |= access.bytes;
            copy.unread |= access.bytes;
            if std::mem::take(&mut copy.valid) {
                took = true;
                copy.lose(effects);
                (copy.taken_by, copy.taken_at) = (access.op, access.turn);
            }
        }
        effects.taken += u64::from(took);
        self.writers.iter_mut().for_each(|writer| writer.bytes &= !access.bytes);
        self.writers.retain(|writer| writer.bytes != 0 || writer.executor == access.executor);
        match self.writers.iter_mut().find(|writer| writer.executor == access.executor) {
            Some(writer) => (writer.bytes, writer.op) = (writer.bytes | access.bytes, access.op),
            None => self.writers.push(Writer {
                executor: access.executor,
                op: access.op,
                bytes: access.bytes,
            }),
        }
    }

    /// Decides the misses that are still open, at the end of the run.
    pub(super) fn finish(&mut self, effects: &mut Effects) {
        self.copies.iter_mut().for_each(|copy| copy.lose(effects));
    }
}

impl Copy {
    fn fresh(executor: u32) -> Self {
        Self { executor, valid: true, site: NOWHERE, ..Self::default() }
    }

    fn lose(&mut self, effects: &mut Effects) {
        if std::mem::take(&mut self.pending) {
            effects.of(self, self.taken_by).false_misses += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Executors that follow one another use a line, two at a time.
    fn used(forgets: bool) -> (SharedLine, Effects, u64) {
        let mut line = SharedLine::new(0, 0xff, 1);
        let (mut effects, mut missed) = (Effects::default(), 0);
        let mut ended = vec![false; 64];
        let mut x = 1u64;
        for turn in 0..4000u32 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (first, random) = (turn / 64, x >> 40);
            let access = LineAccess {
                executor: first + u32::from(x >> 63 == 1),
                bytes: 0xf << (random % 60),
                write: random % 7 == 0,
                op: u32::from(random % 5 == 0),
                turn: turn.into(),
            };
            line.access(access, &ended, &mut effects, || 0);
            missed += u64::from(std::mem::take(&mut effects.missed));
            if let Some(over) = first.checked_sub(1) {
                ended[over as usize] = forgets;
            }
        }
        line.finish(&mut effects);
        (line, effects, missed)
    }

    #[test]
    fn executors_that_have_ended_are_forgotten_and_change_nothing() {
        let [(kept, all, missed), (few, same, too)] = [false, true].map(used);
        assert_eq!((all, missed), (same, too));
        assert_eq!(kept.executors, few.executors);
        assert_eq!(kept.copies.len() as u64, kept.executors);
        assert!(few.copies.len() <= 4, "{}", few.copies.len());
    }
}
