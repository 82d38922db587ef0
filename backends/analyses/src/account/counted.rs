//! What a replay counts at queues, and the jobs that it deals out.

use std::ops::Range;

use taskgraph::TaskId;

/// The makers may have made one thing in so many more or less than what was taken, beside one for
/// each context.
const UNEVEN: u64 = 64;

/// What is made and taken with a condition.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) condition: u64,
    pub(super) made: u64,
    pub(super) taken: u64,
    /// The least by which what was made was more than what was taken.
    pub(super) lead: i64,
    /// Whether it is the room of a queue: something is taken before any is made, and whoever takes
    /// makes something else.
    pub(super) room: bool,
    /// The strands before which something was made, in the recorded order, with how much was made
    /// then.
    pub(super) makers: Vec<(u64, u32)>,
    /// The strands before which something is taken, in the recorded order.
    pub(super) takers: Vec<u32>,
    /// The strands of the jobs that any context may do which takes from the queue, in that order.
    pub(super) jobs: Vec<Range<u32>>,
}

/// What happens to a queue before a strand that takes or gives back the queue's lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) queue: u32,
    pub(super) number: u32,
    /// The wait for what is taken; no wait if something is made.
    pub(super) wait: u32,
}

/// Where a context goes on when no job of a queue is left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    pub(super) queue: u32,
    pub(super) last: u32,
}

/// What a context did of a loop whose pieces any of its team may do.
#[derive(Clone, Debug)]
pub(super) struct Share {
    /// Who made the team, and which of its loops it is.
    pub(super) team: TaskId,
    pub(super) number: u32,
    pub(super) at_ns: u64,
    /// How long the context had no processor meanwhile, ns.
    pub(super) lacked_ns: u64,
    pub(super) strands: Range<u32>,
}

impl Queue {
    /// The strand before which there is so much more than what had to be there at the beginning.
    pub(super) fn maker(&self, taken: i64) -> Option<u32> {
        let wanted = taken + self.lead;
        let before = |&(made, _): &(u64, u32)| signed(made) < wanted;
        let at = self.makers.partition_point(before);
        let maker = self.makers.get(at).or(self.makers.last());
        maker.map(|&(_, strand)| strand)
    }

    /// Whether about as much was made as taken.
    pub(super) fn is_even(&self, contexts: usize) -> bool {
        let differs = self.made.abs_diff(self.taken);
        self.taken == 0 || differs <= contexts as u64 + self.made / UNEVEN
    }
}

/// A count as a difference.
pub(super) fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_was_made_before_and_what_is_made_has_room() {
        // One is made before each take: the third take needs the third one made.
        let mut jobs = Queue { makers: vec![(1, 10), (3, 11), (4, 12)], ..Queue::default() };
        assert_eq!([1, 2, 3, 4].map(|n| jobs.maker(n)), [10, 11, 11, 12].map(Some));
        // There was room for two from the beginning: the fourth needs the second one that others
        // gave back.
        jobs.lead = -2;
        assert_eq!([3, 4].map(|n| jobs.maker(n)), [10, 11].map(Some));
    }
}
