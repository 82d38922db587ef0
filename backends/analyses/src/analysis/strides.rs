//! The accesses of affine runs line by line, and runs that are repeated.
//!
//! While no access of a run reaches another line, every iteration touches the same lines in the
//! same order, so most of them can be counted instead of replayed. A run that is the same as the
//! one before is told, too: what an analysis remembers has often settled after the first.

use std::ops::Range;

use taskgraph::{Access, AffineRun, Again, MemOp, NestRuns, OpKind, Piece, StridedAccess};

/// The most bytes of an access, 256 GiB. The length of a copy is a number that the program
/// computed, which may be wrong, or that a damaged graph claims: more bytes than these were never
/// copied at once.
const LONGEST: u64 = 1 << 38;

/// The accesses of a run as it goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving {
    /// The access in the current iteration.
    pub(crate) access: Access,
    /// By how much its address changes with each iteration.
    pub(crate) stride: i64,
    /// Iterations until it touches other lines, this one included.
    left: u64,
}

/// Takes what pieces access, one by one or, where a loop accesses memory at regular distances, run
/// by run.
pub(crate) trait Accesses: Sized {
    /// The last run.
    fn strides(&mut self) -> &mut Strides;

    /// An access, which counts so many times.
    fn access(&mut self, access: &Access, times: u64);

    /// A run, which is the last one now and counts so many times; `again` if the one before was the
    /// same, and no other access came in between.
    fn run(&mut self, run: &AffineRun<'_>, times: u64, again: bool);

    /// What comes now is not the last run again.
    fn leave(&mut self) {}

    /// Whether runs may come as such now.
    fn takes_runs(&self) -> bool {
        true
    }

    /// How a loop of a nest goes on whose next iteration does what those before it did
    /// ([`NestRuns::again`]).
    fn goes_on(&mut self, _loop: usize, _done: u64, _left: u64) -> Again {
        Again::Next
    }

    /// Takes a piece.
    #[inline]
    fn piece(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Blocks(blocks) => {
                let accesses = blocks.accesses();
                if !accesses.addresses().is_empty() {
                    self.leave();
                    self.strides().forget();
                }
                accesses.iter().for_each(|access| self.access(&access, 1));
            }
            Piece::Run(run) => Turns(self).run(run, 1),
            Piece::Nest(nest) => Turns(self).nest(nest, false),
            _ => {}
        }
    }
}

/// Goes through a nest.
struct Turns<'a, A>(&'a mut A);

impl<A: Accesses> NestRuns for Turns<'_, A> {
    fn run(&mut self, run: &AffineRun<'_>, times: u64) {
        let regular = run.iterations() > 1 && self.0.takes_runs();
        let again = match regular {
            true => self.0.strides().read(run),
            false => None,
        };
        if again == Some(true) {
            return self.0.run(run, times, true);
        }
        self.0.leave();
        if again.is_none() {
            self.0.strides().forget();
            return run.for_each_access(|access| self.0.access(&access, times));
        }
        self.0.strides().enter(run);
        self.0.run(run, times, false);
    }

    fn again(&mut self, l: usize, done: u64, left: u64) -> Again {
        self.0.goes_on(l, done, left)
    }
}

/// The last run and its accesses. It keeps its memory from one run to the next.
#[derive(Debug, Default)]
pub(crate) struct Strides {
    accesses: Vec<StridedAccess>,
    iterations: u64,
    /// The accesses of the run that is read.
    next: Vec<StridedAccess>,
    moving: Vec<Moving>,
}

impl Strides {
    /// Reads the next run, and returns whether it is the last one again; `None` if its accesses
    /// must be taken one by one.
    fn read(&mut self, run: &AffineRun<'_>) -> Option<bool> {
        self.next.clear();
        let next = &mut self.next;
        let all = run.for_each_strided(|strided| next.push(strided));
        all.then(|| self.iterations == run.iterations() && self.accesses == self.next)
    }

    /// Makes the run that was read the last one.
    fn enter(&mut self, run: &AffineRun<'_>) {
        std::mem::swap(&mut self.accesses, &mut self.next);
        self.iterations = run.iterations();
    }

    /// Notes that other accesses come after the last run.
    pub(crate) fn forget(&mut self) {
        self.iterations = 0;
        self.accesses.clear();
    }

    /// The number of accesses of the last run that are not of variable size.
    pub(crate) fn accesses(&self) -> u64 {
        self.iterations.saturating_mul(self.accesses.len() as u64)
    }

    /// Goes through the last run in stretches of iterations in which no access reaches another line
    /// of `1 << shift` bytes: calls `each` with the accesses of the first iteration of a stretch,
    /// and the number of its iterations.
    #[inline]
    pub(crate) fn by_line(&mut self, shift: u32, mut each: impl FnMut(&[Moving], u64)) {
        self.moving.clear();
        let new = |strided: &StridedAccess| Moving::new(*strided, shift);
        self.moving.extend(self.accesses.iter().map(new));
        let mut left = self.iterations;
        while left > 0 {
            let same = self.moving.iter().map(|moving| moving.left).min();
            let same = same.unwrap_or(left).min(left);
            each(&self.moving, same);
            for moving in &mut self.moving {
                moving.advance(same, shift);
            }
            left -= same;
        }
    }
}

impl Moving {
    fn new(strided: StridedAccess, shift: u32) -> Self {
        let mut this =
            Self { access: strided.access, stride: strided.stride.cast_signed(), left: 0 };
        this.count(shift);
        this
    }

    /// The access so many iterations later.
    #[inline]
    pub(crate) fn later(&self, iterations: u64) -> Access {
        let moved = self.stride.cast_unsigned().wrapping_mul(iterations);
        Access { addr: self.access.addr.wrapping_add(moved), ..self.access }
    }

    /// Advances by some iterations, at most `left`.
    #[inline]
    fn advance(&mut self, iterations: u64, shift: u32) {
        self.access = self.later(iterations);
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

/// Reads and writes of every execution of an operation, where they are always as many.
#[must_use]
pub fn always_accesses(op: &MemOp) -> Option<(u64, u64)> {
    match op.kind {
        OpKind::Load => Some((1, 0)),
        OpKind::Store => Some((0, 1)),
        OpKind::Rmw => Some((1, 1)),
        _ => None,
    }
}

/// The lines that `size` bytes at an address touch; if they are too many, the first one.
#[inline]
pub(crate) fn lines(address: u64, size: u64, shift: u32) -> Range<u64> {
    let first = address >> shift;
    match size {
        0 => first..first,
        1..=LONGEST => first..(address.saturating_add(size - 1) >> shift) + 1,
        _ => first..first + 1,
    }
}

/// How many lines an access touches.
#[inline]
pub(crate) fn lines_of(access: &Access, shift: u32) -> usize {
    let Range { start, end } = lines(access.addr, access.size, shift);
    usize::try_from(end - start).unwrap_or(usize::MAX)
}
