//! The reader. (Being written: signatures first.)
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::error::{Result, misuse};
use crate::id::{ContextId, TaskId};
use crate::meta::{RunMeta, Summary};
use crate::statics::StaticInfo;
use crate::task::Task;

/// A task graph over the bytes of its file (a mapping, a `Vec<u8>`, ...). Sync: share it between threads.
#[derive(Debug)]
pub struct TaskGraph<D> {
    data: D,
    name: Option<PathBuf>,
    info: StaticInfo,
    meta: RunMeta,
    summary: Summary,
}

/// What `verify` counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Tasks.
    pub tasks: u64,
    /// Stored edges.
    pub edges: u64,
    /// Frames.
    pub frames: u64,
    /// Block executions.
    pub blocks: u64,
    /// Accesses.
    pub accesses: u64,
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Opens a graph; O(page index).
    ///
    /// # Errors
    /// Not a graph, newer version, cut off, damaged.
    pub fn from_bytes(_data: D) -> Result<Self> {
        Err(misuse("not written yet"))
    }

    /// Names the file in errors.
    #[must_use]
    pub fn named(mut self, file: &Path) -> Self {
        self.name = Some(file.to_owned());
        self
    }

    /// The bytes it reads.
    pub fn bytes(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// Static program tables.
    pub fn info(&self) -> &StaticInfo {
        &self.info
    }

    /// Facts about the run.
    pub fn meta(&self) -> &RunMeta {
        &self.meta
    }

    /// Totals.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Number of contexts.
    pub fn context_count(&self) -> usize {
        0
    }

    /// All contexts, by ascending id.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        std::iter::empty()
    }

    /// One context.
    pub fn context(&self, _id: ContextId) -> Option<Context> {
        None
    }

    /// Any task by id.
    ///
    /// # Errors
    /// No such task, or damage.
    pub fn task(&self, _id: TaskId) -> Result<Task<'_, D>> {
        Err(misuse("not written yet"))
    }

    /// All tasks in breadth-first order, ties by start time: a topological order (contech.txt, section 4.2).
    pub fn tasks(&self) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        std::iter::empty()
    }

    /// The tasks of a context in program order.
    pub fn tasks_of(&self, _context: ContextId) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        std::iter::empty()
    }

    /// Runs `f` on every context in parallel (rayon); results in order of context id.
    ///
    /// # Errors
    /// The first error in order of context id.
    pub fn par_contexts<R: Send>(&self, f: impl Fn(Context) -> Result<R> + Sync) -> Result<Vec<R>>
    where
        D: Sync,
    {
        self.contexts().map(f).collect()
    }

    /// Checks everything; O(file).
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn verify(&self) -> Result<Verified> {
        Err(misuse("not written yet"))
    }
}
