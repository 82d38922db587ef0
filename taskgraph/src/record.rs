//! What a writer stores per task.

use contech_program::Counts;

use crate::id::{ExecutorId, TaskId};
use crate::{SyncOp, TaskKind};

/// A frame of a graph file, as [`GraphWriter::put_frame`](crate::GraphWriter::put_frame) returned
/// it (its file offset).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameRef(pub u64);

/// A run of consecutive records within one frame. A record is one action, or one execution of a
/// path, which can have any number of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FrameSpan {
    /// The frame.
    pub frame: FrameRef,
    /// Number of records of the frame before the run.
    pub first_record: u32,
    /// Number of records in the run.
    pub records: u32,
}

impl FrameSpan {
    /// Takes over the records of a span that begins where this one ends. Returns false if the other
    /// does not.
    pub fn join(&mut self, next: &Self) -> bool {
        let end = self.first_record.checked_add(self.records);
        let all = self.records.checked_add(next.records);
        let joins = self.frame == next.frame && end == Some(next.first_record);
        self.records = all.filter(|_| joins).unwrap_or(self.records);
        joins && all.is_some()
    }
}

/// A task as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskRecord {
    /// The id of the task.
    pub id: TaskId,
    /// The thread that executed it: a number of the table that
    /// [`GraphWriter::set_executors`](crate::GraphWriter::set_executors) is given.
    pub executor: ExecutorId,
    /// The kind of the task.
    pub kind: TaskKind,
    /// The operation; [`SyncOp::None`] for work.
    pub op: SyncOp,
    /// Address of the synchronisation object, or the number of the child context of a Create or
    /// Join.
    pub object: u64,
    /// Start, nanoseconds since the start of the run.
    pub start_ns: u64,
    /// End, nanoseconds since the start of the run; not before the start.
    pub end_ns: u64,
    /// The spans of the task's actions in program order; empty if it has none.
    pub frames: Vec<FrameSpan>,
    /// What it executes and accesses.
    pub counts: Counts,
}
