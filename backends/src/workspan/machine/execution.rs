//! Executions of blocks: what a task adds to the frames they belong to.

use anyhow::Result;
use taskgraph::{Action, Task, TaskKind};

use super::super::context::{Frame, State};
use super::super::metric::{BlockFacts, Mark, Metric};
use super::Machine;
use crate::parallelism::{State as Doing, state_of};

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
        let mut total = 0u64;
        if self.rules.metric == Metric::Time {
            task.for_each_block(|block| {
                total += self
                    .facts
                    .get(block.id().index())
                    .map_or(0, |facts| facts.weight(block));
            })?;
        }
        let mut cut = Cut {
            ns,
            total,
            passed: 0,
            given: 0,
            open: 0,
            time: self.rules.metric == Metric::Time,
        };
        task.for_each_action(|action| {
            if let Action::Block(block) = action {
                let Some(&facts) = self.facts.get(block.id().index()) else {
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
                        self.place(state, &facts);
                    }
                }
                cut.open += facts.weight(&block);
                if let Some(top) = state.frames.last_mut() {
                    top.call = facts.calls.then(|| block.id());
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
        })?;
        let rest = cut.take();
        self.advance(state, rest, slack);
        Ok(())
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
