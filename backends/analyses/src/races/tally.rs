//! The races found, with one entry for each pair of static operations.

use rustc_hash::FxHashMap;
use taskgraph::{BlockId, ContextId, TaskId};

use super::record::Kind;

/// Why nothing recorded orders two accesses, and yet they need not race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Doubt {
    /// Nobody announced the context of one of them: code that is not recorded made its thread, and
    /// orders what it does.
    Unannounced,
    /// The context of one of them asked the kernel for work that is done beside the program, and
    /// who learns that it is done comes after that.
    Ring,
}

/// Two operations, and the kind of each access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pair {
    /// The operation visited first.
    pub(super) first: (u32, Kind),
    /// The other operation.
    pub(super) second: (u32, Kind),
    /// Why it is not known whether they race; `None` if they do.
    pub(super) doubt: Option<Doubt>,
}

/// What the memory of a race was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// Nothing was recorded of it: a variable of the program, or the stack of its first thread.
    Unknown,
    /// It is the stack of a context.
    Stack(ContextId),
    /// A call made it, which ends this block.
    Made {
        /// The block that calls.
        by: BlockId,
        /// The first byte and the number of bytes, if it was allocated.
        range: Option<(u64, u64)>,
    },
}

/// Where a pair was first found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Example {
    /// Number of accesses of the run, in all of memory, before it was found.
    pub(super) at: u64,
    /// First common byte.
    pub(super) address: u64,
    /// Task of the first operation.
    pub(super) first: TaskId,
    /// Task of the second.
    pub(super) second: TaskId,
    /// How many tasks of the first task's context come before the second.
    pub(super) known: u32,
    /// What the byte belongs to.
    pub(super) memory: Memory,
}

impl Example {
    /// Whether this one was found before another. One access may make several; the lowest address
    /// is the first then.
    pub(super) fn is_before(&self, other: &Self) -> bool {
        (self.at, self.address) < (other.at, other.address)
    }
}

/// Counts by pair.
#[derive(Debug, Default)]
pub(super) struct Tally {
    number: FxHashMap<Pair, u32>,
    /// Pairs with their first example and how often they were found.
    pub(super) entries: Vec<(Pair, Example, u64)>,
}

impl Tally {
    /// Notes a race; returns the number of its pair.
    pub(super) fn found(&mut self, pair: Pair, example: Example) -> u32 {
        let next = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let number = *self.number.entry(pair).or_insert(next);
        match self.entries.get_mut(number as usize) {
            Some((_, first, _)) if example.is_before(first) => *first = example,
            Some(_) => {}
            None => self.entries.push((pair, example, 0)),
        }
        self.again(number, 1);
        number
    }

    /// Notes that the pair with this number was found so many times more.
    #[inline]
    pub(super) fn again(&mut self, number: u32, times: u64) {
        if let Some(entry) = self.entries.get_mut(number as usize) {
            entry.2 += times;
        }
    }
}
