//! Tasks. (Being written: signatures first.)
use crate::action::{Action, BlockExec};
use crate::error::{Result, misuse};
use crate::graph::TaskGraph;
use crate::id::TaskId;
use crate::kind::{SyncOp, TaskKind};
use crate::op::Access;
use crate::record::TaskRecord;

/// A task of a graph. Cheap to hold; its actions are decoded only when asked for.
#[derive(Debug)]
pub struct Task<'g, D> {
    graph: &'g TaskGraph<D>,
    record: TaskRecord,
}

#[allow(missing_docs, reason = "skeleton")]
impl<'g, D: AsRef<[u8]>> Task<'g, D> {
    pub fn id(&self) -> TaskId {
        self.record.id
    }
    pub fn kind(&self) -> TaskKind {
        self.record.kind
    }
    pub fn op(&self) -> SyncOp {
        self.record.op
    }
    pub fn object(&self) -> u64 {
        self.record.object
    }
    pub fn start_ns(&self) -> u64 {
        self.record.start_ns
    }
    pub fn end_ns(&self) -> u64 {
        self.record.end_ns
    }
    pub fn duration_ns(&self) -> u64 {
        self.end_ns() - self.start_ns()
    }
    pub fn block_count(&self) -> u64 {
        self.record.blocks
    }
    pub fn read_count(&self) -> u64 {
        self.record.reads
    }
    pub fn write_count(&self) -> u64 {
        self.record.writes
    }
    pub fn access_count(&self) -> u64 {
        self.record.reads + self.record.writes
    }
    pub fn bytes_accessed(&self) -> u64 {
        self.record.bytes
    }
    pub fn record(&self) -> TaskRecord {
        self.record.clone()
    }
    /// Stored edges and the program-order one, sorted.
    pub fn predecessors(&self) -> Result<Vec<TaskId>> {
        Err(misuse("not written yet"))
    }
    /// Stored edges and the program-order one, sorted.
    pub fn successors(&self) -> Result<Vec<TaskId>> {
        Err(misuse("not written yet"))
    }
    /// Stored incoming edges only, sorted.
    pub fn dependencies(&self) -> Result<Vec<TaskId>> {
        Err(misuse("not written yet"))
    }
    /// Stored outgoing edges only, sorted.
    pub fn dependents(&self) -> Result<Vec<TaskId>> {
        Err(misuse("not written yet"))
    }
    /// `while let Some(action) = actions.next()? { .. }`
    pub fn actions(&self) -> Result<Actions<'g, D>> {
        Ok(Actions { graph: self.graph })
    }
    pub fn for_each_action(&self, _f: impl FnMut(Action<'_>)) -> Result<()> {
        Err(misuse("not written yet"))
    }
    pub fn for_each_block(&self, _f: impl FnMut(&BlockExec<'_>)) -> Result<()> {
        Err(misuse("not written yet"))
    }
    pub fn for_each_access(&self, _f: impl FnMut(Access)) -> Result<()> {
        Err(misuse("not written yet"))
    }
}

/// The actions of a task, decoded frame by frame.
#[derive(Debug)]
#[allow(dead_code, reason = "skeleton")]
pub struct Actions<'g, D> {
    graph: &'g TaskGraph<D>,
}

impl<D: AsRef<[u8]>> Actions<'_, D> {
    /// The next action.
    ///
    /// # Errors
    /// A damaged frame.
    #[allow(
        clippy::should_implement_trait,
        reason = "lends from the decoded frame, so it cannot be an Iterator"
    )]
    pub fn next(&mut self) -> Result<Option<Action<'_>>> {
        Err(misuse("not written yet"))
    }
}
