//! Counts block executions by level for one context. The counts of the current level go into a
//! sparse map when the level changes.

use std::ops::Range;

use rustc_hash::FxHashMap;
use taskgraph::{BlockCounts, BlockId, ExecutedRow, Piece};

use crate::parallelism::timeline::Timeline;

/// Executions by block and number of running contexts.
#[derive(Debug, Default)]
pub struct LevelCounter {
    level: u32,
    /// Executions at `level`.
    current: BlockCounts,
    /// Executions at `level` of rows of blocks, by their number, and the numbers of those that have
    /// some. What is in a row is counted when the level changes.
    rows: Vec<(u64, Box<[BlockId]>)>,
    touched_rows: Vec<usize>,
    /// The executions by block and level, after [`LevelCounter::seal`].
    pub(super) totals: FxHashMap<(BlockId, u32), u64>,
    /// A level, and from when and until when it holds.
    held: (u32, Range<u64>),
    /// For the current task: its start and end, its number of executions, the number of the next
    /// one, and that of the execution at which the level changes.
    start_ns: u64,
    duration_ns: u64,
    executions: u64,
    next: u64,
    change: u64,
}

impl LevelCounter {
    /// Begins a task with so many executions, which lasts from `start_ns` to `end_ns`.
    pub(super) fn begin(&mut self, start_ns: u64, end_ns: u64, executions: u64) {
        self.start_ns = start_ns;
        self.duration_ns = end_ns.saturating_sub(start_ns);
        (self.executions, self.next, self.change) = (executions, 0, 0);
    }

    /// Counts the next executions of the task.
    pub(super) fn piece(&mut self, timeline: &Timeline, piece: &Piece<'_>) {
        if matches!(piece, Piece::Action(_)) {
            return;
        }
        let (mut from, all) = (0, piece.actions());
        while from < all {
            if self.next == self.change {
                self.look_up(timeline);
            }
            let own = (all - from).min(self.change - self.next);
            // The counts do not depend on how a run is divided.
            let _ = piece.for_each_part::<()>(from..from + own, |_, part| {
                match part {
                    Piece::Blocks(blocks) => blocks.for_each_row(|row| self.count_row(row)),
                    _ => self.current.add_piece(part),
                }
                Ok(())
            });
            from += own;
            self.next += own;
        }
    }

    #[inline]
    fn count_row(&mut self, row: ExecutedRow<'_>) {
        let Some(number) = row.number() else {
            return row.blocks().for_each(|block| self.current.add(block, row.times()));
        };
        if number >= self.rows.len() {
            self.rows.resize_with(number + 1, Default::default);
        }
        let (count, blocks) = &mut self.rows[number];
        if *count == 0 {
            self.touched_rows.push(number);
            if blocks.is_empty() {
                *blocks = row.blocks().collect();
            }
        }
        *count += row.times();
    }

    /// Looks up the level at the next execution, and finds the first execution after the level's
    /// end.
    fn look_up(&mut self, timeline: &Timeline) {
        let parts = 2 * u128::from(self.executions);
        let at = self.start_ns
            + narrow((2 * u128::from(self.next) + 1) * u128::from(self.duration_ns) / parts.max(1));
        if !self.held.1.contains(&at) {
            let (running, until) = timeline.running_at(at);
            self.held = (running, at..until);
        }
        let (running, until) = (self.held.0, self.held.1.end);
        // This context runs here, whatever rounding gives for the edge of the task.
        self.set_level(running.max(1));
        self.change = if until >= self.start_ns + self.duration_ns {
            u64::MAX
        } else {
            // This is the smallest i with (2i + 1) * duration / (2n) >= until - start.
            let times = u128::from(until - self.start_ns) * parts;
            let twice = times.div_ceil(u128::from(self.duration_ns)).saturating_sub(1);
            narrow(twice.div_ceil(2)).max(self.next + 1)
        };
    }

    fn set_level(&mut self, level: u32) {
        if level != self.level {
            self.flush();
            self.level = level;
        }
    }

    fn flush(&mut self) {
        for number in std::mem::take(&mut self.touched_rows) {
            let (count, blocks) = &mut self.rows[number];
            blocks.iter().for_each(|block| self.current.add(*block, *count));
            *count = 0;
        }
        for (block, count) in self.current.iter() {
            *self.totals.entry((block, self.level)).or_default() += count;
        }
        self.current.clear();
    }

    /// Drops everything but the totals.
    pub(super) fn seal(&mut self) {
        self.flush();
        self.current = BlockCounts::new();
        self.rows = Vec::new();
    }
}

fn narrow(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use taskgraph::Reader;
    use taskgraph::builder::GraphBuilder;

    use crate::parallelism::timeline::Counts;

    use super::*;

    /// The levels are 1, 3 and 2 from 0, 40 and 70 on.
    fn timeline() -> Timeline {
        let mut timeline = Timeline::new(100);
        for (t, running) in [(0, 1), (40, 3), (70, 2)] {
            timeline.set(t, Counts { running, ..Counts::default() });
        }
        timeline.finish();
        timeline
    }

    fn count(start: u64, end: u64, blocks: &[u32]) -> Vec<((u32, u32), u64)> {
        let mut b = GraphBuilder::new();
        let ids: Vec<BlockId> = (0..4).map(|i| b.block(&format!("f{i}"), "a.c", 1, &[])).collect();
        let main = b.context("main");
        b.work(main, start, end, |w| {
            blocks.iter().for_each(|&block| w.block(ids[block as usize], &[]));
        });
        let graph = b.build().expect("a valid graph");
        let task = graph.tasks().next().expect("a task").expect("readable");
        let mut counter = LevelCounter::default();
        let timeline = timeline();
        counter.begin(start, end, blocks.len() as u64);
        let mut reader = Reader::new(&graph, 1);
        reader.open(&task);
        while let Some(batch) = reader.next().expect("readable") {
            batch.pieces().for_each(|piece| counter.piece(&timeline, &piece));
        }
        counter.seal();
        let mut totals: Vec<_> =
            counter.totals.into_iter().map(|((b, l), n)| ((b.get(), l), n)).collect();
        totals.sort_unstable();
        totals
    }

    #[test]
    fn a_task_without_duration_takes_the_level_of_its_moment() {
        assert_eq!(count(70, 70, &[0, 1, 0]), [((0, 2), 2), ((1, 2), 1)]);
    }

    #[test]
    fn every_execution_lands_where_its_own_time_says() {
        let timeline = timeline();
        for n in 1..40u64 {
            for (start, end) in [(0, 100), (3, 98), (39, 41), (65, 71), (70, 100)] {
                let mut expected = std::collections::BTreeMap::new();
                for i in 0..n {
                    let at = start + (2 * i + 1) * (end - start) / (2 * n);
                    *expected.entry((0, timeline.running_at(at).0)).or_insert(0) += 1;
                }
                let blocks = vec![0; usize::try_from(n).expect("small")];
                assert_eq!(
                    count(start, end, &blocks),
                    expected.into_iter().collect::<Vec<_>>(),
                    "{n} in {start}..{end}"
                );
            }
        }
    }
}
