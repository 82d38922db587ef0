//! The lines that a task looks up, in program order, where iterations of affine runs are counted instead of replayed.
//!
//! While no access of a run reaches another line, every iteration looks up the same lines in the same order. Least
//! recently used replacement is in the same state after the first such iteration as after any further one, so all
//! further ones find what the second one finds. Two iterations are replayed, and the second counts for the rest. If
//! every cache has room for the lines of one iteration, even the second is not replayed, because all of it hits. The
//! same holds for a whole run that is repeated. This is exact for everything whose state depends only on the order of
//! last uses.
//!
//! The length of a copy is a number that the program computed, which may be wrong, or that a damaged graph claims. Of
//! an access that reaches more lines than every cache has room for, those in the middle are counted as misses, which
//! they are.

use std::ops::Range;

use taskgraph::{Access, AffineRun, Piece};

use crate::analysis::{Moving, Strides, Taken, lines_of};

/// Fewer lines of one access are looked up one by one without asking for the size of the caches.
const FEW: u64 = 64;

/// Takes look-ups.
pub(crate) trait LineSink {
    /// After look-ups of so many lines that follow each other no cache has any other line.
    fn most(&self) -> u64;
    /// Counts look-ups for `access` of lines that no cache has, each `times` times. As many lines as
    /// [`LineSink::most`] says are looked up for it before them, and as many after them.
    fn pass(&mut self, lines: Range<u64>, access: &Access, times: u64);
    /// `line` is looked up for `access`. This and the look-ups around it are repeated `times` times in a row.
    fn look_up(&mut self, line: u64, access: &Access, times: u64);
    /// Whether the latest `lines` different lines are in every cache, whichever they are.
    fn holds(&self, _lines: usize) -> bool {
        false
    }
    /// Counts look-ups for `access` of lines that every cache holds and whose order of last use does not change.
    fn hit(&mut self, _access: &Access, _times: u64) {}
}

/// Reads tasks; it keeps its memory from one task to the next.
#[derive(Debug, Default)]
pub(crate) struct LookUps {
    line_shift: u32,
    runs: Strides,
    /// How often the last run was repeated since it was replayed.
    repeated: u64,
}

impl LookUps {
    /// For lines of `1 << line_shift` bytes.
    pub(crate) fn new(line_shift: u32) -> Self {
        Self {
            line_shift,
            ..Self::default()
        }
    }

    /// Feeds a piece of a task. Repetitions of a run are counted by [`LookUps::flush`].
    #[inline]
    pub(crate) fn piece(&mut self, piece: &Piece<'_>, sink: &mut impl LineSink) {
        match piece {
            Piece::Blocks(blocks) => {
                let accesses = blocks.accesses();
                if !accesses.addresses().is_empty() {
                    self.flush(sink);
                    self.runs.forget();
                }
                let shift = self.line_shift;
                let accesses = accesses.iter();
                accesses.for_each(|access| touch(&access, shift, 1, sink));
            }
            Piece::Run(run) => self.run(run, sink),
            _ => {}
        }
    }

    fn run(&mut self, run: &AffineRun<'_>, sink: &mut impl LineSink) {
        match self.runs.read(run) {
            Taken::Again => self.repeated += 1,
            Taken::New => {
                self.flush(sink);
                self.runs.enter();
                replay(&mut self.runs, self.line_shift, 1, sink);
            }
            Taken::Irregular => {
                self.flush(sink);
                self.runs.forget();
                let shift = self.line_shift;
                run.for_each_block(|block| {
                    block.for_each_access(|access| touch(&access, shift, 1, sink));
                });
            }
        }
    }

    /// Counts the repetitions of the last run. Call it before anything else changes, and at the end.
    pub(crate) fn flush(&mut self, sink: &mut impl LineSink) {
        let repeated = std::mem::take(&mut self.repeated);
        replay(&mut self.runs, self.line_shift, repeated, sink);
    }
}

/// Replays the last run, which counts so many times.
fn replay(runs: &mut Strides, shift: u32, times: u64, sink: &mut impl LineSink) {
    if times == 0 {
        return;
    }
    runs.by_line(shift, |moving, same| {
        let iteration = |times, sink: &mut _| {
            for moving in moving {
                touch(&moving.access, shift, times, sink);
            }
        };
        iteration(times, sink);
        if same == 1 {
            return;
        }
        let again = times.saturating_mul(same - 1);
        let lines = |moving: &Moving| lines_of(&moving.access, shift);
        if !sink.holds(moving.iter().map(lines).fold(0, usize::saturating_add)) {
            return iteration(again, sink);
        }
        for moving in moving {
            sink.hit(&moving.access, again.saturating_mul(lines(moving) as u64));
        }
    });
}

/// Looks up the lines of one access. An access of no bytes looks up no lines.
#[inline]
pub(super) fn touch(access: &Access, shift: u32, times: u64, sink: &mut impl LineSink) {
    if access.size == 0 {
        return;
    }
    let first = access.addr >> shift;
    let last = access.addr.saturating_add(access.size - 1) >> shift;
    if last - first >= FEW {
        return touch_many(first..last + 1, access, times, sink);
    }
    for line in first..=last {
        sink.look_up(line, access, times);
    }
}

#[cold]
fn touch_many(lines: Range<u64>, access: &Access, times: u64, sink: &mut impl LineSink) {
    let most = sink.most();
    let passed = if (lines.end - lines.start) / 2 > most {
        lines.start + most..lines.end - most
    } else {
        lines.end..lines.end
    };
    for line in lines.start..passed.start {
        sink.look_up(line, access, times);
    }
    if !passed.is_empty() {
        sink.pass(passed.clone(), access, times);
    }
    for line in passed.end..lines.end {
        sink.look_up(line, access, times);
    }
}
