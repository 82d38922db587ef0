//! Puts the clocks of several traces onto one: afterwards no message arrives before it was sent.
//!
//! Each trace has its own zero. Traces of one host with one clock frequency count the same ticks,
//! and their zeros are known exactly. The clocks of different hosts are first placed by the wall
//! clock. Every message from rank a to rank b then gives a lower bound for the offset of b's clock
//! against a's: the start of the send minus the end of the receive. For each pair of ranks the
//! largest bound is kept, and the offsets are raised until all bounds hold (Bellman and Ford's
//! algorithm for difference constraints; the bounds are those of Duda et al., *Estimating global
//! time in distributed systems*, 1987). If clocks ran at different speeds, there may be no offsets
//! that hold all bounds. A remark then says so, and times of different ranks can be compared only
//! roughly.

use std::collections::BTreeMap;

use contech_trace::file::FileHeader;

use crate::clock::Clock;
use crate::notes::Notes;

#[derive(Debug, Clone, Copy)]
struct Time {
    clock: Clock,
    /// Nanoseconds that are added to the trace's times.
    offset: i128,
}

/// The clocks of all traces, in the order they are read.
#[derive(Debug, Default)]
pub(crate) struct Align {
    times: Vec<Time>,
    /// For the traces of a sender and a receiver, the least difference of their offsets.
    bounds: BTreeMap<(u16, u16), i128>,
}

/// What is needed to place a trace's clock.
#[derive(Debug, Clone)]
pub(crate) struct Zero {
    pub(crate) header: FileHeader,
    pub(crate) host: String,
    /// Ticks per second.
    pub(crate) hz: u64,
}

impl Align {
    /// Makes the clocks from their zeros. The times of a single trace stay ticks.
    pub(crate) fn new(zeros: &[Zero]) -> Self {
        if zeros.len() < 2 {
            return Align::default();
        }
        // A rank that was killed does not say its clock's frequency, but another rank of its host
        // does.
        let stated = |z: &Zero| {
            let same = |o: &&Zero| o.hz > 0 && o.host == z.host;
            let other = || zeros.iter().find(same).map_or(0, |o| o.hz);
            if z.hz > 0 { z.hz } else { other() }
        };
        let zeros: Vec<Zero> = zeros.iter().map(|z| Zero { hz: stated(z), ..z.clone() }).collect();
        let first = &zeros[0];
        // Two measurements of one counter differ a little; a common frequency keeps its ticks
        // comparable.
        let near = |hz: u64| hz.abs_diff(first.hz) < first.hz / 1000;
        let one_clock = first.hz > 0 && zeros.iter().all(|z| z.host == first.host && near(z.hz));
        let time = |z: &Zero| {
            let clock = Clock::new(if one_clock { first.hz } else { z.hz });
            let offset = if one_clock {
                let ticks = i128::from(z.header.start_ticks) - i128::from(first.header.start_ticks);
                ticks * 1_000_000_000 / i128::from(first.hz)
            } else {
                i128::from(z.header.start_unix_ns)
            };
            Time { clock, offset }
        };
        Align { times: zeros.iter().map(time).collect(), bounds: BTreeMap::new() }
    }

    /// What happened in trace `from` at tick `sent` came before what happened in `to` at tick
    /// `received`.
    pub(crate) fn before(&mut self, from: u16, sent: u64, to: u16, received: u64) {
        let at = |trace: u16, ticks| Some(self.times.get(usize::from(trace))?.clock.ns(ticks));
        let (Some(sent), Some(received)) = (at(from, sent), at(to, received)) else {
            return;
        };
        let bound = i128::from(sent) - i128::from(received);
        let known = self.bounds.entry((from, to)).or_insert(bound);
        *known = bound.max(*known);
    }

    /// Raises the offsets until all bounds hold. The first moment of all traces becomes 0.
    pub(crate) fn settle(&mut self, notes: &mut Notes) {
        let mut raised = false;
        for _ in 0..=self.times.len() {
            raised = false;
            for ((from, to), bound) in &self.bounds {
                let (from, to) = (usize::from(*from), usize::from(*to));
                let least = self.times[from].offset + bound;
                if self.times[to].offset < least {
                    self.times[to].offset = least;
                    raised = true;
                }
            }
            if !raised {
                break;
            }
        }
        if raised {
            notes.remark(
                "the clocks of the ranks contradict the order of their messages; times of different ranks are comparable only roughly",
                String::new,
            );
        }
        let first = self.times.iter().map(|t| t.offset).min().unwrap_or(0);
        for time in &mut self.times {
            time.offset -= first;
        }
    }

    /// Whether times already are nanoseconds of one clock.
    pub(crate) fn is_common(&self) -> bool {
        !self.times.is_empty()
    }

    /// The time of a tick in the common clock. If there is only one trace, this is the tick itself.
    pub(crate) fn time(&self, trace: u16, ticks: u64) -> u64 {
        match self.times.get(usize::from(trace)) {
            Some(t) => u64::try_from(i128::from(t.clock.ns(ticks)) + t.offset).unwrap_or(0),
            None => ticks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeros(starts: &[(u64, u64, &str)]) -> Vec<Zero> {
        let zero = |&(tsc, unix, host): &(u64, u64, &str)| Zero {
            header: FileHeader { start_ticks: tsc, start_unix_ns: unix, ..FileHeader::default() },
            host: host.into(),
            hz: 1_000_000_000,
        };
        starts.iter().map(zero).collect()
    }

    #[test]
    fn traces_of_one_host_are_placed_by_their_common_counter() {
        let mut align = Align::new(&zeros(&[(500, 7, "a"), (100, 9_999, "a")]));
        align.before(1, 400, 0, 10);
        align.settle(&mut Notes::default());
        assert_eq!(align.time(1, 0), 0);
        assert_eq!(align.time(0, 5), 405);
    }

    #[test]
    fn messages_move_clocks_that_disagree() {
        // b's wall clock is 1000 behind: a message would arrive 900 before it was sent.
        let mut align = Align::new(&zeros(&[(0, 2000, "a"), (0, 1000, "b")]));
        align.before(0, 50, 1, 150);
        align.before(1, 160, 0, 300);
        let mut notes = Notes::default();
        align.settle(&mut notes);
        assert!(align.time(0, 50) <= align.time(1, 150));
        assert!(align.time(1, 160) <= align.time(0, 300));
        assert!(notes.sentences().is_empty());
    }

    #[test]
    fn bounds_that_contradict_each_other_are_told_and_end() {
        let mut align = Align::new(&zeros(&[(0, 0, "a"), (0, 0, "b")]));
        align.before(0, 1000, 1, 10);
        align.before(1, 1000, 0, 10);
        let mut notes = Notes::default();
        align.settle(&mut notes);
        assert_eq!(notes.sentences().len(), 1);
    }

    #[test]
    fn a_single_trace_keeps_its_ticks() {
        let align = Align::new(&zeros(&[(5, 5, "a")]));
        assert!(!align.is_common());
        assert_eq!(align.time(0, 77), 77);
    }
}
