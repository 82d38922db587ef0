//! Measures what workers did in a round.
//!
//! A worker writes into cache lines of its own and reads the clock at the begin and the end of a part; no worker
//! waits for another. The time between two parts of a worker is scheduling. The time between its last part and the
//! end of the last part of all is imbalance. The time before its first part (threads wake up, a barrier opens) is
//! neither, since no size changes it. Clocks are arguments and are read only in measured rounds.
//!
//! A round may have several *stages* with barriers between them, such as the colours of a grid; each stage is
//! measured in this way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::sample::Sample;

/// Number of stages of a round that are told apart; those beyond count as the last one.
pub(crate) const STAGES: usize = 64;

/// When a worker's first part of a stage began, and when its last part ended; 0 if it had none.
#[derive(Debug, Default)]
struct Span {
    first: AtomicU64,
    last: AtomicU64,
}

/// What one worker writes. A slot takes two cache lines, because processors fetch pairs of them.
#[derive(Debug)]
#[repr(align(128))]
struct Slot {
    stage: AtomicU64,
    /// The begin of the present part, and the end of the last one.
    begun: AtomicU64,
    ended: AtomicU64,
    /// Ticks between parts in this round, and the number of parts.
    scheduling: AtomicU64,
    parts: AtomicU64,
    spans: [Span; STAGES],
}

/// Stands for no stage.
const NONE: u64 = u64::MAX;

impl Slot {
    fn new() -> Self {
        Self {
            stage: AtomicU64::new(NONE),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            scheduling: AtomicU64::new(0),
            parts: AtomicU64::new(0),
            spans: std::array::from_fn(|_| Span::default()),
        }
    }

    /// The span of the present stage.
    fn span(&self) -> &Span {
        let stage = usize::try_from(self.stage.load(Relaxed));
        &self.spans[stage.map_or(STAGES - 1, |stage| stage.min(STAGES - 1))]
    }

    fn clear(&self, stages: usize) {
        self.stage.store(NONE, Relaxed);
        self.scheduling.store(0, Relaxed);
        self.parts.store(0, Relaxed);
        for span in &self.spans[..stages] {
            span.first.store(0, Relaxed);
            span.last.store(0, Relaxed);
        }
    }
}

/// Adds to a counter that only this thread writes.
#[inline]
fn add(to: &AtomicU64, ticks: u64) {
    to.store(to.load(Relaxed).wrapping_add(ticks), Relaxed);
}

/// The slots of all workers. The caller promises which thread calls what: the parts of one worker come one after the
/// other, and a round ends after its parts. If the caller breaks the promise, figures are wrong, and nothing else
/// happens.
#[derive(Debug)]
pub(crate) struct Meter {
    slots: Box<[Slot]>,
    /// Whether parts of this round read the clock.
    on: AtomicBool,
    begun: AtomicU64,
    /// Number of stages used so far.
    stages: AtomicU64,
}

impl Meter {
    pub(crate) fn new(workers: u32) -> Self {
        Self {
            slots: (0..workers).map(|_| Slot::new()).collect(),
            on: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            stages: AtomicU64::new(1),
        }
    }

    pub(crate) fn begin(&self, measure: bool, clock: impl FnOnce() -> u64) {
        self.on.store(measure, Relaxed);
        if measure {
            let stages = self.stages();
            self.slots.iter().for_each(|slot| slot.clear(stages));
            self.begun.store(clock(), Relaxed);
        }
    }

    fn stages(&self) -> usize {
        usize::try_from(self.stages.load(Relaxed)).map_or(STAGES, |n| n.min(STAGES))
    }

    /// The slot of a worker, if this round is measured and the worker has one.
    #[inline]
    fn slot(&self, worker: u32) -> Option<&Slot> {
        if !self.on.load(Relaxed) {
            return None;
        }
        self.slots.get(worker as usize)
    }

    #[inline]
    pub(crate) fn part_begin(&self, worker: u32, stage: u32, clock: impl FnOnce() -> u64) {
        let Some(slot) = self.slot(worker) else {
            return;
        };
        let now = clock();
        slot.begun.store(now, Relaxed);
        if slot.stage.load(Relaxed) == u64::from(stage) {
            add(
                &slot.scheduling,
                now.saturating_sub(slot.ended.load(Relaxed)),
            );
        } else {
            self.enter(slot, stage, now);
        }
    }

    #[cold]
    fn enter(&self, slot: &Slot, stage: u32, now: u64) {
        slot.stage.store(u64::from(stage), Relaxed);
        let stage = u64::from(stage).min(STAGES as u64 - 1);
        if self.stages.load(Relaxed) <= stage {
            self.stages.fetch_max(stage + 1, Relaxed);
        }
        let first = &slot.span().first;
        if first.load(Relaxed) == 0 {
            first.store(now, Relaxed);
        }
    }

    #[inline]
    pub(crate) fn part_end(&self, worker: u32, clock: impl FnOnce() -> u64) {
        let Some(slot) = self.slot(worker) else {
            return;
        };
        let now = clock();
        slot.ended.store(now, Relaxed);
        add(&slot.parts, 1);
        slot.span().last.store(now, Relaxed);
    }

    /// A worker begins to make parts for others (tasks); the time until the end of this counts as scheduling.
    pub(crate) fn dispatch_begin(&self, worker: u32, stage: u32, clock: impl FnOnce() -> u64) {
        self.part_begin(worker, stage, clock);
    }

    pub(crate) fn dispatch_end(&self, worker: u32, clock: impl FnOnce() -> u64) {
        if let Some(slot) = self.slot(worker) {
            let now = clock();
            add(
                &slot.scheduling,
                now.saturating_sub(slot.begun.load(Relaxed)),
            );
            slot.ended.store(now, Relaxed);
            slot.span().last.store(now, Relaxed);
        }
    }

    /// The result of the round; `None` if it was not measured or had no parts.
    #[expect(clippy::cast_precision_loss, reason = "ratios of times")]
    pub(crate) fn end(&self, clock: impl FnOnce() -> u64) -> Option<Sample> {
        if !self.on.swap(false, Relaxed) {
            return None;
        }
        let time = clock().saturating_sub(self.begun.load(Relaxed));
        let all = time as f64 * self.slots.len() as f64;
        let sum = |f: &dyn Fn(&Slot) -> &AtomicU64| {
            self.slots
                .iter()
                .map(|s| f(s).load(Relaxed))
                .fold(0, u64::saturating_add)
        };
        let (parts, scheduling) = (sum(&|s| &s.parts), sum(&|s| &s.scheduling));
        let idle = (0..self.stages())
            .map(|stage| self.idle(stage))
            .fold(0, u64::saturating_add);
        (parts > 0 && time > 0).then(|| Sample {
            scheduling: scheduling as f64 / all,
            imbalance: idle as f64 / all,
            time: time as f64,
        })
    }

    /// Ticks in which workers had no part while others had one.
    fn idle(&self, stage: usize) -> u64 {
        let spans = || {
            let both = |slot: &Slot| {
                let span = &slot.spans[stage];
                (span.first.load(Relaxed), span.last.load(Relaxed))
            };
            self.slots.iter().map(both)
        };
        let begin = spans()
            .map(|(first, _)| first)
            .filter(|first| *first > 0)
            .min();
        let end = spans().map(|(_, last)| last).max().unwrap_or(0);
        let Some(begin) = begin else {
            return 0;
        };
        let of = |(_, last): (u64, u64)| end.saturating_sub(if last == 0 { begin } else { last });
        spans().map(of).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a part of a worker in a stage, from one time to another.
    fn part(meter: &Meter, worker: u32, stage: u32, from: u64, to: u64) {
        meter.part_begin(worker, stage, || from);
        meter.part_end(worker, || to);
    }

    fn begun(workers: u32) -> Meter {
        let meter = Meter::new(workers);
        meter.begin(true, || 1000);
        meter
    }

    #[track_caller]
    fn expect(sample: Option<Sample>, scheduling: f64, imbalance: f64, time: f64) {
        let found = sample.expect("parts");
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let all = near(found.scheduling, scheduling)
            && near(found.imbalance, imbalance)
            && near(found.time, time);
        assert!(all, "{found:?}");
    }

    #[test]
    fn a_worker_without_parts_is_imbalance() {
        let meter = begun(4);
        part(&meter, 2, 0, 1000, 1100);
        expect(meter.end(|| 1100), 0.0, 0.75, 100.0);
    }

    #[test]
    fn what_is_between_parts_is_scheduling_and_after_the_last_one_imbalance() {
        let meter = begun(2);
        part(&meter, 0, 0, 1010, 1040); // 10: waking up, which is no overhead
        part(&meter, 0, 0, 1045, 1100);
        part(&meter, 1, 0, 1020, 1070);
        expect(meter.end(|| 1100), 0.025, 0.15, 100.0);
    }

    #[test]
    fn each_stage_ends_for_itself() {
        let meter = begun(2);
        part(&meter, 0, 0, 1000, 1050);
        part(&meter, 1, 0, 1000, 1040); // 10 idle
        part(&meter, 0, 1, 1060, 1070); // 10: the barrier, which is no overhead
        part(&meter, 1, 1, 1060, 1100); // 30 idle
        expect(meter.end(|| 1100), 0.0, 0.2, 100.0);
    }

    #[test]
    fn a_round_does_not_see_the_one_before() {
        let meter = begun(2);
        part(&meter, 0, 5, 1000, 1100);
        expect(meter.end(|| 1100), 0.0, 0.5, 100.0);
        meter.begin(true, || 2000);
        part(&meter, 0, 5, 2000, 2010);
        part(&meter, 1, 5, 2000, 2010);
        expect(meter.end(|| 2010), 0.0, 0.0, 10.0);
    }

    #[test]
    fn making_parts_is_scheduling() {
        let meter = begun(1);
        meter.dispatch_begin(0, 0, || 1000);
        meter.dispatch_end(0, || 1030);
        part(&meter, 0, 0, 1040, 1100);
        expect(meter.end(|| 1100), 0.4, 0.0, 100.0);
    }

    #[test]
    fn a_round_without_parts_or_measuring_tells_nothing_and_reads_no_clock() {
        let meter = begun(2);
        assert_eq!(meter.end(|| 2000), None);
        let no_clock = || unreachable!("the clock was read");
        meter.begin(false, no_clock);
        meter.part_begin(0, 0, no_clock);
        meter.part_end(0, no_clock);
        assert_eq!(meter.end(no_clock), None);
        assert_eq!(meter.end(no_clock), None);
    }

    #[test]
    fn workers_stages_and_clocks_nobody_announced_do_no_harm() {
        let meter = begun(1);
        for (worker, stage, from, to) in [
            (7, 0, 1, 2),
            (0, 63, 1010, 1020),
            (0, 64, 1030, 1040),
            (0, u32::MAX, 1060, 1050),
            (u32::MAX, 1, 5, 5),
        ] {
            part(&meter, worker, stage, from, to);
        }
        meter.part_end(0, || 1090);
        let sample = meter.end(|| 1100).expect("parts");
        assert!(sample.imbalance <= 1.0 && sample.scheduling <= 1.0);
    }
}
