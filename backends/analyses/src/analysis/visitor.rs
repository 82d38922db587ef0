//! An analysis as the driver and the orders of reading see it.

use anyhow::Result;
use taskgraph::{Batch, BlockCounts, Piece};

use super::{Graph, Moment, Order, Reads, Task};

/// What the driver knows of a [`Part`](super::Part). What fails, fails with the error of the analysis.
pub trait Visitor: Send {
    /// The order it needs.
    fn order(&self) -> Order;
    /// What it reads of tasks.
    fn reads(&self) -> Reads;
    /// Whether it wants the blocks of a task counted.
    fn counts(&self, task: &Task<'_>) -> bool;
    /// Whether it wants synchronisation that is no task.
    fn synchronisation(&self) -> bool;
    /// Prepares for the tasks.
    fn prepare(&mut self, graph: &Graph) -> Result<()>;
    /// A task of the context at this position begins.
    fn task(&mut self, context: u32, task: &Task<'_>) -> Result<()>;
    /// A batch of the task's contents, from a moment on.
    fn batch(&mut self, first: Moment, batch: &Batch<'_>) -> Result<()>;
    /// A piece of a context's actions, in the order of time.
    fn piece(&mut self, at: &Moment, piece: &Piece<'_>) -> Result<()>;
    /// The task is over.
    fn done(&mut self, context: u32, task: &Task<'_>, counts: &BlockCounts) -> Result<()>;
    /// The last task of a context is over.
    fn context_ended(&mut self, context: u32);
    /// The last task of an executor is over. Said in passes by time, and to analyses by executor.
    fn executor_ended(&mut self, executor: u32);
    /// The pass is over.
    fn end(&mut self);
}
