//! About a thousand times a second each executor noted where it was, and what the kernel said of its time. What it
//! executed between two such moments is a *stretch*: the blocks in it are known exactly, and so is how long it ran.

use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use taskgraph::{BlockId, ExecutorId, FrameRef, FrameSpan, Progress};

use crate::analysis::{Graph, Task, count_spans};

/// More stretches than this are joined, neighbours first.
const MOST: usize = 4096;

/// The stretches of a run.
#[derive(Debug, Default)]
pub(super) struct Stretches {
    moments: Vec<Progress>,
    /// The moments of each executor.
    executors: Vec<Range<usize>>,
    /// The moments in each frame: number of records before, and the moment.
    frames: FxHashMap<FrameRef, Vec<(u32, usize)>>,
    /// As many stretches are joined, as a power of two.
    shift: u32,
}

/// How often blocks are executed.
pub(super) type Counted = Vec<(BlockId, u64)>;

/// A part of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// The number of the stretch that it is in, if that is known.
    pub(super) stretch: Option<u32>,
    /// Whether it is all of the task.
    pub(super) whole: bool,
    /// How long its executor ran meanwhile, ns.
    pub(super) ran_ns: u64,
}

impl Stretches {
    pub(super) fn of(graph: &Graph) -> Self {
        let moments: Vec<Progress> = graph.progress().collect();
        let executors = (0..graph.executor_count()).map(|executor| {
            let begin = moments.partition_point(|one| one.executor.index() < executor);
            let end = moments.partition_point(|one| one.executor.index() <= executor);
            begin..end
        });
        let executors = executors.collect();
        let mut frames: FxHashMap<FrameRef, Vec<(u32, usize)>> = FxHashMap::default();
        for (at, one) in moments.iter().enumerate() {
            if one.frame != FrameRef::default() {
                frames.entry(one.frame).or_default().push((one.record, at));
            }
        }
        frames
            .values_mut()
            .for_each(|moments| moments.sort_unstable());
        let joined = moments.len().div_ceil(MOST).next_power_of_two();
        Self {
            moments,
            executors,
            frames,
            shift: joined.trailing_zeros(),
        }
    }

    /// The number of the stretch that a moment ends, once neighbours are joined.
    fn number(&self, moment: usize) -> u32 {
        u32::try_from(moment >> self.shift).unwrap_or(u32::MAX)
    }

    /// Whether a task has moments inside, and so several parts.
    pub(super) fn divide(&self, task: &Task<'_>) -> bool {
        task.spans()
            .iter()
            .any(|span| !self.inside(span).is_empty())
    }

    /// The parts of a task in the stretches that it was executed in, and how often each executes the blocks; or nothing if
    /// it is not divided.
    pub(super) fn parts(&self, task: &Task<'_>) -> Result<Vec<(Part, Counted)>> {
        if !self.divide(task) {
            return Ok(Vec::new());
        }
        let (own, begin) = self.begin(task);
        // Each part ends with a moment. The last one belongs to the stretch that the moment after it ends.
        let mut parts: Vec<(usize, Vec<FrameSpan>)> = Vec::new();
        let mut open: Vec<FrameSpan> = Vec::new();
        let mut last = begin;
        for span in task.spans() {
            let mut rest = *span;
            for &(record, moment) in self.inside(span) {
                let records = record - rest.first_record;
                open.push(FrameSpan { records, ..rest });
                rest.first_record += records;
                rest.records -= records;
                parts.push((moment, std::mem::take(&mut open)));
                last = moment + 1;
            }
            open.push(rest);
        }
        parts.push((last, open));
        // The task's time may have nothing of what others took, and then does not begin where the last one ended.
        let mut times: Vec<u64> = parts.iter().map(|part| self.ran(&own, part.0)).collect();
        if let Some(after) = times.last_mut() {
            let since = task.end_ns().saturating_sub(self.moments[last - 1].at_ns);
            *after = since.min(if *after == 0 { u64::MAX } else { *after });
        }
        let rest: u64 = times.iter().skip(1).sum();
        if let Some(before) = times.first_mut() {
            let rest = task.duration_ns().saturating_sub(rest);
            let wall = self.moments[parts[0].0].at_ns.checked_sub(task.start_ns());
            let most = Some(*before).filter(|&ran| ran > 0).or(wall);
            *before = rest.min(most.unwrap_or(rest));
        }
        let counted = parts
            .par_iter()
            .zip(times)
            .map(|((moment, spans), ran_ns)| {
                let part = Part {
                    stretch: self.stretch(&own, *moment),
                    whole: false,
                    ran_ns,
                };
                Ok((part, count_spans(task, spans)?.iter().collect()))
            });
        counted.collect()
    }

    /// All of a task that is not divided.
    pub(super) fn whole(&self, task: &Task<'_>) -> Part {
        let (own, begin) = self.begin(task);
        Part {
            stretch: self.stretch(&own, begin),
            whole: true,
            ran_ns: task.duration_ns(),
        }
    }

    /// The moments of a task's executor, and the first one after the task begins.
    fn begin(&self, task: &Task<'_>) -> (Range<usize>, usize) {
        let own = self.executors.get(task.executor().index()).cloned();
        let own = own.unwrap_or_default();
        let before = |one: &Progress| one.at_ns <= task.start_ns();
        let begin = own.start + self.moments[own.clone()].partition_point(before);
        (own, begin)
    }

    /// The number of the stretch that a moment ends. Nothing is known before the first moment of the executor whose moments
    /// are `own`, and after its last.
    fn stretch(&self, own: &Range<usize>, moment: usize) -> Option<u32> {
        let known = own.start < moment && moment < own.end;
        known.then(|| self.number(moment))
    }

    /// How long the executor ran in the stretch that a moment ends, ns; 0 if that is not known.
    fn ran(&self, own: &Range<usize>, moment: usize) -> u64 {
        match own.start < moment && moment < own.end {
            true => {
                let before = self.moments[moment - 1].ran_ns;
                self.moments[moment].ran_ns.saturating_sub(before)
            }
            false => 0,
        }
    }

    /// The moments within a span.
    fn inside(&self, span: &FrameSpan) -> &[(u32, usize)] {
        let Some(moments) = self.frames.get(&span.frame) else {
            return &[];
        };
        let end = span.first_record.saturating_add(span.records);
        let begin = moments.partition_point(|one| one.0 <= span.first_record);
        let end = moments.partition_point(|one| one.0 < end);
        moments.get(begin..end).unwrap_or(&[])
    }

    /// How long an executor can have run at most between two times, ns.
    pub(super) fn most_ran(&self, executor: ExecutorId, from_ns: u64, to_ns: u64) -> u64 {
        let own = self.executors.get(executor.index());
        let moments = own.map_or(&[][..], |own| &self.moments[own.clone()]);
        let begin = moments.partition_point(|one| one.at_ns <= from_ns);
        let end = moments.partition_point(|one| one.at_ns < to_ns);
        let mut before: Option<&Progress> = moments[..begin].last();
        let (mut ran, mut since) = (0, from_ns);
        for one in moments[begin..end].iter().chain(moments.get(end)) {
            let until = one.at_ns.min(to_ns);
            let counted = before.map(|before| one.ran_ns.saturating_sub(before.ran_ns));
            ran += (until - since).min(counted.unwrap_or(u64::MAX));
            (before, since) = (Some(one), until);
        }
        ran + to_ns.saturating_sub(since)
    }

    /// What the kernel counted in each stretch, by number.
    pub(super) fn counted(&self, of: impl Fn(&Progress) -> u64) -> FxHashMap<u32, f64> {
        let mut counted: FxHashMap<u32, f64> = FxHashMap::default();
        for own in &self.executors {
            for at in own.clone().skip(1) {
                let more = of(&self.moments[at]).saturating_sub(of(&self.moments[at - 1]));
                *counted.entry(self.number(at)).or_default() += more as f64;
            }
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_ran_no_longer_than_the_kernel_says() {
        let moment = |(at_ns, ran_ns)| Progress {
            at_ns,
            ran_ns,
            ..Progress::default()
        };
        let moments: Vec<Progress> = [(100, 0), (110, 10), (130, 12)].map(moment).to_vec();
        let stretches = Stretches {
            executors: std::iter::once(0..moments.len()).collect(),
            moments,
            ..Stretches::default()
        };
        let ran = |from, to| stretches.most_ran(ExecutorId::new(0), from, to);
        assert_eq!(ran(100, 130), 12);
        assert_eq!(ran(105, 130), 7);
        assert_eq!(ran(112, 113), 1);
        assert_eq!(ran(120, 140), 12, "2, and 10 of which nothing is known");
        assert_eq!(ran(90, 105), 15, "nothing is known before the first moment");
        assert_eq!(stretches.most_ran(ExecutorId::new(1), 100, 130), 30);
    }
}
