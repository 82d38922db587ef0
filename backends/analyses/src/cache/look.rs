//! A look-up of a line, what it finds, and who counts that.

use taskgraph::OpId;

use super::sample::Sample;

/// The lines that are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    /// A line has `1 << shift` bytes.
    pub(super) shift: u32,
    /// Other lines are passed over.
    pub(super) sample: Sample,
}

/// A look-up of a line.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The first byte that is accessed in the line.
    pub addr: u64,
    /// This and the look-ups around it are repeated so many times in a row.
    pub times: u64,
    /// The number of the line, once it has one.
    pub(super) id: u32,
    /// The operation that accesses it.
    pub op: OpId,
    /// Whose access it is.
    pub who: u32,
}

/// What a look-up found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookedUp {
    /// Index of the smallest fully associative cache that had the line, or their number if none had
    /// it, or one more if the line is new; 0 if there are none.
    pub full: usize,
    /// Index of the first number of sets whose cache had it; at least their number when none had.
    pub sets: usize,
}

/// Counts look-ups by what else is known of them. Hits come before the look-ups around them.
pub trait Tally {
    /// Look-ups for an operation that hit in every cache and change nothing.
    fn hit(&mut self, _op: OpId, _times: u64) {}
    /// A look-up and what it found, in the order of look-ups.
    fn found(&mut self, _look: &Look, _found: LookedUp) {}
}

impl Tally for () {}
