//! Numbers of running and waiting contexts over time: an exact step function or, once there are too
//! many steps to keep, buckets with exact minimum, maximum and integral.

use std::ops::Range;

use anyhow::Result;

use crate::analysis::{CAUSES, Change, Graph, State, end_of, sweep};

/// Number of steps that are kept exactly; beyond it the timeline turns into buckets (48 bytes a
/// step).
const MAX_STEPS: usize = 1 << 20;
/// Less than one part in so many of the run is a moment.
const MOMENT: u64 = 100;

/// How many contexts are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Contexts that run.
    pub(crate) running: u32,
    /// Contexts that wait, by cause ([`State::index`]).
    pub(crate) waiting: [u32; CAUSES],
}

impl Counts {
    fn slot(&mut self, state: State) -> &mut u32 {
        match state.index() {
            None => &mut self.running,
            Some(cause) => &mut self.waiting[cause],
        }
    }
}

/// The counts that hold from `t_ns` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CountsSince {
    /// Nanoseconds since the start of the run.
    pub(crate) t_ns: u64,
    /// The contexts from then on.
    pub(crate) counts: Counts,
}

/// A stretch of time as a sum that keeps its extremes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Start, nanoseconds since the start of the run.
    pub t_ns: u64,
    /// Length in nanoseconds.
    pub length_ns: u64,
    /// Fewest running contexts at any time.
    pub min: u32,
    /// Most running contexts at any time.
    pub max: u32,
    /// Running contexts integrated over the time: context-nanoseconds.
    pub running_ns: u64,
    /// Waiting contexts integrated over the time, by cause.
    pub waiting_ns: [u64; CAUSES],
}

impl Bucket {
    /// A time in which the counts stay.
    pub(super) fn of(t_ns: u64, length_ns: u64, counts: &Counts) -> Self {
        let running = counts.running;
        Self {
            t_ns,
            length_ns,
            min: running,
            max: running,
            running_ns: u64::from(running) * length_ns,
            waiting_ns: counts.waiting.map(|waiting| u64::from(waiting) * length_ns),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.length_ns += other.length_ns;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.running_ns += other.running_ns;
        for (sum, ns) in self.waiting_ns.iter_mut().zip(other.waiting_ns) {
            *sum += ns;
        }
    }

    /// Average number of running contexts.
    #[must_use]
    pub fn average(&self) -> f64 {
        crate::view::units::ratio(self.running_ns, self.length_ns)
    }
}

/// The parts of a time in bins of this width: the number of the bin, and the length.
pub(super) fn bins(time: Range<u64>, width: u64) -> impl Iterator<Item = (usize, u64)> {
    let mut at = time.start;
    std::iter::from_fn(move || {
        let (from, bin) = (at, at / width);
        at = time.end.min((bin + 1).saturating_mul(width));
        (from < at).then(|| (usize::try_from(bin).unwrap_or(usize::MAX), at - from))
    })
}

/// The step function from 0 to `end_ns`, which is made change by change in order of time (observed
/// parallelism: contech.txt, section 5.1).
#[derive(Debug)]
pub(crate) struct Timeline {
    end_ns: u64,
    max_steps: usize,
    /// The counts of now, and everything before.
    counts: Counts,
    pub(super) all: Bucket,
    /// Nanoseconds with exactly `i` contexts running.
    pub(super) levels: Vec<u64>,
    /// Ascending in time; each differs from the one before.
    steps: Vec<CountsSince>,
    /// In place of too many steps.
    coarse: Option<Buckets>,
}

impl Timeline {
    /// Of a run that ends at `end_ns`.
    pub(crate) fn new(end_ns: u64) -> Self {
        let counts = Counts::default();
        Self {
            end_ns,
            max_steps: MAX_STEPS,
            counts,
            all: Bucket::of(0, 0, &counts),
            levels: vec![0],
            steps: vec![CountsSince { t_ns: 0, counts }],
            coarse: None,
        }
    }

    /// Of all contexts of a graph.
    pub(crate) fn of(graph: &Graph) -> Result<Self> {
        let mut timeline = Self::new(end_of(graph));
        sweep(graph, |change| {
            timeline.change(change);
            Ok(())
        })?;
        timeline.finish();
        Ok(timeline)
    }

    /// Follows a change.
    pub(crate) fn change(&mut self, change: &Change<'_>) {
        let mut counts = self.counts;
        change.from.into_iter().for_each(|state| *counts.slot(state) -= 1);
        change.to.into_iter().for_each(|state| *counts.slot(state) += 1);
        self.set(change.at_ns, counts);
    }

    /// Sets the counts from `t_ns` on.
    pub(crate) fn set(&mut self, t_ns: u64, counts: Counts) {
        self.advance(t_ns);
        self.counts = counts;
    }

    /// The last change has come.
    pub(crate) fn finish(&mut self) {
        self.advance(self.end_ns);
    }

    /// Accounts for the time since the last change.
    fn advance(&mut self, until: u64) {
        let (now_ns, counts) = (self.all.length_ns, self.counts);
        if until <= now_ns {
            return;
        }
        let time = Bucket::of(now_ns, until - now_ns, &counts);
        self.all.merge(&time);
        let level = counts.running as usize;
        self.levels.resize(self.levels.len().max(level + 1), 0);
        self.levels[level] += time.length_ns;
        if let Some(coarse) = &mut self.coarse {
            return coarse.add(&counts, until);
        }
        match self.steps.last_mut() {
            Some(last) if last.counts == counts => {}
            Some(last) if last.t_ns == now_ns => last.counts = counts,
            _ => self.steps.push(CountsSince { t_ns: now_ns, counts }),
        }
        if self.steps.len() > self.max_steps {
            let steps = std::mem::take(&mut self.steps);
            self.coarse = Some(Buckets::of(&steps, until, self.end_ns, self.max_steps));
        }
    }

    /// The largest number of contexts that ran at one time for longer than a moment of the time in
    /// which any ran. (A context that creates others runs beside them for a moment.)
    pub(crate) fn peak(&self) -> u32 {
        let all: u64 = self.levels.iter().skip(1).sum();
        let mut above = 0;
        let found = self.levels.iter().enumerate().skip(1).rev().find(|&(_, ns)| {
            above += ns;
            above > 0 && above >= all / MOMENT
        });
        found.map_or(1, |(running, _)| u32::try_from(running).unwrap_or(u32::MAX))
    }

    /// The exact steps, or `None` if there were too many to keep.
    pub(crate) fn steps(&self) -> Option<&[CountsSince]> {
        self.coarse.is_none().then_some(&self.steps[..])
    }

    /// Length of the run.
    pub(crate) fn duration_ns(&self) -> u64 {
        self.end_ns
    }

    /// Running contexts at `t_ns`, and the time up to which their number stays (in a coarse bucket,
    /// the rounded average).
    pub(crate) fn running_at(&self, t_ns: u64) -> (u32, u64) {
        match &self.coarse {
            None => {
                let steps = &self.steps;
                let next = steps.partition_point(|step| step.t_ns <= t_ns);
                let running = next.checked_sub(1).map_or(0, |at| steps[at].counts.running);
                (running, steps.get(next).map_or(u64::MAX, |step| step.t_ns))
            }
            Some(Buckets { width, all }) => {
                let at = usize::try_from(t_ns / width).unwrap_or(usize::MAX).min(all.len() - 1);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "at most max, a u32"
                )]
                let running = all[at].average().round() as u32;
                (running, all.get(at + 1).map_or(u64::MAX, |next| next.t_ns))
            }
        }
    }

    /// The run in at most `most` stretches: the steps themselves if they are few enough, otherwise
    /// [`Timeline::buckets`].
    pub(crate) fn stretches(&self, most: usize) -> Vec<Bucket> {
        let Some(steps) = self.steps().filter(|steps| steps.len() <= most) else {
            return self.buckets(most);
        };
        let stretches = with_ends(steps, self.end_ns)
            .map(|(step, until)| Bucket::of(step.t_ns, until - step.t_ns, &step.counts));
        stretches.filter(|bucket| bucket.length_ns > 0).collect()
    }

    /// The run in at most `most` stretches of equal length, with exact peaks and averages.
    pub(crate) fn buckets(&self, most: usize) -> Vec<Bucket> {
        let most = most.max(1);
        let Some(Buckets { all, .. }) = &self.coarse else {
            return Buckets::of(&self.steps, self.end_ns, self.end_ns, most).all;
        };
        let merge = |chunk: &[Bucket]| {
            let mut sum = chunk[0];
            chunk[1..].iter().for_each(|bucket| sum.merge(bucket));
            sum
        };
        all.chunks(all.len().div_ceil(most)).map(merge).collect()
    }
}

fn with_ends(steps: &[CountsSince], end_ns: u64) -> impl Iterator<Item = (&CountsSince, u64)> {
    let ends = steps.iter().skip(1).map(|step| step.t_ns).chain([end_ns]);
    steps.iter().zip(ends)
}

/// A step function in buckets of `width`.
#[derive(Debug)]
struct Buckets {
    width: u64,
    /// Contiguous, all of this width except the last.
    all: Vec<Bucket>,
}

impl Buckets {
    /// Of steps of which the last one lasts until then; at most `most` until `end_ns`.
    fn of(steps: &[CountsSince], until: u64, end_ns: u64, most: usize) -> Self {
        let mut this = Self { width: end_ns.div_ceil(most as u64).max(1), all: Vec::new() };
        with_ends(steps, until).for_each(|(step, until)| this.add(&step.counts, until));
        this
    }

    /// Adds `counts` for the time from the end of the last call to `until`.
    fn add(&mut self, counts: &Counts, until: u64) {
        let mut at = self.all.last().map_or(0, |last| last.t_ns + last.length_ns);
        for (number, ns) in bins(at..until, self.width) {
            let time = Bucket::of(at, ns, counts);
            match self.all.get_mut(number) {
                Some(begun) => begun.merge(&time),
                None => self.all.push(time),
            }
            at += ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(running: u32) -> Counts {
        Counts { running, ..Counts::default() }
    }

    /// The level is 1 for 10 ns, then 5 and 2 in turn, for 3 ns and 7 ns, until 110.
    fn saw(max_steps: usize) -> Timeline {
        let mut timeline = Timeline { max_steps, ..Timeline::new(110) };
        timeline.set(0, running(1));
        for tooth in 0..10 {
            timeline.set(10 + tooth * 10, running(5));
            timeline.set(13 + tooth * 10, running(2));
        }
        timeline.finish();
        timeline
    }

    #[test]
    fn too_many_steps_coarsen_without_losing_peaks_or_average() {
        let (exact, coarse) = (saw(1000), saw(6));
        assert!(coarse.steps().is_none());
        let (fine, rough) = (exact.buckets(1)[0], coarse.buckets(1)[0]);
        assert_eq!(fine, rough);
        assert!(coarse.buckets(1000).len() <= 6);
    }

    #[test]
    fn the_level_at_a_time_lasts_until_the_next_step() {
        let timeline = saw(1000);
        assert_eq!(timeline.running_at(0), (1, 10));
        assert_eq!(timeline.running_at(12), (5, 13));
        assert_eq!(timeline.running_at(109), (2, u64::MAX));
        let coarse = saw(6);
        assert_eq!(coarse.running_at(30), (3, 38));
    }
}
