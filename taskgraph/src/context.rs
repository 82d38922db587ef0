//! Contexts: the sequential parts of a run.

use crate::id::{ContextId, TaskId};

/// A context: a thread, an MPI rank or an explicit task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The id of the context.
    pub id: ContextId,
    /// Number of tasks: `id:0` to `id:(task_count - 1)` exist.
    pub task_count: u32,
    /// When the context was first seen, in nanoseconds since the start of the run.
    pub first_ns: u64,
    /// When the context was last seen, in nanoseconds since the start of the run.
    pub last_ns: u64,
    /// The Create task that started the context; `None` for the first context and for contexts that
    /// no task announced.
    pub creator: Option<TaskId>,
    /// Name of the thread, or empty.
    pub name: String,
    /// [`Context::ANNOUNCED`], [`Context::JOINED`], [`Context::DETACHED`], [`Context::CUT`],
    /// [`Context::RINGS`].
    pub flags: u8,
    /// The address space of the context's tasks: their addresses have this number in front, from
    /// bit 48 on. In a merged MPI run it is the place in [`crate::RunMeta::ranks`]; otherwise it
    /// is 0.
    pub space: u16,
}

impl Context {
    /// The start of the context was recorded in another context, or it is the first context.
    pub const ANNOUNCED: u8 = 1;
    /// Another context waited for its end.
    pub const JOINED: u8 = 2;
    /// The context was detached.
    pub const DETACHED: u8 = 4;
    /// The recording stopped before the context ended.
    pub const CUT: u8 = 8;
    /// The context asked the kernel for work that is done beside the program (io_uring).
    pub const RINGS: u8 = 16;

    /// The last task of the context; `None` if it has no tasks.
    #[must_use]
    pub fn last_task(&self) -> Option<TaskId> {
        self.task_count.checked_sub(1).map(|seq| TaskId::new(self.id, seq))
    }
}
