//! What a task does to the call stack of its context, in few steps: without the stack, so that it
//! can be computed for any task alone and by any process.
//!
//! A task begins in a frame that is not known. Everything from there down is left to who knows the
//! stack, as steps in their order. Invocations that begin and end within a frame are only counted,
//! by what called what from where: nothing can come between their beginning and their end, so what
//! they add to clocks and profiles are sums.

use std::sync::Arc;

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taskgraph::{
    BlockCounts, BlockId, ExecutedRow, FunctionId, Invocation, Piece, StackChange, TaskKind,
};

use super::metric::{BlockFacts, Mark, Metric};
use crate::analysis::{State, Task, state_of};

/// Number of executions of a task that are kept until its end; those of a longer task are counted
/// before.
const MOST_KEPT: u64 = 1 << 16;
/// Calling contexts within a frame that are counted together. A recursion can have very many.
const MOST_CALLS: usize = 1 << 12;
/// The number of the frame that calls are counted for, among them.
pub(super) const FRAME: u32 = u32::MAX;

/// A step.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum Step {
    /// The innermost frame executes so much,
    #[serde(rename = "r")]
    Run(u64),
    /// and so much is executed by what it calls.
    #[serde(rename = "b")]
    Below(u64),
    /// The frame that a block belongs to is the innermost one, and executes it.
    #[serde(rename = "e")]
    Enter(u32),
    /// It returns.
    #[serde(rename = "u")]
    Return,
    /// It waits for its serially executed spawns.
    #[serde(rename = "s")]
    Sync,
    /// Invocations that are over.
    #[serde(rename = "c")]
    Calls(Calls),
}

/// Invocations in the same calling context below the innermost frame.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Calls {
    /// Which of the latest steps [`Step::Calls`] in a row has the callers, from 0, or [`FRAME`].
    #[serde(rename = "f")]
    pub from: u32,
    /// The block that calls, if there is one, and the function.
    #[serde(rename = "b")]
    pub block: Option<u32>,
    #[serde(rename = "g")]
    pub function: u32,
    /// How many are over; none if the only one is not.
    #[serde(rename = "n")]
    pub count: u64,
    /// What they execute themselves, and with all below them.
    #[serde(rename = "o")]
    pub own: u64,
    #[serde(rename = "a")]
    pub all: u64,
}

/// A frame, the first one known or one of those above it.
#[derive(Debug, Default)]
struct Frame {
    function: u32,
    entered: BlockId,
    last: BlockId,
    leaving: bool,
    own: u64,
    below: u64,
    calls: u32,
    /// The calls from here that were looked up last.
    found: Option<(Option<u32>, u32, u32)>,
}

/// Blocks that are executed one after the other, with their weights.
type Few = Box<[(BlockId, u64)]>;

/// Computes the steps of tasks.
#[derive(Debug, Default)]
pub(super) struct Steps {
    facts: Arc<[BlockFacts]>,
    metric: Metric,
    /// Whether invocations may be counted.
    counted: bool,
    /// For the current task: its time, and its executions if they are kept until its end.
    cut: Cut,
    /// What of a row of blocks is executed one by one, by its number.
    rows: Vec<Option<Few>>,
    keeping: bool,
    kept: Vec<(BlockId, u64)>,
    counts: BlockCounts,
    frames: Vec<Frame>,
    calls: Vec<Calls>,
    known: FxHashMap<(u32, Option<u32>, u32), u32>,
    steps: Vec<Step>,
}

impl Steps {
    /// `each`: every invocation is a step, because it takes another time than what it executes.
    pub(super) fn new(facts: Arc<[BlockFacts]>, metric: Metric, each: bool) -> Self {
        Self {
            // Spawns that are executed before their continuation are another matter.
            counted: !each && facts.iter().all(|facts| facts.mark.is_none()),
            facts,
            metric,
            ..Self::default()
        }
    }

    /// A task begins.
    pub(super) fn begin(&mut self, task: &Task<'_>) -> Result<()> {
        let time = self.metric == Metric::Time;
        let runs = time && state_of(task) == State::Running;
        self.cut = Cut { ns: if runs { task.duration_ns() } else { 0 }, time, ..Cut::default() };
        // A block's share of the time is known only when the whole task is known.
        self.keeping = time && task.block_count() <= MOST_KEPT;
        self.kept.clear();
        self.steps.clear();
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
    pub(super) fn piece(&mut self, piece: &Piece<'_>) {
        let facts = Arc::clone(&self.facts);
        let of = |block: BlockId| facts.get(block.index());
        let plain = |block: BlockId| of(block).is_some_and(BlockFacts::is_plain);
        match piece {
            Piece::Blocks(blocks) if self.metric == Metric::Accesses => {
                for (block, accesses) in blocks.each() {
                    self.executed(&facts, block, accesses.len() as u64);
                }
            }
            Piece::Blocks(blocks) => {
                blocks.for_each_row(|row| self.row(&facts, row));
            }
            Piece::Run(run) if !run.first().all(|block| plain(block.id())) => {
                run.for_each_block(|block| {
                    let weight = of(block.id()).map_or(0, |facts| facts.weight(&block));
                    self.executed(&facts, block.id(), weight);
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
                        self.executed(&facts, block, weight);
                    }),
                    _ => {
                        let last = piece.last_block();
                        last.into_iter().for_each(|block| self.executed(&facts, block, sum));
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes a row of blocks, as few steps for each time that it is executed.
    fn row(&mut self, facts: &[BlockFacts], row: ExecutedRow<'_>) {
        let number = row.number();
        let known = number.and_then(|at| self.rows.get_mut(at)?.take());
        let steps = known.unwrap_or_else(|| in_few(facts, row.blocks()));
        // What stays in its frame may be executed at once.
        let stays = match &*steps {
            [(block, _)] => facts.get(block.index()).is_some_and(BlockFacts::is_plain),
            _ => false,
        };
        let (times, each) = if stays { (1, row.times()) } else { (row.times(), 1) };
        for _ in 0..times {
            for &(block, weight) in &*steps {
                self.executed(facts, block, weight.saturating_mul(each));
            }
        }
        if let Some(at) = number {
            if self.rows.len() <= at {
                self.rows.resize_with(at + 1, || None);
            }
            self.rows[at] = Some(steps);
        }
    }

    /// The task is over: its steps.
    pub(super) fn end(&mut self, task: &Task<'_>) -> &[Step] {
        if task.kind() == TaskKind::Work && task.block_count() > 0 {
            if self.keeping {
                let (kept, facts) = (std::mem::take(&mut self.kept), Arc::clone(&self.facts));
                let weights = kept.iter().map(|kept| kept.1);
                self.cut.total = weights.fold(0, u64::saturating_add);
                for &(block, weight) in &kept {
                    self.execute(&facts, block, weight);
                }
                self.kept = kept;
            }
            self.take();
        } else if self.cut.ns > 0 {
            // The time belongs to the frame that the task is in.
            self.steps.push(Step::Run(self.cut.ns));
        }
        self.spill();
        self.frames.clear();
        &self.steps
    }

    #[inline]
    fn executed(&mut self, facts: &[BlockFacts], block: BlockId, weight: u64) {
        if self.keeping {
            self.kept.push((block, weight));
        } else {
            self.execute(facts, block, weight);
        }
    }

    /// A block is executed. `weight` is its own, with that of the iterations of its loop that go on
    /// in the same frame.
    fn execute(&mut self, facts: &[BlockFacts], block: BlockId, weight: u64) {
        let Some(facts) = facts.get(block.index()) else {
            return;
        };
        let function = FunctionId::new(facts.function);
        let change = StackChange::of(&self.frames, function, facts.entry);
        let begins = change.enters || change.keep < self.frames.len();
        if begins {
            self.take();
            self.place(facts, block, change);
        }
        self.cut.open += weight;
        if let Some(top) = self.frames.last_mut() {
            top.last = block;
            top.leaving = facts.calls && facts.returns;
        }
        if !self.counted && facts.calls {
            if let Some(top) = self.frames.last_mut() {
                top.entered = block;
            }
            self.spill();
            // The call may be marked as a spawn, or mark the next one.
            if !begins {
                self.steps.push(Step::Enter(block.get()));
            }
        }
        if facts.mark == Some(Mark::Sync) {
            self.take();
            self.spill();
            self.steps.push(Step::Sync);
        }
        if facts.returns && !facts.calls {
            self.take();
            if self.frames.len() > 1 {
                self.pop();
            } else {
                self.spill();
                self.frames.clear();
                self.steps.push(Step::Return);
            }
        }
    }

    /// Makes the frame that a block belongs to the innermost one.
    fn place(&mut self, facts: &BlockFacts, block: BlockId, change: StackChange) {
        if !change.enters {
            while self.frames.len() > change.keep {
                self.pop();
            }
            return;
        }
        if change.called && self.counted && !self.frames.is_empty() {
            return self.push(facts, block);
        }
        self.spill();
        self.frames.clear();
        self.steps.push(Step::Enter(block.get()));
        self.frames.push(Frame::new(facts, block, FRAME));
    }

    fn push(&mut self, facts: &BlockFacts, block: BlockId) {
        if self.calls.len() >= MOST_CALLS {
            self.spill();
        }
        let Some(top) = self.frames.last_mut() else {
            return;
        };
        let call = self.facts.get(top.last.index()).is_some_and(|f| f.calls);
        let call = call.then(|| top.last.get());
        let calls = match top.found {
            Some((known, function, at)) if (known, function) == (call, facts.function) => at,
            _ => {
                let key = (top.calls, call, facts.function);
                let at = *self.known.entry(key).or_insert_with(|| {
                    self.calls.push(Calls {
                        from: top.calls,
                        block: call,
                        function: facts.function,
                        ..Calls::default()
                    });
                    u32::try_from(self.calls.len() - 1).unwrap_or(FRAME)
                });
                top.found = Some((call, facts.function, at));
                at
            }
        };
        self.frames.push(Frame::new(facts, block, calls));
    }

    fn pop(&mut self) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        let all = frame.own + frame.below;
        if let Some(calls) = self.calls.get_mut(frame.calls as usize) {
            calls.count += 1;
            calls.own += frame.own;
            calls.all += all;
        }
        if let Some(top) = self.frames.last_mut() {
            top.below += all;
        }
    }

    /// What was executed until now is the innermost frame's.
    fn take(&mut self) {
        let amount = self.cut.take();
        match self.frames.last_mut() {
            Some(top) => top.own += amount,
            None if amount > 0 => self.steps.push(Step::Run(amount)),
            None => {}
        }
    }

    /// Makes steps of everything so far. The innermost frame is the first one then.
    fn spill(&mut self) {
        let Self { frames, steps, .. } = self;
        steps.extend(self.calls.drain(..).map(Step::Calls));
        self.known.clear();
        let call = |block: BlockId| {
            let facts = self.facts.get(block.index());
            facts.filter(|facts| facts.calls).map(|_| block)
        };
        for (at, frame) in frames.iter().enumerate() {
            if at > 0 {
                steps.push(Step::Enter(frame.entered.get()));
            }
            if frame.own > 0 {
                steps.push(Step::Run(frame.own));
            }
            if frame.below > 0 {
                steps.push(Step::Below(frame.below));
            }
            if call(frame.last) != call(frame.entered) {
                steps.push(Step::Enter(frame.last.get()));
            }
        }
        if let Some(top) = frames.pop() {
            frames.clear();
            frames.push(Frame {
                function: top.function,
                entered: top.last,
                last: top.last,
                leaving: top.leaving,
                calls: FRAME,
                ..Frame::default()
            });
        }
    }
}

impl Invocation for Frame {
    fn function(&self) -> Option<FunctionId> {
        Some(FunctionId::new(self.function))
    }

    fn leaves(&self) -> bool {
        self.leaving
    }
}

impl Frame {
    fn new(facts: &BlockFacts, block: BlockId, calls: u32) -> Self {
        Self { function: facts.function, entered: block, last: block, calls, ..Self::default() }
    }
}

/// Blocks in order with their weights, but those that go on in the frame of the one before are a
/// part of that one.
fn in_few(facts: &[BlockFacts], blocks: impl Iterator<Item = BlockId>) -> Few {
    let mut few: Vec<(BlockId, u64)> = Vec::new();
    // The function that goes on if a plain block of it comes next.
    let mut open = None;
    for block in blocks {
        let Some(facts) = facts.get(block.index()) else {
            open = None;
            continue;
        };
        let weight = facts.always();
        match few.last_mut() {
            Some(last) if facts.is_plain() && open == Some(facts.function) => {
                last.1 = last.1.saturating_add(weight);
            }
            _ => few.push((block, weight)),
        }
        let stays = !facts.calls && !facts.returns && facts.mark.is_none();
        open = stays.then_some(facts.function);
    }
    few.into()
}

/// The weight of a task, which is handed out piece by piece so that the pieces add up to its time
/// exactly.
#[derive(Debug, Default)]
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
