//! Executions of blocks: what a task adds to the frames they belong to.

use std::rc::Rc;

use anyhow::Result;
use taskgraph::{Action, BlockExec, BlockId, Compact, Task, TaskKind};

use super::super::context::{Frame, State};
use super::super::metric::{BlockFacts, Mark, Metric};
use super::Machine;
use crate::parallelism::{State as Doing, state_of};

/// Executions of blocks of a task that are kept until its last one; those of a longer task are decoded twice.
const MOST_KEPT: u64 = 1 << 16;

impl Machine<'_> {
    pub(super) fn run<D: AsRef<[u8]>>(
        &mut self,
        state: &mut State,
        task: &Task<'_, D>,
        slack: Option<u64>,
    ) -> Result<()> {
        let running = state_of(task) == Doing::Running;
        let ns = match self.rules.metric {
            Metric::Time if running => task.duration_ns(),
            _ => 0,
        };
        if task.kind() != TaskKind::Work || task.block_count() == 0 {
            if ns > 0 {
                self.first_frame(state, None);
                self.advance(state, ns, slack);
            }
            return Ok(());
        }
        let facts = Rc::clone(&self.facts);
        let mut cut = Cut {
            ns,
            total: 0,
            passed: 0,
            given: 0,
            open: 0,
            time: self.rules.metric == Metric::Time,
        };
        if !cut.time {
            executions(task, &facts, |block, weight| {
                self.execute(state, &mut cut, &facts, block, weight, slack);
            })?;
        } else if task.block_count() <= MOST_KEPT {
            // What a block's share of the time is shows at the end of the task.
            let mut kept = std::mem::take(&mut self.kept);
            kept.clear();
            executions(task, &facts, |block, weight| {
                cut.total = cut.total.saturating_add(weight);
                kept.push((block, weight));
            })?;
            for &(block, weight) in &kept {
                self.execute(state, &mut cut, &facts, block, weight, slack);
            }
            self.kept = kept;
        } else {
            executions(task, &facts, |_, weight| {
                cut.total = cut.total.saturating_add(weight);
            })?;
            executions(task, &facts, |block, weight| {
                self.execute(state, &mut cut, &facts, block, weight, slack);
            })?;
        }
        let rest = cut.take();
        self.advance(state, rest, slack);
        Ok(())
    }

    /// A block is executed; `weight` is its own, and that of the iterations of its loop that go on in the same frame.
    fn execute(
        &mut self,
        state: &mut State,
        cut: &mut Cut,
        facts: &[BlockFacts],
        block: BlockId,
        weight: u64,
        slack: Option<u64>,
    ) {
        let Some(facts) = facts.get(block.index()) else {
            return;
        };
        let stays = !facts.entry
            && state
                .frames
                .last()
                .is_some_and(|top| top.function == Some(facts.function) && !top.leaving);
        if !stays {
            let before = cut.take();
            self.advance(state, before, slack);
            // The first block of a created context is that of its first invocation.
            let first = self.first_frame(state, Some(facts.function));
            if !(first && facts.entry) {
                self.place(state, facts);
            }
        }
        cut.open += weight;
        if let Some(top) = state.frames.last_mut() {
            top.call = facts.calls.then_some(block);
            top.leaving = facts.calls && facts.returns;
            if facts.calls {
                top.spawns = std::mem::replace(&mut top.marked, false);
            }
            match facts.mark {
                Some(Mark::Spawn) => top.marked = true,
                Some(Mark::Sync) => {
                    let before = cut.take();
                    self.advance(state, before, slack);
                    self.sync(state);
                }
                None => {}
            }
        }
        if facts.returns && !facts.calls {
            let before = cut.take();
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
            // Its entry was not recorded.
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

    /// The innermost frame returns; the first of a context stays for what runs in it without a recorded caller.
    pub(super) fn returned(&mut self, state: &mut State) {
        if state.frames.len() > 1 {
            self.pop(state);
        }
    }
}

/// Calls `each` with the blocks a task executes and their weights, in order. The iterations of an affine loop, which stay
/// in one frame, are one execution of its blocks, of which the last weighs what all further ones do, too.
fn executions<D: AsRef<[u8]>>(
    task: &Task<'_, D>,
    facts: &[BlockFacts],
    mut each: impl FnMut(BlockId, u64),
) -> Result<()> {
    let of = |block: BlockId| facts.get(block.index());
    let weight = |block: &BlockExec<'_>| of(block.id()).map_or(0, |facts| facts.weight(block));
    task.for_each_compact(|item| match item {
        Compact::Action(Action::Block(block)) => each(block.id(), weight(&block)),
        Compact::Run(run) => {
            let plain = |block: BlockExec<'_>| of(block.id()).is_some_and(BlockFacts::is_plain);
            if !run.first().all(plain) {
                return run.for_each_block(|block| each(block.id(), weight(&block)));
            }
            let one: u64 = run.first().map(|block| weight(&block)).sum();
            let mut others = one.saturating_mul(run.iterations().saturating_sub(1));
            let mut blocks = run.first().peekable();
            while let Some(block) = blocks.next() {
                let more = if blocks.peek().is_none() {
                    std::mem::take(&mut others)
                } else {
                    0
                };
                each(block.id(), weight(&block).saturating_add(more));
            }
        }
        _ => {}
    })?;
    Ok(())
}

/// The weight of a task, handed out piece by piece: the pieces add up to its time exactly.
#[derive(Debug)]
struct Cut {
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
