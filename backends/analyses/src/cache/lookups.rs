//! The lines that a task looks up, in program order, where iterations of affine runs are counted
//! instead of replayed.
//!
//! While no access of a run reaches another line, every iteration looks up the same lines in the
//! same order. Least recently used replacement is in the same state after the first such iteration
//! as after any further one, so all further ones find what the second one finds. Two iterations are
//! replayed, and the second counts for the rest. If every cache has room for the lines of one
//! iteration, even the second is not replayed, because all of it hits. The same holds for a whole
//! run that is repeated. This is exact for everything whose state depends only on the order of last
//! uses.

use taskgraph::{Access, AffineRun, Again, OpId, Piece};

use super::look::{Lines, Look, Tally};
use super::model::CacheModel;
use super::sample::Sample;
use crate::analysis::{Accesses, Moving, Strides, lines};

/// Reads tasks and looks their lines up; it keeps its memory from one task to the next.
#[derive(Debug)]
pub struct LookUps {
    pub(crate) model: CacheModel,
    runs: Strides,
    /// The accesses of a stretch of a run to lines of the sample.
    sampled: Vec<Moving>,
    /// How often the last run was repeated since it was replayed, and by whom.
    repeated: u64,
    who: u32,
}

impl LookUps {
    /// Looks up in these caches.
    #[must_use]
    pub fn new(model: CacheModel) -> Self {
        Self { model, runs: Strides::default(), sampled: Vec::new(), repeated: 0, who: 0 }
    }

    /// Feeds a piece of a task of `who`. What it looks up is counted by [`LookUps::flush`] at the
    /// latest.
    #[inline]
    pub fn piece(&mut self, piece: &Piece<'_>, who: u32, tally: &mut impl Tally) {
        if self.who != who {
            self.repeat(tally);
            self.who = who;
        }
        Fed(self, tally).piece(piece);
    }

    /// Counts everything so far. Call it before anything else changes that the tally asks for, and
    /// at the end.
    pub fn flush(&mut self, tally: &mut impl Tally) {
        self.repeat(tally);
        self.model.settle(tally);
    }

    /// Looks up the repetitions of the last run.
    fn repeat(&mut self, tally: &mut impl Tally) {
        let repeated = std::mem::take(&mut self.repeated);
        if repeated > 0 {
            self.replay(repeated, tally);
        }
    }

    /// Replays the last run, which counts so many times.
    fn replay(&mut self, times: u64, tally: &mut impl Tally) {
        let Self { model, sampled, who, .. } = self;
        let Lines { shift, sample } = model.lines();
        self.runs.by_line(shift, |all, same| {
            let held = |moving: &&Moving| sample.lines_of(&moving.access, shift) > 0;
            let moving = if sample == Sample::ALL {
                all
            } else {
                sampled.clear();
                sampled.extend(all.iter().filter(held).copied());
                &sampled[..]
            };
            for moving in moving {
                model.touch(&moving.access, *who, times, tally);
            }
            if same == 1 || moving.is_empty() {
                return;
            }
            let again = times.saturating_mul(same - 1);
            let of = |moving: &Moving| sample.lines_of(&moving.access, shift);
            let holds = model.holds(moving.iter().map(of).fold(0, usize::saturating_add));
            for moving in moving {
                if !holds {
                    model.touch(&moving.access, *who, again, tally);
                    continue;
                }
                let count = of(moving) as u64;
                let first = u64::from(sample.holds(moving.access.addr >> shift));
                let beyond = count.saturating_sub(first);
                let hits = again.saturating_mul(count);
                model.hit(hits, again.saturating_mul(beyond));
                tally.hit(moving.access.op, hits);
            }
        });
    }
}

/// What look-ups find is counted here.
struct Fed<'l, 't, T>(&'l mut LookUps, &'t mut T);

impl<T: Tally> Accesses for Fed<'_, '_, T> {
    fn strides(&mut self) -> &mut Strides {
        &mut self.0.runs
    }

    #[inline]
    fn access(&mut self, access: &Access, times: u64) {
        self.0.model.touch(access, self.0.who, times, self.1);
    }

    fn run(&mut self, _: &AffineRun<'_>, times: u64, again: bool) {
        match again {
            true => self.0.repeated += times,
            false => self.0.replay(times, self.1),
        }
    }

    fn leave(&mut self) {
        self.0.repeat(self.1);
    }

    /// Of iterations that look up the same lines, the second and all further ones find the same;
    /// what an analysis remembers of its last misses is the same from the third on.
    fn goes_on(&mut self, _: usize, done: u64, _: u64) -> Again {
        match done {
            0 | 1 => Again::Next,
            _ => Again::Rest,
        }
    }
}

impl CacheModel {
    /// One access of `size` bytes at `address`: it looks up every line that it touches once, and
    /// none for 0 bytes. The caches have seen it after [`CacheModel::end`].
    pub fn access(&mut self, address: u64, size: u64) {
        let access = Access { addr: address, size, write: false, op: OpId::default() };
        self.touch(&access, 0, 1, &mut ());
    }

    /// The caches see all accesses so far.
    pub fn end(&mut self) {
        self.settle(&mut ());
    }

    /// Looks up the lines of one access so many times. An access of no bytes looks up no lines.
    #[inline]
    pub(super) fn touch(&mut self, access: &Access, who: u32, times: u64, tally: &mut impl Tally) {
        let Lines { shift, sample } = self.lines();
        let lines = lines(access.addr, access.size, shift);
        for line in lines.filter(|line| sample.holds(*line)) {
            let addr = (line << shift).max(access.addr);
            let look = Look { addr, times, id: 0, op: access.op, who };
            self.look_up(look, addr != access.addr, tally);
        }
    }
}
