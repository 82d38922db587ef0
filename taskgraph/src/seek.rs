//! Finds any point inside a task: whole frames are skipped by what the frame index says of them, and one frame is
//! decoded.

use crate::action::BlockExec;
use crate::error::Result;
use crate::frame::{By, DecodedFrame, Pass, Played, Score};
use crate::id::BlockId;
use crate::record::FrameSpan;
use crate::run::advance;
use crate::space::prefix;
use crate::task::{Actions, Running, Task};

/// A point inside a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before its n-th action, from 0.
    Action(u64),
    /// Before the execution of the block that makes its n-th access, from 0.
    Access(u64),
    /// Nanoseconds since the start of the run. Actions have no times, so this is an estimate, as if all actions of
    /// the task took the same time.
    TimeNs(u64),
}

impl<'g, D: AsRef<[u8]>> Task<'g, D> {
    /// Its actions from a point on; none when the task ends before it. In a task of any size this decodes about one frame
    /// (1 MiB of values); in a graph whose frame index would have been too long to be written, all up to that point.
    ///
    /// ```
    /// # use taskgraph::MemOp;
    /// use taskgraph::{Action, Position};
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let body = b.block("main", "main.c", 3, &[MemOp::load(8)]);
    /// # let main = b.context("main");
    /// # b.work(main, 0, 100, |w| (0..1000).for_each(|i| w.block(body, &[0x1000 + 8 * i])));
    /// # let graph = b.build()?;
    /// # let task = graph.task("0:0".parse().unwrap())?;
    /// let mut actions = task.actions_from(Position::Access(500))?;
    /// let Some(Action::Block(block)) = actions.next()? else { panic!() };
    /// assert_eq!(block.accesses().next().unwrap().addr, 0x1000 + 8 * 500);
    /// # Ok::<(), taskgraph::Error>(())
    /// ```
    ///
    /// # Errors
    /// A damaged frame, or frame index.
    pub fn actions_from(&self, position: Position) -> Result<Actions<'g, D>> {
        let (by, mut left) = match position {
            Position::Action(n) => (By::Actions, n),
            Position::Access(n) => (By::Accesses, n),
            Position::TimeNs(ns) => (By::Actions, self.action_at(ns)),
        };
        let mut actions = self.actions()?;
        while let Some(span) = self.spans().get(actions.span) {
            match self.whole(span, by)? {
                Some(amount) if amount <= left => {
                    left -= amount;
                    actions.span += 1;
                }
                _ if actions.stop_inside(by, &mut left)? => break,
                _ => {}
            }
        }
        Ok(actions)
    }

    fn action_at(&self, ns: u64) -> u64 {
        let since = u128::from(ns.saturating_sub(self.start_ns()));
        let n = u128::from(self.action_count()) * since;
        u64::try_from(n / u128::from(self.duration_ns().max(1))).unwrap_or(u64::MAX)
    }

    /// The amount of a span, if the span is its whole frame and the index has the amount.
    fn whole(&self, span: &FrameSpan, by: By) -> Result<Option<u64>> {
        let entry = self.graph.in_file(self.graph.frame_entry(span.frame))?;
        let whole =
            |e: &crate::frame::FrameEntry| span.first_record == 0 && e.records == span.records;
        Ok(entry.filter(whole).map(|e| match by {
            By::Actions => e.actions,
            By::Accesses => e.accesses,
        }))
    }
}

impl<'g, D: AsRef<[u8]>> Actions<'g, D> {
    /// Goes into the next span, up to the point. If the point lies behind the span, skips the span and returns false.
    fn stop_inside(&mut self, by: By, left: &mut u64) -> Result<bool> {
        let graph = self.task.graph;
        let Some(span) = self.task.spans().get(self.span) else {
            return Ok(false);
        };
        let (frame, mut records) = graph.in_file(graph.frame(span))?;
        let score = graph.in_file(graph.score())?;
        self.span += 1;
        self.player.start(&frame, records.clone());
        let mut pass = Pass::new(&frame, score, by);
        let is_run = loop {
            let passed = pass.next(&mut self.player, &frame, &mut records, left);
            if !graph.in_file(passed)? {
                graph.recycle(frame);
                return Ok(false);
            }
            let (known, before) = (self.player.known(), *left);
            self.player.go_on(records.start..records.start + 1);
            let found = self.items_before(&frame, (score, by), left, u64::MAX)?;
            if let Some((items, is_run)) = found {
                self.player.know(known);
                self.player.go_on(records);
                *left = before;
                self.items_before(&frame, (score, by), left, items)?;
                break is_run;
            }
            records.start += 1;
        };
        // The point may be inside a run.
        let mut next = None;
        if is_run {
            next = graph.in_file(self.player.next(score, &frame))?;
        }
        if let Some(played) = next.as_mut().filter(|_| self.space > 0) {
            let operands = &mut self.player.operands;
            prefix(graph.info(), played, operands, self.space);
        }
        if let Some(Played::Run {
            blocks,
            strides,
            iterations,
        }) = next
        {
            let run = Running {
                blocks,
                strides,
                left: iterations,
                at: 0,
            };
            self.enter(run, *left, score, by);
        }
        self.frame = Some(frame);
        Ok(true)
    }

    /// Plays a record up to the point, or up to an item. Returns the number of items before it, and whether the point
    /// is in a run; `None` if it is behind the record.
    fn items_before(
        &mut self,
        frame: &DecodedFrame,
        (score, by): (Score<'_>, By),
        left: &mut u64,
        most: u64,
    ) -> Result<Option<(u64, bool)>> {
        let graph = self.task.graph;
        for items in 0..most {
            let Some(played) = graph.in_file(self.player.next(score, frame))? else {
                return Ok(None);
            };
            let amount = self.amount(played, score, by);
            if amount > *left {
                return Ok(Some((items, matches!(played, Played::Run { .. }))));
            }
            *left -= amount;
            self.player.leap(score, by, left);
        }
        Ok(Some((most, false)))
    }

    /// The amount that an item counts.
    fn amount(&self, played: Played<'_>, score: Score<'_>, by: By) -> u64 {
        match played {
            Played::Other(_) => u64::from(by == By::Actions),
            // This player plays them node by node.
            Played::Nest { .. } => 0,
            Played::Block(id) => self.block(id, &self.player.operands, score, by),
            Played::Run {
                blocks,
                strides,
                iterations,
            } => {
                let mut operands = self.player.operands.clone();
                match self.iteration(blocks, &operands, score, by) {
                    (each, true) => each.saturating_mul(iterations),
                    _ => (0..iterations).fold(0, |sum: u64, _| {
                        let (each, _) = self.iteration(blocks, &operands, score, by);
                        advance(&mut operands, strides);
                        sum.saturating_add(each)
                    }),
                }
            }
        }
    }

    fn block(&self, id: BlockId, operands: &[u64], score: Score<'_>, by: By) -> u64 {
        if by == By::Actions {
            return 1;
        }
        let counts = score.layout.blocks.get(id.index()).and_then(|l| l.counts);
        counts.map_or_else(
            || {
                let mut n = 0;
                BlockExec::new(self.task.graph.info(), id, operands).for_each_access(|_| n += 1);
                n
            },
            |c| c.reads + c.writes,
        )
    }

    /// What an iteration counts, and whether all others count the same.
    fn iteration(
        &self,
        blocks: &[(BlockId, u32)],
        operands: &[u64],
        score: Score<'_>,
        by: By,
    ) -> (u64, bool) {
        let (mut from, mut sum, mut same) = (0, 0, true);
        for (id, end) in blocks {
            let own = operands.get(from..*end as usize).unwrap_or(&[]);
            from = *end as usize;
            sum += self.block(*id, own, score, by);
            let layout = score.layout.blocks.get(id.index());
            same &= by == By::Actions || layout.is_some_and(|l| l.counts.is_some());
        }
        (sum, same)
    }

    /// Goes to the point within a run; the player has the operands of the run's first iteration.
    fn enter(&mut self, mut run: Running<'g>, mut left: u64, score: Score<'_>, by: By) {
        let (each, same) = self.iteration(run.blocks, &self.player.operands, score, by);
        if same && each > 0 {
            let passed = (left / each).min(run.left.saturating_sub(1));
            left -= passed * each;
            run.left -= passed;
            for (v, stride) in self.player.operands.iter_mut().zip(run.strides) {
                *v = v.wrapping_add(stride.wrapping_mul(passed));
            }
        }
        loop {
            let from = run
                .at
                .checked_sub(1)
                .map_or(0, |b| run.blocks[b].1 as usize);
            let Some(&(id, end)) = run.blocks.get(run.at) else {
                run.left -= 1;
                run.at = 0;
                advance(&mut self.player.operands, run.strides);
                if run.left == 0 {
                    break;
                }
                continue;
            };
            let own = self.player.operands.get(from..end as usize).unwrap_or(&[]);
            let amount = self.block(id, own, score, by);
            if amount > left {
                break;
            }
            left -= amount;
            run.at += 1;
        }
        self.run = Some(run).filter(|run| run.left > 0);
    }
}
