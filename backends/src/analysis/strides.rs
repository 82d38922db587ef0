//! The accesses of affine runs line by line, and runs that are repeated.
//!
//! While no access of a run reaches another line, every iteration touches the same lines in the same order, so most of
//! them can be counted instead of replayed. A run that is the same as the one before is told, too: what an analysis
//! remembers has often settled after the first.

use taskgraph::{Access, AffineRun, StridedAccess};

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

/// What is known of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Nothing; its accesses must be taken one by one.
    Irregular,
    /// Its accesses are known.
    New,
    /// Its accesses are those of the run before, and none came in between.
    Again,
}

/// The last run and its accesses. It keeps its memory from one run to the next.
#[derive(Debug, Default)]
pub(crate) struct Strides {
    accesses: Vec<StridedAccess>,
    iterations: u64,
    /// The accesses and the iterations of the run that was read.
    next: Vec<StridedAccess>,
    next_iterations: u64,
    moving: Vec<Moving>,
}

impl Strides {
    /// Reads the next run and compares it with the last one, which stays the last until [`Strides::enter`].
    pub(crate) fn read(&mut self, run: &AffineRun<'_>) -> Taken {
        self.next.clear();
        let next = &mut self.next;
        if !run.for_each_strided(|strided| next.push(strided)) {
            return Taken::Irregular;
        }
        self.next_iterations = run.iterations();
        if self.iterations == self.next_iterations && self.accesses == self.next {
            return Taken::Again;
        }
        Taken::New
    }

    /// Makes the run that was read the last one.
    pub(crate) fn enter(&mut self) {
        std::mem::swap(&mut self.accesses, &mut self.next);
        self.iterations = self.next_iterations;
    }

    /// Notes that other accesses come after the last run.
    pub(crate) fn forget(&mut self) {
        self.iterations = 0;
        self.accesses.clear();
    }

    /// The number of accesses of the last run that are not of variable size.
    #[must_use]
    pub(crate) fn accesses(&self) -> u64 {
        self.iterations.saturating_mul(self.accesses.len() as u64)
    }

    /// Goes through the last run in stretches of iterations in which no access reaches another line of `1 << shift`
    /// bytes: calls `each` with the accesses of the first iteration of a stretch, and the number of its iterations.
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
        let mut this = Self {
            access: strided.access,
            stride: strided.stride.cast_signed(),
            left: 0,
        };
        this.count(shift);
        this
    }

    /// The access so many iterations later.
    #[must_use]
    #[inline]
    pub(crate) fn later(&self, iterations: u64) -> Access {
        let moved = self.stride.cast_unsigned().wrapping_mul(iterations);
        Access {
            addr: self.access.addr.wrapping_add(moved),
            ..self.access
        }
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

/// How many lines an access touches; if they are more than fit into the address space, that number.
#[must_use]
#[inline]
pub(crate) fn lines_of(access: &Access, shift: u32) -> usize {
    if access.size == 0 {
        return 0;
    }
    let last = access.addr.saturating_add(access.size - 1) >> shift;
    usize::try_from(last - (access.addr >> shift) + 1).unwrap_or(usize::MAX)
}
