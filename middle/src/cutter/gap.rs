//! Gaps of a sample: what a context does in one is a pause.

use taskgraph::{LEFT_OUT, SyncOp, TaskKind};

use super::Cutter;
use crate::draft::Draft;
use crate::error::Result;

impl Cutter {
    /// A gap begins for a context, unless one has begun.
    pub(super) fn begin_gap(&mut self, context: u32, at: u64) -> Result<()> {
        if self.contexts.entry(context).0.gap.is_some() {
            return Ok(());
        }
        self.cut_at_gate(context, at)?;
        self.end_work(context, at, self.keeps_empty())?;
        let (state, _) = self.contexts.entry(context);
        state.gap = Some(state.clock.max(at));
        Ok(())
    }

    /// The gap ends in which a context is, if it is in one. What it executed there is forgotten.
    pub(super) fn end_gap(&mut self, context: u32, at: u64) -> Result<()> {
        let Some(start) = self.contexts.entry(context).0.gap.take() else {
            return Ok(());
        };
        self.next_place(context)?;
        let (state, _) = self.contexts.entry(context);
        let end = at.max(start);
        let draft = Draft {
            kind: TaskKind::Sync,
            op: SyncOp::Delay,
            object: LEFT_OUT,
            executor: state.executor,
            start,
            end,
            ..Draft::default()
        };
        (state.open, state.gate) = Default::default();
        (state.clock, state.shift) = (end, 0);
        let writer = &mut state.writer;
        self.logs.append(context, |out| writer.put_sync(out, &draft, None))
    }

    /// The context at hand is at a position.
    pub(super) fn at_position(&mut self, at: u64) -> Result<()> {
        let context = self.streams.context;
        let here = self.gaps.any() && self.streams.holding.is_none();
        if !here || self.contexts.get_mut(context).is_none_or(|state| state.end_seen) {
            return Ok(());
        }
        match self.gaps.have(at) {
            true => self.begin_gap(context, at),
            false => self.end_gap(context, at),
        }
    }
}
