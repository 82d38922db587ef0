//! Writes a graph file in one streaming pass with bounded memory. (Being written: signatures first.)
use std::path::Path;
use std::sync::Arc;

use crate::context::Context;
use crate::error::{Result, misuse};
use crate::frame::EncodedFrame;
use crate::id::TaskId;
use crate::meta::{RunMeta, Summary};
use crate::record::{FrameRef, TaskRecord};
use crate::statics::StaticInfo;

/// Writes to `<path>.tmp-<pid>` and renames in `finish`; dropping it removes the temporary file.
#[derive(Debug)]
pub struct GraphWriter {}

impl GraphWriter {
    /// Starts a graph file.
    ///
    /// # Errors
    /// The path is not writable, or the static tables are inconsistent.
    pub fn create(_path: &Path, _info: Arc<StaticInfo>) -> Result<Self> {
        Err(misuse("not written yet"))
    }

    /// Appends a frame, in any order of contexts.
    ///
    /// # Errors
    /// I/O, or a frame that was misused (wrong operand count, over the hard limit).
    pub fn put_frame(&mut self, _f: EncodedFrame) -> Result<FrameRef> {
        Err(misuse("not written yet"))
    }

    /// Appends a task, strictly in (context, seq) order, with its stored predecessors (sorted).
    ///
    /// # Errors
    /// I/O, or a task out of order.
    pub fn put_task(&mut self, _t: &TaskRecord, _dependencies: &[TaskId]) -> Result<()> {
        Err(misuse("not written yet"))
    }

    /// Appends the stored successors of a task, in (context, seq) order of `from`, only where there are any.
    ///
    /// # Errors
    /// I/O, or a task out of order.
    pub fn put_dependents(&mut self, _from: TaskId, _to: &[TaskId]) -> Result<()> {
        Err(misuse("not written yet"))
    }

    /// Appends a task to the breadth-first order.
    ///
    /// # Errors
    /// I/O, or a task before an earlier one of its context.
    pub fn put_order(&mut self, _id: TaskId) -> Result<()> {
        Err(misuse("not written yet"))
    }

    /// Completes the file and gives it its name. `contexts` are sorted by id.
    ///
    /// # Errors
    /// I/O, or counts that do not agree.
    pub fn finish(self, _contexts: Vec<Context>, _meta: RunMeta) -> Result<Summary> {
        Err(misuse("not written yet"))
    }
}
