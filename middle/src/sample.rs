//! Which code of a stream is encoded where a graph is to have only a sample of it. Stretches between two positions are in
//! the sample or left out. Events are always encoded, and so is the code right after one that may end a task: what tasks
//! of little code execute is known exactly.

use taskgraph::{AccessesOf, Unrecorded};

/// Segments and blocks after an event that are always encoded.
const AFTER_EVENT: u32 = 256;

/// How far a stream is.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Stretches that began.
    stretches: u32,
    /// Whether the stretch at hand is left out but for the code right after events.
    outside: bool,
    /// Segments and blocks since the last event, in stretches that are left out.
    since: u32,
    /// The segment or block before was left out.
    left_out: bool,
}

/// What to do with a segment or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    No,
    Yes,
    /// Yes, and what came before was left out.
    Anew,
}

impl Sample {
    /// Takes note of a segment or a block.
    #[inline]
    pub(crate) fn code(&mut self) -> Taken {
        if self.outside {
            if self.since >= AFTER_EVENT {
                self.left_out = true;
                return Taken::No;
            }
            self.since += 1;
        }
        match std::mem::take(&mut self.left_out) {
            true => Taken::Anew,
            false => Taken::Yes,
        }
    }

    /// Whether all code is taken until the next position.
    pub(crate) fn takes_all(&self) -> bool {
        !self.outside && !self.left_out
    }

    /// Takes note of an event that may end a task.
    pub(crate) fn event(&mut self) {
        self.since = 0;
    }

    /// Takes note of a position. One stretch in `every` is in the sample; which one is as good as random, because
    /// programs have periods.
    pub(crate) fn position(&mut self, every: u32) {
        self.stretches = self.stretches.wrapping_add(1);
        let mixed = self.stretches.wrapping_mul(0x9e37_79b1);
        self.outside = !(mixed >> 8).is_multiple_of(every.max(1));
    }
}

/// What is missing in a graph with one stretch in so many.
pub(crate) fn left_out(every: u32) -> Option<Unrecorded> {
    let unrecorded = Unrecorded {
        of: AccessesOf::Sample,
        since_ns: None,
    };
    (every > 1).then_some(unrecorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(sample: &mut Sample, times: u32) -> u32 {
        (0..times)
            .map(|_| u32::from(sample.code() != Taken::No))
            .sum()
    }

    #[test]
    fn all_is_taken_without_a_sample() {
        let mut sample = Sample::default();
        for _ in 0..100 {
            sample.position(1);
            assert_eq!(taken(&mut sample, 1000), 1000);
        }
    }

    #[test]
    fn one_stretch_in_eight_is_taken_and_what_follows_an_event() {
        let mut sample = Sample::default();
        let mut whole = 0;
        for _ in 0..4000 {
            sample.position(8);
            // What the event before has left, and the stretch.
            taken(&mut sample, AFTER_EVENT);
            let all = taken(&mut sample, 1000);
            assert!(all == 0 || all == 1000, "{all}");
            whole += u32::from(all > 0);
            sample.event();
            let after = taken(&mut sample, 1000);
            assert_eq!(after, if all > 0 { 1000 } else { AFTER_EVENT });
        }
        assert!((400..600).contains(&whole), "{whole} of 4000");
    }

    #[test]
    fn what_follows_an_event_is_taken_where_a_position_follows_at_once() {
        let mut sample = Sample::default();
        while !sample.outside {
            sample.position(8);
            taken(&mut sample, 1000);
            sample.event();
        }
        sample.position(1 << 31);
        assert!(sample.outside);
        assert_eq!(taken(&mut sample, 1000), AFTER_EVENT);
    }

    #[test]
    fn what_follows_a_gap_begins_anew() {
        let mut sample = Sample::default();
        while !sample.outside {
            sample.position(8);
        }
        taken(&mut sample, 1000);
        assert_eq!(sample.code(), Taken::No);
        sample.event();
        assert_eq!(sample.code(), Taken::Anew);
        assert_eq!(sample.code(), Taken::Yes);
    }
}
