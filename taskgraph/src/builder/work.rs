//! The actions of synthetic work tasks, and their way into frames.

use crate::action::Action;
use crate::builder::BuiltTask;
use crate::error::Result;
use crate::frame::FrameEncoder;
use crate::id::BlockId;
use crate::record::{FrameRef, FrameSpan};
use crate::writer::GraphWriter;
use contech_program::{AllocKind, SyncOp};

#[derive(Debug)]
pub(super) enum BuiltAction {
    Block(BlockId, Vec<u64>),
    Other(Action<'static>),
}

/// The actions of a work task.
#[derive(Debug, Default)]
pub struct WorkBuilder {
    pub(super) actions: Vec<BuiltAction>,
}

impl WorkBuilder {
    /// Adds an execution of a block with the operands of all its operations.
    pub fn block(&mut self, id: BlockId, operands: &[u64]) {
        self.actions.push(BuiltAction::Block(id, operands.to_vec()));
    }

    /// Adds an allocation.
    pub fn alloc(&mut self, addr: u64, size: u64, kind: AllocKind) {
        self.actions.push(BuiltAction::Other(Action::Alloc { addr, size, kind }));
    }

    /// Adds the free of an allocation.
    pub fn free(&mut self, addr: u64) {
        self.actions.push(BuiltAction::Other(Action::Free { addr }));
    }

    /// Adds the mapping of a range of addresses.
    pub fn map(&mut self, addr: u64, size: u64) {
        self.actions.push(BuiltAction::Other(Action::Map { addr, size }));
    }

    /// Adds a new life of a range of addresses.
    pub fn fresh(&mut self, addr: u64, size: u64) {
        self.actions.push(BuiltAction::Other(Action::Fresh { addr, size }));
    }

    /// Adds a synchronisation that orders nothing with other contexts.
    pub fn sync(&mut self, op: SyncOp, object: u64) {
        self.actions.push(BuiltAction::Other(Action::Sync { op, object }));
    }

    /// Adds the unmapping of a range of addresses.
    pub fn unmap(&mut self, addr: u64, size: u64) {
        self.actions.push(BuiltAction::Other(Action::Unmap { addr, size }));
    }
}

/// Encodes the actions of a context's tasks into frames and notes the spans and totals in the
/// tasks.
pub(super) fn put_actions(writer: &mut GraphWriter, tasks: &mut [BuiltTask]) -> Result<()> {
    let mut encoder = FrameEncoder::new(writer.info());
    // For each task, its span of the frame that is being encoded.
    let mut open: Vec<(usize, u32, u32)> = Vec::new();
    for at in 0..tasks.len() {
        let before = encoder.counts();
        let mut first = encoder.record_count();
        let record = &tasks[at].record;
        if record.op.may_be_action() {
            encoder.action(&Action::Sync { op: record.op, object: record.object });
        }
        for action in std::mem::take(&mut tasks[at].actions) {
            match action {
                BuiltAction::Block(id, operands) => encoder.block(id, &operands),
                BuiltAction::Other(action) => encoder.action(&action),
            }
            if encoder.is_full() {
                open.push((at, first, encoder.record_count() - first));
                close(writer, &mut encoder, &mut open, tasks)?;
                first = 0;
            }
        }
        open.push((at, first, encoder.record_count() - first));
        tasks[at].record.counts = encoder.counts().since(before);
    }
    close(writer, &mut encoder, &mut open, tasks)
}

/// Ends a frame and gives the tasks in it their spans.
fn close(
    writer: &mut GraphWriter,
    encoder: &mut FrameEncoder,
    open: &mut Vec<(usize, u32, u32)>,
    tasks: &mut [BuiltTask],
) -> Result<()> {
    let frame = match encoder.finish() {
        Some(frame) => writer.put_frame(frame)?,
        None => FrameRef::default(),
    };
    for (task, first_record, records) in open.drain(..).filter(|span| span.2 > 0) {
        tasks[task].record.frames.push(FrameSpan { frame, first_record, records });
    }
    Ok(())
}
