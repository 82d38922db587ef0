//! What the search for the order must know of all tasks, on a tape.

use std::sync::Arc;

use taskgraph::{ContextId, TaskId};

use crate::error::{Error, Result};
use crate::spill::Spill;
use crate::tape::{Tape, TapeReader};
use crate::varint::{get, get32, put};

/// The start and the dependencies of all tasks, by (context, seq).
#[derive(Debug)]
pub(crate) struct Skeleton {
    tape: Tape,
    parts: Vec<ContextTasks>,
    previous_start: u64,
}

/// The tasks of one context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContextTasks {
    pub(crate) context: ContextId,
    pub(crate) tasks: u32,
    pub(super) from: u64,
}

impl Skeleton {
    pub(crate) fn new(spill: &Arc<Spill>, budget: usize) -> Self {
        Skeleton { tape: Tape::new(spill, budget), parts: Vec::new(), previous_start: 0 }
    }

    /// Appends the task that is next by (context, seq).
    pub(crate) fn push(&mut self, id: TaskId, start: u64, dependencies: &[TaskId]) -> Result<()> {
        if id.seq == 0 {
            let at = self.tape.len();
            self.parts.push(ContextTasks { context: id.context, tasks: 0, from: at });
            self.previous_start = 0;
        }
        let delta = start.saturating_sub(self.previous_start);
        self.previous_start = start;
        self.tape.append(|out| {
            put(out, delta);
            put(out, dependencies.len() as u64);
            for d in dependencies {
                put(out, d.context.get().into());
                put(out, d.seq.into());
            }
        })?;
        if let Some(part) = self.parts.last_mut() {
            part.tasks += 1;
        }
        Ok(())
    }

    pub(super) fn parts(&self) -> &[ContextTasks] {
        &self.parts
    }

    /// The tasks of all contexts, without the tape.
    pub(crate) fn into_parts(self) -> Vec<ContextTasks> {
        self.parts
    }

    /// Reads tasks of the `i`-th context from a place on the tape; `start` is the start of the task
    /// before that place.
    pub(super) fn read(&self, i: usize, from: u64, start: u64) -> Cursor {
        let end = self.parts.get(i + 1).map_or(self.tape.len(), |p| p.from);
        Cursor { reader: TapeReader::new(from, end), start, ..Cursor::default() }
    }

    /// The index of a context when contexts are sorted by number.
    pub(super) fn index(&self, context: ContextId) -> Option<usize> {
        match self.parts.get(context.index()) {
            Some(part) if part.context == context => Some(context.index()),
            _ => self.parts.binary_search_by_key(&context, |p| p.context).ok(),
        }
    }

    /// Reads the dependencies of all tasks. The starts are wrong from the second context on.
    pub(crate) fn read_all(&self) -> Cursor {
        Cursor { reader: TapeReader::new(0, self.tape.len()), ..Cursor::default() }
    }
}

/// A reading position on the tape.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    reader: TapeReader,
    pub(super) start: u64,
    /// Place on the tape of the current task, and the start of the task before.
    pub(super) at: u64,
    pub(super) start_before: u64,
    pub(crate) dependencies: Vec<TaskId>,
}

impl Cursor {
    /// Reads the next task. Returns false at the end.
    pub(crate) fn next(&mut self, skeleton: &Skeleton, window: usize) -> Result<bool> {
        const NUMBER: usize = 10;
        if self.reader.is_at_end() {
            return Ok(false);
        }
        (self.at, self.start_before) = (self.reader.position(), self.start);
        self.reader.fill(&skeleton.tape, 2 * NUMBER, window)?;
        let (bytes, at) = self.reader.parts();
        self.start = self.start.wrapping_add(get(bytes, at)?);
        let n = usize::try_from(get(bytes, at)?).map_err(|_| Error::internal("dependencies"))?;
        self.dependencies.clear();
        if n > 0 {
            self.reader.fill(&skeleton.tape, n * NUMBER, window)?;
            let (bytes, at) = self.reader.parts();
            for _ in 0..n {
                let context = ContextId::new(get32(bytes, at)?);
                self.dependencies.push(TaskId::new(context, get32(bytes, at)?));
            }
        }
        Ok(true)
    }
}
