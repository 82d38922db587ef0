//! Numbers of running and waiting contexts over time: an exact step function or, once there are too
//! many steps to keep, buckets with exact minimum, maximum and integral.

use crate::analysis::{CAUSES, State};

/// Number of steps that are kept exactly; beyond it the timeline turns into buckets (48 bytes a
/// step).
const MAX_STEPS: usize = 1 << 20;

/// How many contexts are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Contexts that run.
    pub(crate) running: u32,
    /// Contexts that wait, by cause ([`State::index`]).
    pub(crate) waiting: [u32; CAUSES],
}

impl Counts {
    /// Adds one context in `state`.
    pub(crate) fn enter(&mut self, state: State) {
        *self.slot(state) += 1;
    }

    /// Takes one context out of `state`.
    pub(crate) fn leave(&mut self, state: State) {
        *self.slot(state) -= 1;
    }

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
    fn new(t_ns: u64) -> Self {
        Self { t_ns, length_ns: 0, min: u32::MAX, max: 0, running_ns: 0, waiting_ns: [0; CAUSES] }
    }

    fn add(&mut self, counts: &Counts, ns: u64) {
        self.length_ns += ns;
        self.min = self.min.min(counts.running);
        self.max = self.max.max(counts.running);
        self.running_ns += u64::from(counts.running) * ns;
        for (sum, &waiting) in self.waiting_ns.iter_mut().zip(&counts.waiting) {
            *sum += u64::from(waiting) * ns;
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

/// The step function from 0 to `end_ns`, which is made step by step in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    end_ns: u64,
    max_steps: usize,
    /// Ascending in time; each differs from the one before.
    steps: Vec<CountsSince>,
    /// In place of too many steps, of which only the last one is kept then.
    coarse: Option<Bucketer>,
}

impl Timeline {
    /// Of a run that ends at `end_ns`.
    pub(crate) fn new(end_ns: u64) -> Self {
        Self { end_ns, max_steps: MAX_STEPS, steps: Vec::new(), coarse: None }
    }

    /// Sets the counts from `t_ns` on, which is not before the last step.
    pub(crate) fn step(&mut self, t_ns: u64, counts: Counts) {
        let step = CountsSince { t_ns, counts };
        match (&mut self.coarse, self.steps.last_mut()) {
            (Some(coarse), Some(last)) => {
                coarse.add(&last.counts, t_ns);
                *last = step;
            }
            (None, Some(last)) if last.counts == counts => {}
            (None, Some(last)) if last.t_ns == t_ns => *last = step,
            _ => self.steps.push(step),
        }
        if self.steps.len() > self.max_steps {
            let mut coarse = Bucketer::new(self.end_ns.div_ceil(self.max_steps as u64));
            for (step, until) in with_ends(&self.steps, t_ns) {
                coarse.add(&step.counts, until);
            }
            self.steps.drain(..self.max_steps);
            self.coarse = Some(coarse);
        }
    }

    /// The last step has come.
    pub(crate) fn finish(&mut self) {
        if let (Some(coarse), Some(last)) = (&mut self.coarse, self.steps.last()) {
            coarse.add(&last.counts, self.end_ns);
            coarse.finish();
        }
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
            Some(Bucketer { width, full: buckets, .. }) => {
                let at = usize::try_from(t_ns / width).unwrap_or(usize::MAX);
                let bucket = &buckets[at.min(buckets.len() - 1)];
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "at most max, a u32"
                )]
                let running = bucket.average().round() as u32;
                (
                    running,
                    if at + 1 < buckets.len() { bucket.t_ns + bucket.length_ns } else { u64::MAX },
                )
            }
        }
    }

    /// The run in at most `most` stretches: the steps themselves if they are few enough, otherwise
    /// [`Timeline::buckets`].
    pub(crate) fn stretches(&self, most: usize) -> Vec<Bucket> {
        match self.steps() {
            Some(steps) if steps.len() <= most => {
                let stretch = |(step, until): (&CountsSince, u64)| {
                    let mut bucket = Bucket::new(step.t_ns);
                    bucket.add(&step.counts, until - step.t_ns);
                    bucket
                };
                with_ends(steps, self.end_ns)
                    .map(stretch)
                    .filter(|bucket| bucket.length_ns > 0)
                    .collect()
            }
            _ => self.buckets(most),
        }
    }

    /// The run in at most `most` stretches of equal length, with exact peaks and averages.
    pub(crate) fn buckets(&self, most: usize) -> Vec<Bucket> {
        let most = most.max(1);
        match &self.coarse {
            None => {
                let mut out = Bucketer::new(self.end_ns.div_ceil(most as u64));
                for (step, until) in with_ends(&self.steps, self.end_ns) {
                    out.add(&step.counts, until);
                }
                out.finish();
                out.full
            }
            Some(Bucketer { full: buckets, .. }) => {
                let together = buckets.len().div_ceil(most);
                let merge = |chunk: &[Bucket]| {
                    let mut sum = chunk[0];
                    chunk[1..].iter().for_each(|bucket| sum.merge(bucket));
                    sum
                };
                buckets.chunks(together).map(merge).collect()
            }
        }
    }
}

fn with_ends(steps: &[CountsSince], end_ns: u64) -> impl Iterator<Item = (&CountsSince, u64)> {
    let ends = steps.iter().skip(1).map(|step| step.t_ns).chain([end_ns]);
    steps.iter().zip(ends)
}

/// Cuts a step function into buckets of `width`.
#[derive(Clone, Debug)]
struct Bucketer {
    width: u64,
    at_ns: u64,
    current: Bucket,
    /// Contiguous, all of this width except the last.
    full: Vec<Bucket>,
}

impl Bucketer {
    fn new(width: u64) -> Self {
        Self { width: width.max(1), at_ns: 0, current: Bucket::new(0), full: Vec::new() }
    }

    /// Adds `counts` for the time from the end of the last call to `until`.
    fn add(&mut self, counts: &Counts, until: u64) {
        while self.at_ns < until {
            let end = self.current.t_ns + self.width;
            let stop = end.min(until);
            self.current.add(counts, stop - self.at_ns);
            self.at_ns = stop;
            if stop == end {
                self.full.push(std::mem::replace(&mut self.current, Bucket::new(end)));
            }
        }
    }

    fn finish(&mut self) {
        if self.current.length_ns > 0 {
            self.full.push(self.current);
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
        timeline.step(0, running(1));
        for tooth in 0..10 {
            timeline.step(10 + tooth * 10, running(5));
            timeline.step(13 + tooth * 10, running(2));
        }
        timeline.finish();
        timeline
    }

    #[test]
    fn equal_neighbours_and_steps_without_length_are_merged() {
        let mut timeline = Timeline::new(10);
        for (t, count) in [(0, 1), (2, 1), (4, 3), (4, 2), (6, 2)] {
            timeline.step(t, running(count));
        }
        timeline.finish();
        let steps: Vec<_> =
            timeline.steps().expect("few").iter().map(|s| (s.t_ns, s.counts.running)).collect();
        assert_eq!(steps, [(0, 1), (4, 2)]);
    }

    #[test]
    fn buckets_keep_peaks_and_the_integral() {
        let buckets = saw(1000).buckets(2);
        assert_eq!(
            buckets.iter().map(|b| (b.t_ns, b.length_ns, b.min, b.max)).collect::<Vec<_>>(),
            [(0, 55, 1, 5), (55, 55, 2, 5)]
        );
        let total: u64 = buckets.iter().map(|b| b.running_ns).sum();
        assert_eq!(total, 10 + 10 * (15 + 14));
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
