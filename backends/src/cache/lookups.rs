//! The lines that a task looks up, in program order, where iterations of affine runs are counted instead of replayed.
//!
//! While no access of a run reaches another line, every iteration looks up the same lines in the same order. Least
//! recently used replacement is in the same state after the first such iteration as after any further one, so all
//! further ones find what the second one finds. Two iterations are replayed, and the second counts for the rest. If
//! every cache has room for the lines of one iteration, even the second is not replayed, because all of it hits. This
//! is exact for everything whose state depends only on the order of last uses.
//!
//! The length of a copy is a number that the program computed, which may be wrong, or that a damaged graph claims. Of
//! an access that reaches more lines than every cache has room for, those in the middle are counted as misses, which
//! they are.

use std::ops::Range;

use taskgraph::{Access, AffineRun, Piece, StridedAccess};

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

/// The progress of an access of a run.
#[derive(Clone, Copy, Debug)]
struct Moving {
    access: Access,
    stride: i64,
    /// Iterations until it touches other lines, this one included.
    left: u64,
}

/// Reads tasks; it keeps its memory from one task to the next.
#[derive(Debug, Default)]
pub(crate) struct LookUps {
    line_shift: u32,
    moving: Vec<Moving>,
}

impl LookUps {
    /// For lines of `1 << line_shift` bytes.
    pub(crate) fn new(line_shift: u32) -> Self {
        Self {
            line_shift,
            moving: Vec::new(),
        }
    }

    /// Feeds a piece of a task.
    #[inline]
    pub(crate) fn piece(&mut self, piece: &Piece<'_>, sink: &mut impl LineSink) {
        match piece {
            Piece::Blocks(blocks) => {
                let shift = self.line_shift;
                let accesses = blocks.accesses().iter();
                accesses.for_each(|access| touch(&access, shift, 1, sink));
            }
            Piece::Run(run) => self.run(run, sink),
            _ => {}
        }
    }

    fn run(&mut self, run: &AffineRun<'_>, sink: &mut impl LineSink) {
        let shift = self.line_shift;
        self.moving.clear();
        let moving = &mut self.moving;
        if !run.for_each_strided(|strided| moving.push(Moving::new(strided, shift))) {
            return run.for_each_block(|block| {
                block.for_each_access(|access| touch(&access, shift, 1, sink));
            });
        }
        let mut left = run.iterations();
        while left > 0 {
            let same = self.moving.iter().map(|moving| moving.left).min();
            let same = same.unwrap_or(left).min(left);
            self.iteration(1, sink);
            if same > 1 {
                self.again(same - 1, sink);
            }
            for moving in &mut self.moving {
                moving.advance(same, shift);
            }
            left -= same;
        }
    }

    /// Repeats the last iteration so many times.
    fn again(&self, times: u64, sink: &mut impl LineSink) {
        let lines = |moving: &Moving| lines_of(&moving.access, self.line_shift);
        if !sink.holds(self.moving.iter().map(lines).fold(0, usize::saturating_add)) {
            return self.iteration(times, sink);
        }
        for moving in &self.moving {
            sink.hit(&moving.access, times * lines(moving) as u64);
        }
    }

    #[inline]
    fn iteration(&self, times: u64, sink: &mut impl LineSink) {
        for moving in &self.moving {
            touch(&moving.access, self.line_shift, times, sink);
        }
    }
}

impl Moving {
    fn new(strided: StridedAccess, shift: u32) -> Self {
        let mut this = Self {
            access: strided.access,
            stride: strided.stride.cast_signed(),
            left: 0,
        };
        this.count(shift);
        this
    }

    /// Advances by some iterations, at most `left`.
    #[inline]
    fn advance(&mut self, iterations: u64, shift: u32) {
        let moved = self.stride.cast_unsigned().wrapping_mul(iterations);
        self.access.addr = self.access.addr.wrapping_add(moved);
        self.left -= iterations;
        if self.left == 0 {
            self.count(shift);
        }
    }

    fn count(&mut self, shift: u32) {
        let step = self.stride.unsigned_abs();
        if step == 0 || self.access.size == 0 {
            self.left = u64::MAX;
        } else if step >> shift > 0 {
            self.left = 1;
        } else {
            // The iterations until the first or the last byte leaves its line.
            let within = (1u64 << shift) - 1;
            let first = self.access.addr & within;
            let last = self.access.addr.wrapping_add(self.access.size - 1) & within;
            self.left = if self.stride > 0 {
                (within - first.max(last)) / step + 1
            } else {
                first.min(last) / step + 1
            };
        }
    }
}

/// How many lines an access looks up; if they are more than fit into the address space, that number.
#[inline]
fn lines_of(access: &Access, shift: u32) -> usize {
    if access.size == 0 {
        return 0;
    }
    let last = access.addr.saturating_add(access.size - 1) >> shift;
    usize::try_from(last - (access.addr >> shift) + 1).unwrap_or(usize::MAX)
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
