//! Synthetic graphs in a few lines, for tests of analyses. (Being written: signatures first.)
use crate::action::AllocKind;
use crate::error::{Result, misuse};
use crate::graph::TaskGraph;
use crate::id::{BlockId, ContextId, TaskId};
use crate::kind::SyncOp;
use crate::op::MemOp;

/// Builds a graph in memory. Each context has a clock; tasks without explicit times start and end at it.
#[derive(Debug, Default)]
pub struct GraphBuilder {}

/// The actions of a work task.
#[derive(Debug)]
pub struct WorkBuilder {}

#[allow(
    missing_docs,
    unused_variables,
    clippy::missing_errors_doc,
    reason = "skeleton"
)]
impl WorkBuilder {
    pub fn block(&mut self, id: BlockId, operands: &[u64]) {}
    pub fn alloc(&mut self, addr: u64, size: u64, kind: AllocKind) {}
    pub fn free(&mut self, addr: u64) {}
    pub fn map(&mut self, addr: u64, size: u64) {}
    pub fn unmap(&mut self, addr: u64, size: u64) {}
}

#[allow(
    missing_docs,
    unused_variables,
    clippy::missing_errors_doc,
    reason = "skeleton"
)]
impl GraphBuilder {
    pub fn new() -> Self {
        Self::default()
    }
    /// A block of a function (function and file are made on first use of the name).
    pub fn block(&mut self, function: &str, file: &str, line: u32, ops: &[MemOp]) -> BlockId {
        BlockId::new(0)
    }
    /// A context nobody creates: the first one, or an unannounced thread.
    pub fn context(&mut self, name: &str) -> ContextId {
        ContextId::new(0)
    }
    /// A work task from `start` to `end`; moves the context's clock to `end`.
    pub fn work(
        &mut self,
        context: ContextId,
        start: u64,
        end: u64,
        f: impl FnOnce(&mut WorkBuilder),
    ) -> TaskId {
        TaskId::default()
    }
    /// A Create task at the parent's clock; the child's clock starts there; edge Create -> child:0 (child:0 is made an empty work task unless `work` comes first).
    pub fn create(&mut self, parent: ContextId) -> ContextId {
        ContextId::new(0)
    }
    /// A Join task from the parent's clock to the child's clock if that is later; edge from the child's last task.
    pub fn join(&mut self, parent: ContextId, child: ContextId) -> TaskId {
        TaskId::default()
    }
    /// A Sync task of no duration at the context's clock. No edges: add them with `edge`.
    pub fn sync(&mut self, context: ContextId, object: u64, op: SyncOp) -> TaskId {
        TaskId::default()
    }
    /// A Sync task with times.
    pub fn sync_at(
        &mut self,
        context: ContextId,
        object: u64,
        op: SyncOp,
        start: u64,
        end: u64,
    ) -> TaskId {
        TaskId::default()
    }
    /// A Barrier task owned by the smallest of the contexts, with the edges of a barrier; ends at their latest clock, to which all clocks move.
    pub fn barrier(&mut self, contexts: &[ContextId], object: u64) -> TaskId {
        TaskId::default()
    }
    /// A stored edge.
    pub fn edge(&mut self, from: TaskId, to: TaskId) {}
    /// Moves a context's clock.
    pub fn clock(&mut self, context: ContextId, ns: u64) {}
    pub fn build(self) -> Result<TaskGraph<Vec<u8>>> {
        Err(misuse("not written yet"))
    }
}
