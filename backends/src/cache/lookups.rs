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

use taskgraph::{Access, AffineRun, Again, NestRuns, Piece};

use super::sample::{FEW, Sample};
use crate::analysis::{Moving, Strides, Taken};

/// The lines that are looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// A line has `1 << shift` bytes.
    pub(crate) shift: u32,
    /// Other lines are passed over.
    pub(crate) sample: Sample,
}

/// Takes look-ups.
pub(crate) trait LineSink {
    /// After look-ups of so many lines that follow each other, sampled or not, no cache has any other line.
    fn most(&self) -> u64;
    /// Counts look-ups for `access` of lines that no cache has, each `times` times. As many lines as
    /// [`LineSink::most`] says are looked up for it before them, and as many after them.
    fn pass(&mut self, lines: Range<u64>, access: &Access, times: u64);
    /// `line` is looked up for `access`. This and the look-ups around it are repeated `times` times in a row.
    fn look_up(&mut self, line: u64, access: &Access, times: u64);
    /// Whether the latest `lines` different lines are in every cache, whichever they are.
    fn holds(&self, lines: usize) -> bool;
    /// Counts look-ups for `access` of lines that every cache holds and whose order of last use does not change. The
    /// first line of the access is not among so many of them as `beyond`.
    fn hit(&mut self, access: &Access, times: u64, beyond: u64);
}

/// Reads tasks; it keeps its memory from one task to the next.
#[derive(Debug)]
pub(crate) struct LookUps {
    lines: Lines,
    runs: Strides,
    /// The accesses of a stretch of a run to lines of the sample.
    sampled: Vec<Moving>,
    /// How often the last run was repeated since it was replayed.
    repeated: u64,
}

impl LookUps {
    pub(crate) fn new(lines: Lines) -> Self {
        Self {
            lines,
            runs: Strides::default(),
            sampled: Vec::new(),
            repeated: 0,
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
                let lines = self.lines;
                let accesses = accesses.iter();
                accesses.for_each(|access| touch(&access, lines, 1, sink));
            }
            Piece::Run(run) => self.run(run, 1, sink),
            Piece::Nest(nest) => Turns(self, sink).nest(nest, false),
            _ => {}
        }
    }

    /// A run that counts so many times.
    fn run(&mut self, run: &AffineRun<'_>, times: u64, sink: &mut impl LineSink) {
        if run.iterations() == 1 {
            self.flush(sink);
            self.runs.forget();
            return run.for_each_access(|access| touch(&access, self.lines, times, sink));
        }
        match self.runs.read(run) {
            Taken::Again => self.repeated += times,
            Taken::New => {
                self.flush(sink);
                self.runs.enter();
                self.replay(times, sink);
            }
            Taken::Irregular => {
                self.flush(sink);
                self.runs.forget();
                let lines = self.lines;
                run.for_each_access(|access| touch(&access, lines, times, sink));
            }
        }
    }

    /// Counts the repetitions of the last run. Call it before anything else changes, and at the end.
    pub(crate) fn flush(&mut self, sink: &mut impl LineSink) {
        let repeated = std::mem::take(&mut self.repeated);
        self.replay(repeated, sink);
    }

    /// Replays the last run, which counts so many times.
    fn replay(&mut self, times: u64, sink: &mut impl LineSink) {
        if times == 0 {
            return;
        }
        let Self { lines, sampled, .. } = self;
        let Lines { shift, sample } = *lines;
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
                touch(&moving.access, *lines, times, sink);
            }
            if same == 1 || moving.is_empty() {
                return;
            }
            let again = times.saturating_mul(same - 1);
            let of = |moving: &Moving| sample.lines_of(&moving.access, shift);
            let holds = sink.holds(moving.iter().map(of).fold(0, usize::saturating_add));
            for moving in moving {
                if !holds {
                    touch(&moving.access, *lines, again, sink);
                    continue;
                }
                let count = of(moving) as u64;
                let first = u64::from(sample.holds(moving.access.addr >> shift));
                let beyond = count.saturating_sub(first);
                let hits = again.saturating_mul(count);
                sink.hit(&moving.access, hits, again.saturating_mul(beyond));
            }
        });
    }
}

/// Goes through nests. Of iterations that look up the same lines, the second and all further ones find the same; what an
/// analysis remembers of its last misses is the same from the third on.
struct Turns<'l, 's, S>(&'l mut LookUps, &'s mut S);

impl<S: LineSink> NestRuns for Turns<'_, '_, S> {
    fn run(&mut self, run: &AffineRun<'_>, times: u64) {
        self.0.run(run, times, self.1);
    }

    fn again(&mut self, _: usize, done: u64, _: u64) -> Again {
        match done {
            0 | 1 => Again::Next,
            _ => Again::Rest,
        }
    }
}

/// Looks up the lines of one access. An access of no bytes looks up no lines.
#[inline]
pub(super) fn touch(access: &Access, lines: Lines, times: u64, sink: &mut impl LineSink) {
    if access.size == 0 {
        return;
    }
    let first = access.addr >> lines.shift;
    let last = access.addr.saturating_add(access.size - 1) >> lines.shift;
    if last - first >= FEW {
        return touch_many(first..last + 1, access, lines.sample, times, sink);
    }
    look_up(first..last + 1, access, lines.sample, times, sink);
}

#[inline]
fn look_up(
    lines: Range<u64>,
    access: &Access,
    sample: Sample,
    times: u64,
    sink: &mut impl LineSink,
) {
    for line in lines {
        if sample.holds(line) {
            sink.look_up(line, access, times);
        }
    }
}

#[cold]
fn touch_many(
    lines: Range<u64>,
    access: &Access,
    sample: Sample,
    times: u64,
    sink: &mut impl LineSink,
) {
    let most = sink.most();
    let passed = if (lines.end - lines.start) / 2 > most {
        lines.start + most..lines.end - most
    } else {
        lines.end..lines.end
    };
    look_up(lines.start..passed.start, access, sample, times, sink);
    if !passed.is_empty() {
        sink.pass(passed.clone(), access, times);
    }
    look_up(passed.end..lines.end, access, sample, times, sink);
}
