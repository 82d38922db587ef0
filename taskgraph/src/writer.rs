//! Writes a graph file in one pass with bounded memory.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::context_table::ContextTableWriter;
use crate::error::{Result, misuse};
use crate::executor::{self, Executor};
use crate::frame::EncodedFrame;
use crate::id::{ExecutorId, TaskId};
use crate::meta::{RunMeta, Summary};
use crate::page::{
    DependentsPageWriter, OrderPageWriter, PageIndexWriter, TaskPageWriter, pack_page,
};
use crate::path::{Path as ExecutionPath, PathTable};
use crate::progress::{self, Progress};
use crate::record::{FrameRef, TaskRecord};
use crate::rules::WriteRules;
use crate::sample::{CodeOf, CodeSample};
use crate::sink::Sink;
use crate::static_table;
use crate::statics::StaticInfo;
use crate::unit::{self, Tag};

/// The run metadata and the totals in the form of the file (JSON).
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MetaSection {
    pub(crate) run: RunMeta,
    pub(crate) summary: Summary,
}

/// The totals in the footer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) tasks: u64,
    pub(crate) edges: u64,
    pub(crate) frames: u64,
}

/// Writes a graph: first the frames, in any order; then the tasks by (context, sequence), their
/// successors in the same order, and the breadth-first order. The last three may be interleaved.
///
/// Pages are written as they fill, so memory does not grow with the graph, except for 16 bytes per
/// thousand tasks, about ten per frame, and a few words per context. The file has another name
/// until [`GraphWriter::finish`] renames it; dropping the writer before that removes it.
#[derive(Debug)]
pub struct GraphWriter {
    sink: Sink,
    offset: u64,
    info: Arc<StaticInfo>,
    totals: Totals,
    summary: Summary,
    rules: WriteRules,
    tasks: TaskPageWriter,
    dependents: DependentsPageWriter,
    order: OrderPageWriter,
    task_index: PageIndexWriter,
    dependents_index: PageIndexWriter,
    order_index: PageIndexWriter,
    used_paths: BTreeSet<u32>,
    executors: Vec<Executor>,
    /// How many executors tasks need.
    needed: u32,
    progress: Vec<Progress>,
    sample: CodeSample,
    /// The encoded path tables.
    paths: Option<Vec<u8>>,
}

impl GraphWriter {
    /// Starts a graph file.
    ///
    /// # Errors
    /// The path cannot be written, or the static tables are inconsistent.
    pub fn create(path: &Path, info: Arc<StaticInfo>) -> Result<Self> {
        info.validate().map_err(|e| crate::Error::from(e).in_file(path))?;
        Self::new(Sink::create(path)?, info)
    }

    /// Starts a graph in memory; [`GraphWriter::finish_in_memory`] gives its bytes.
    ///
    /// # Errors
    /// The static tables are inconsistent.
    pub fn in_memory(info: Arc<StaticInfo>) -> Result<Self> {
        info.validate()?;
        Self::new(Sink::Memory(Vec::new()), info)
    }

    fn new(sink: Sink, info: Arc<StaticInfo>) -> Result<Self> {
        let mut this = Self {
            sink,
            offset: 0,
            info,
            totals: Totals::default(),
            summary: Summary::default(),
            rules: WriteRules::default(),
            tasks: TaskPageWriter::default(),
            dependents: DependentsPageWriter::default(),
            order: OrderPageWriter::default(),
            task_index: PageIndexWriter::default(),
            dependents_index: PageIndexWriter::default(),
            order_index: PageIndexWriter::default(),
            used_paths: BTreeSet::new(),
            executors: Vec::new(),
            needed: 0,
            progress: Vec::new(),
            sample: CodeSample { every: 1, frames: Vec::new() },
            paths: None,
        };
        this.write(&unit::file_header(unit::VERSION))?;
        Ok(this)
    }

    /// Lets a test write what [`TaskGraph::verify`](crate::TaskGraph::verify) must find.
    #[cfg(test)]
    pub(crate) fn without_rules(mut self) -> Self {
        self.rules.off = true;
        self
    }

    /// The static tables, for encoders.
    #[must_use]
    pub fn info(&self) -> Arc<StaticInfo> {
        Arc::clone(&self.info)
    }

    /// Replaces the static tables: a program may load modules while it runs, so a trace names the
    /// last ones late. Frames that were encoded with tables with which these begin can be decoded.
    ///
    /// # Errors
    /// The new tables are inconsistent.
    pub fn set_info(&mut self, info: Arc<StaticInfo>) -> Result<()> {
        info.validate()?;
        self.info = info;
        Ok(())
    }

    /// Describes the paths in the frames written so far. It must follow the last frame that has
    /// paths. `define` describes those that the table does not know yet.
    ///
    /// # Errors
    /// A path is in the frames and not described, or the tables are over 256 MiB.
    pub fn set_paths(
        &mut self,
        table: &PathTable,
        define: impl Fn(u32) -> Option<ExecutionPath>,
    ) -> Result<()> {
        self.paths = Some(table.encode(self.used_paths.iter().copied(), define)?);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<u64> {
        let at = self.offset;
        self.sink.write(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(at)
    }

    fn write_unit(&mut self, tag: Tag, payload: &[u8]) -> Result<u64> {
        let at = self.write(&unit::header(tag, payload)?)?;
        self.write(payload)?;
        Ok(at)
    }

    /// Writes a page, if there is one.
    fn put_page(&mut self, tag: Tag, page: Option<(TaskId, Vec<u8>)>) -> Result<()> {
        let Some((first, raw)) = page else {
            return Ok(());
        };
        let at = self.write_unit(tag, &pack_page(&raw)?)?;
        let index = match tag {
            Tag::TaskPage => &mut self.task_index,
            Tag::DependentsPage => &mut self.dependents_index,
            _ => &mut self.order_index,
        };
        index.push(first, at);
        Ok(())
    }

    /// Appends a frame. Frames of different threads may come in any order.
    ///
    /// # Errors
    /// I/O; or the frame was made by calls with blocks or operand counts that do not fit the static
    /// tables, or was not finished in time.
    #[allow(clippy::needless_pass_by_value, reason = "a frame belongs to one place of one file")]
    pub fn put_frame(&mut self, frame: EncodedFrame) -> Result<FrameRef> {
        if let Some(fault) = &frame.fault {
            return Err(misuse(fault));
        }
        if !frame.paths.is_empty() {
            self.used_paths.extend(&frame.paths);
            self.paths = None;
        }
        self.totals.frames += 1;
        let place = self.write(&frame.bytes).map(FrameRef)?;
        if frame.code != CodeOf::Events {
            self.sample.frames.push((place, frame.code));
        }
        Ok(place)
    }

    /// Appends a task with its stored predecessors, sorted and without the task before it in its
    /// context. Tasks come strictly by (context, sequence), and sequences start at 0 without gaps.
    ///
    /// # Errors
    /// I/O; or a task is out of order.
    pub fn put_task(&mut self, task: &TaskRecord, dependencies: &[TaskId]) -> Result<()> {
        self.rules.task(task.id, dependencies)?;
        self.needed = self.needed.max(task.executor.get().saturating_add(1));
        self.tasks.push(task, dependencies);
        self.totals.tasks += 1;
        self.totals.edges += dependencies.len() as u64;
        let s = &mut self.summary;
        s.tasks.add(task.kind);
        s.add(&task.counts, task.end_ns);
        let full = self.tasks.is_full().then(|| self.tasks.finish());
        self.put_page(Tag::TaskPage, full.flatten())
    }

    /// Appends the stored successors of a task, sorted. They are the reverse of what
    /// [`GraphWriter::put_task`] is given. Tasks come strictly by (context, sequence); those
    /// without stored successors are left out.
    ///
    /// # Errors
    /// I/O.
    pub fn put_dependents(&mut self, from: TaskId, to: &[TaskId]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        self.rules.dependents(from, to);
        self.dependents.push(from, to);
        let full = self.dependents.is_full().then(|| self.dependents.finish());
        self.put_page(Tag::DependentsPage, full.flatten())
    }

    /// Appends a task to the breadth-first order, which must be topological (program order and
    /// stored edges; [`TaskGraph::verify`](crate::TaskGraph::verify) checks it).
    ///
    /// # Errors
    /// I/O.
    pub fn put_order(&mut self, id: TaskId) -> Result<()> {
        self.rules.order();
        self.order.push(id);
        let full = self.order.is_full().then(|| self.order.finish());
        self.put_page(Tag::OrderPage, full.flatten())
    }

    /// Says which executors there are: their ids are their places, 0, 1, 2, ... Without this call,
    /// nothing is known of the executors that tasks have.
    pub fn set_executors(&mut self, executors: Vec<Executor>) {
        self.executors = executors;
    }

    /// Says how far the executors had come at some moments, in any order.
    pub fn set_progress(&mut self, mut progress: Vec<Progress>) {
        progress.sort_unstable_by_key(|one| (one.executor, one.at_ns, one.ran_ns));
        self.progress = progress;
    }

    /// Says that one part of the code in so many was drawn, and that frames have their [`CodeOf`].
    pub fn set_sample(&mut self, every: u32) {
        self.sample.every = every;
    }

    /// Completes the file and gives it its name. `contexts` must be sorted by id and have the
    /// number of tasks that were written.
    ///
    /// # Errors
    /// I/O; or the tasks, successors, order and contexts do not agree in number.
    pub fn finish(
        mut self,
        contexts: impl IntoIterator<Item = Context>,
        meta: RunMeta,
    ) -> Result<Summary> {
        let summary = self.complete(contexts, meta)?;
        self.sink.finish()?;
        Ok(summary)
    }

    /// [`GraphWriter::finish`] for a writer made by [`GraphWriter::in_memory`]: the bytes of the
    /// graph.
    ///
    /// # Errors
    /// As [`GraphWriter::finish`].
    pub fn finish_in_memory(
        mut self,
        contexts: impl IntoIterator<Item = Context>,
        meta: RunMeta,
    ) -> Result<Vec<u8>> {
        self.complete(contexts, meta)?;
        self.sink.finish()
    }

    fn complete(
        &mut self,
        contexts: impl IntoIterator<Item = Context>,
        run: RunMeta,
    ) -> Result<Summary> {
        let mut executors = std::mem::take(&mut self.executors);
        if executors.is_empty() {
            let unknown = |number| Executor { id: ExecutorId::new(number), ..Executor::default() };
            executors.extend((0..self.needed).map(unknown));
        }
        let mut table = ContextTableWriter::default();
        for context in contexts {
            self.rules.context(context.task_count);
            table.push(context)?;
        }
        self.rules.complete()?;
        let rest = [
            (Tag::TaskPage, self.tasks.finish()),
            (Tag::DependentsPage, self.dependents.finish()),
            (Tag::OrderPage, self.order.finish()),
        ];
        rest.into_iter().try_for_each(|(tag, page)| self.put_page(tag, page))?;
        self.summary.contexts = table.contexts;
        self.summary.edges = self.totals.edges;
        self.summary.accesses = self.summary.reads.wrapping_add(self.summary.writes);
        self.summary.functions = self.info.functions.len() as u64;
        let table = table.finish()?;
        let meta = MetaSection { run, summary: self.summary };
        let meta = serde_json::to_vec(&meta).map_err(|e| misuse(format!("metadata: {e}")))?;
        let info = static_table::encode(&self.info)?;
        if !self.used_paths.is_empty() && self.paths.is_none() {
            return Err(misuse("frames hold paths, and set_paths was not called after them"));
        }
        let paths = self.paths.take().map(|payload| (Tag::Paths, payload));
        let sections = [
            (Tag::TaskIndex, self.task_index.bytes().to_vec()),
            (Tag::DependentsIndex, self.dependents_index.bytes().to_vec()),
            (Tag::OrderIndex, self.order_index.bytes().to_vec()),
            (Tag::Contexts, table),
            (Tag::Executors, executor::encode(&executors)),
            (Tag::Info, info),
            (Tag::Meta, meta),
        ];
        let mut footer = Vec::new();
        for total in [self.totals.tasks, self.totals.edges, self.totals.frames] {
            footer.extend_from_slice(&total.to_le_bytes());
        }
        let progress = progress::encode(&std::mem::take(&mut self.progress));
        let progress = (!progress.is_empty()).then_some((Tag::Progress, progress));
        let sample = (self.sample.every > 1).then(|| (Tag::Sample, self.sample.encode()));
        let sections = sections.into_iter().chain(paths).chain(progress);
        for (tag, payload) in sections.chain(sample) {
            let at = self.write_unit(tag, &payload)?;
            footer.extend_from_slice(&(tag as u32).to_le_bytes());
            footer.extend_from_slice(&at.to_le_bytes());
        }
        let at = self.write_unit(Tag::Footer, &footer)?;
        self.write(&unit::trailer(at))?;
        Ok(self.summary)
    }
}
