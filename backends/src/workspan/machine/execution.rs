//! Executions of blocks: what a task adds to the frames they belong to.

use std::sync::Arc;

use anyhow::Result;
use taskgraph::{BlockId, Piece, TaskKind};

use super::super::context::{Frame, State};
use super::super::metric::{BlockFacts, Mark, Metric};
use super::Machine;
use crate::analysis::{State as Doing, Task, state_of};

/// Number of executions of a task that are kept until its end; those of a longer task are counted before.
const MOST_KEPT: u64 = 1 << 16;

impl Machine {
    /// A task begins.
    pub(super) fn begin(&mut self, task: &Task<'_>, slack: Option<u64>) -> Result<()> {
        let time = self.rules.metric == Metric::Time;
        let running = time && state_of(task) == Doing::Running;
        self.slack = slack;
        self.cut = Cut {
            ns: if running { task.duration_ns() } else { 0 },
            time,
            ..Cut::default()
        };
        // A block's share of the time is known only when the whole task is known.
        self.keeping = time && task.block_count() <= MOST_KEPT;
        self.kept.clear();
        if time && !self.keeping {
            task.count_blocks(&mut self.counts)?;
            let weight = |(block, times): (BlockId, u64)| {
                let facts = self.facts.get(block.index());
                facts.map_or(0, |facts| facts.always().saturating_mul(times))
            };
            self.cut.total = self.counts.iter().map(weight).fold(0, u64::saturating_add);
        }
        Ok(())
    }

    /// Takes a piece of what the task does.
    pub(in crate::workspan) fn piece(&mut self, piece: &Piece<'_>) {
        let Some(mut state) = self.current.take() else {
            return;
        };
        let facts = Arc::clone(&self.facts);
        let of = |block: BlockId| facts.get(block.index());
        let plain = |block: BlockId| of(block).is_some_and(BlockFacts::is_plain);
        match piece {
            Piece::Blocks(blocks) if self.rules.metric == Metric::Accesses => {
                for (block, accesses) in blocks.each() {
                    self.executed(&mut state, &facts, block, accesses.len() as u64);
                }
            }
            Piece::Blocks(blocks) => {
                for block in blocks.blocks() {
                    let weight = of(block).map_or(0, BlockFacts::always);
                    self.executed(&mut state, &facts, block, weight);
                }
            }
            Piece::Run(run) if !run.first().all(|block| plain(block.id())) => {
                run.for_each_block(|block| {
                    let weight = of(block.id()).map_or(0, |facts| facts.weight(&block));
                    self.executed(&mut state, &facts, block.id(), weight);
                });
            }
            // Executions within one frame count as one execution with the weight of all.
            Piece::Run(_) | Piece::Nest(_) => {
                let (mut all, mut sum) = (true, 0u64);
                piece.for_each_times(|block, times| {
                    all &= plain(block);
                    let one = of(block).map_or(0, BlockFacts::always);
                    sum = sum.saturating_add(one.saturating_mul(times));
                });
                match piece {
                    Piece::Nest(nest) if !all => nest.for_each_block(|block| {
                        let weight = of(block).map_or(0, BlockFacts::always);
                        self.executed(&mut state, &facts, block, weight);
                    }),
                    _ => {
                        let last = piece.last_block();
                        last.into_iter().for_each(|block| {
                            self.executed(&mut state, &facts, block, sum);
                        });
                    }
                }
            }
            _ => {}
        }
        self.current = Some(state);
    }

    /// The time of a task that executes nothing belongs to its frame; of other tasks the remaining time does.
    pub(super) fn end_of_task(&mut self, state: &mut State, task: &Task<'_>) {
        let slack = self.slack;
        if task.kind() != TaskKind::Work || task.block_count() == 0 {
            if self.cut.ns > 0 {
                self.first_frame(state, None);
                self.advance(state, self.cut.ns, slack);
            }
            return;
        }
        let kept = std::mem::take(&mut self.kept);
        if self.keeping {
            let facts = Arc::clone(&self.facts);
            let weights = kept.iter().map(|kept| kept.1);
            self.cut.total = weights.fold(0, u64::saturating_add);
            for &(block, weight) in &kept {
                self.execute(state, &facts, block, weight);
            }
        }
        self.kept = kept;
        let rest = self.cut.take();
        self.advance(state, rest, slack);
    }

    #[inline]
    fn executed(&mut self, state: &mut State, facts: &[BlockFacts], block: BlockId, weight: u64) {
        if self.keeping {
            self.kept.push((block, weight));
        } else {
            self.execute(state, facts, block, weight);
        }
    }

    /// A block is executed. `weight` is its own, with that of the iterations of its loop that go on in the same
    /// frame.
    fn execute(&mut self, state: &mut State, facts: &[BlockFacts], block: BlockId, weight: u64) {
        let slack = self.slack;
        let Some(facts) = facts.get(block.index()) else {
            return;
        };
        let stays = !facts.entry
            && state
                .frames
                .last()
                .is_some_and(|top| top.function == Some(facts.function) && !top.leaving);
        if !stays {
            let before = self.cut.take();
            self.advance(state, before, slack);
            // The first block of a created context is that of its first invocation.
            let first = self.first_frame(state, Some(facts.function));
            if !(first && facts.entry) {
                self.place(state, facts);
            }
        }
        self.cut.open += weight;
        if let Some(top) = state.frames.last_mut() {
            top.call = facts.calls.then_some(block);
            top.leaving = facts.calls && facts.returns;
            if facts.calls {
                top.spawns = std::mem::replace(&mut top.marked, false);
            }
            match facts.mark {
                Some(Mark::Spawn) => top.marked = true,
                Some(Mark::Sync) => {
                    let before = self.cut.take();
                    self.advance(state, before, slack);
                    self.sync(state);
                }
                None => {}
            }
        }
        if facts.returns && !facts.calls {
            let before = self.cut.take();
            self.advance(state, before, slack);
            self.returned(state);
        }
    }

    /// Makes the frame that a block belongs to the innermost one.
    pub(super) fn place(&mut self, state: &mut State, facts: &BlockFacts) {
        if facts.entry {
            self.push(state, Some(facts.function));
            return;
        }
        let belongs = |frame: &Frame| frame.function == Some(facts.function) && !frame.leaving;
        if state.frames.last().is_some_and(belongs) {
            return;
        }
        match state.frames.iter().rposition(belongs) {
            Some(at) => {
                while state.frames.len() > at + 1 {
                    self.pop(state);
                }
            }
            // The entry of the function was not recorded.
            None => {
                while state.frames.len() > 1 && state.frames.last().is_some_and(|top| top.leaving) {
                    self.pop(state);
                }
                if let Some(top) = state.frames.last_mut() {
                    top.call = None;
                }
                self.push(state, Some(facts.function));
            }
        }
    }

    /// The innermost frame returns. The first frame of a context stays, for code that runs in it without a recorded
    /// caller.
    pub(super) fn returned(&mut self, state: &mut State) {
        if state.frames.len() > 1 {
            self.pop(state);
        }
    }
}

/// The weight of a task, which is handed out piece by piece so that the pieces add up to its time exactly.
#[derive(Debug, Default)]
pub(super) struct Cut {
    ns: u64,
    total: u64,
    passed: u64,
    given: u64,
    open: u64,
    time: bool,
}

impl Cut {
    fn take(&mut self) -> u64 {
        let open = std::mem::take(&mut self.open);
        if !self.time {
            return open;
        }
        if self.total == 0 {
            return 0;
        }
        self.passed += open;
        let until = u128::from(self.ns) * u128::from(self.passed) / u128::from(self.total);
        let until = u64::try_from(until).unwrap_or(self.ns);
        let piece = until - self.given;
        self.given = until;
        piece
    }
}
