//! The reader: a graph over bytes, and how to find any part of it.

mod frames;
mod open;
mod pages;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rayon::prelude::*;

use crate::cache::Cache;
use crate::context::Context;
use crate::context_table::ContextTable;
use crate::error::{ErrorKind, Result};
use crate::executor::{self, Executor};
use crate::frame::{DecodedFrame, FrameDecoder, Layout, Templates};
use crate::id::{ContextId, ExecutorId, TaskId};
use crate::meta::{RunMeta, Summary};
use crate::page::{DependentsPage, TaskPage};
use crate::path::PathSet;
use crate::progress::{self, Progress};
use crate::sample::CodeSample;
use crate::statics::StaticInfo;
use crate::writer::Totals;

/// Contexts whose last page is at hand.
const HINTS: usize = 64;

/// A task graph over the bytes of its file: a mapping ([`map`](crate::map)), a `Vec<u8>`, or any
/// other type that gives bytes.
///
/// Opening reads the static tables and the metadata and checks the page indices. Everything else is
/// found, checked and decoded on demand. The graph is `Sync` (if `D` is), so threads can share a
/// reference. Caches keep decoded pages and frames and are bounded by about 128 MiB.
#[derive(Debug)]
pub struct TaskGraph<D> {
    data: D,
    file: Option<PathBuf>,
    info: Arc<StaticInfo>,
    layout: Arc<Layout>,
    meta: RunMeta,
    summary: Summary,
    pub(crate) totals: Totals,
    pub(crate) footer: u64,
    task_index: Range<usize>,
    dependents_index: Range<usize>,
    order_index: Range<usize>,
    contexts: ContextTable,
    executors: Range<usize>,
    progress: Option<Range<usize>>,
    sample: Option<CodeSample>,
    /// Page of the task looked for last, by context modulo their number.
    hints: [AtomicUsize; HINTS],
    task_pages: Cache<TaskPage>,
    dependents_pages: Cache<DependentsPage>,
    frames: Cache<DecodedFrame>,
    path_tables: Option<Range<usize>>,
    /// The paths, decoded at their first use.
    paths: OnceLock<std::result::Result<Arc<PathSet>, String>>,
    /// The templates, made at their first use.
    templates: OnceLock<Templates>,
    decoders: Mutex<Vec<FrameDecoder>>,
    spares: Mutex<Vec<DecodedFrame>>,
    /// Frames of which parts were decoded last, by their places modulo the number of entries.
    parts: Mutex<[frames::PartlyDecoded; 64]>,
    /// Frames decoded so far.
    decoded: AtomicU64,
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Names the file in the errors of this graph, as [`map`](crate::map) does.
    #[must_use]
    pub fn named(mut self, file: &Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// The version of the graph's format.
    pub fn version(&self) -> u32 {
        let field = self.bytes().get(8..).and_then(|b| b.first_chunk::<4>());
        field.map_or(0, |b| u32::from_le_bytes(*b))
    }

    /// The bytes of the graph.
    pub fn bytes(&self) -> &[u8] {
        self.data.as_ref()
    }

    /// The static tables of the program.
    pub fn info(&self) -> &StaticInfo {
        &self.info
    }

    /// The same, for who needs them for longer than the graph is borrowed.
    pub fn shared_info(&self) -> Arc<StaticInfo> {
        Arc::clone(&self.info)
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
        self.contexts.len()
    }

    /// All contexts by ascending id, read as the iterator advances.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        (0..self.context_count()).filter_map(|at| self.contexts.get(at))
    }

    /// One context; `None` when the graph has none with this id.
    pub fn context(&self, id: ContextId) -> Option<Context> {
        self.contexts.get(self.contexts.find(id)?)
    }

    /// Number of tasks of a context; 0 if there is no such context.
    #[must_use]
    pub fn task_count(&self, id: ContextId) -> u32 {
        let at = self.contexts.find(id);
        at.map_or(0, |at| self.contexts.task_count(at))
    }

    /// Number of executors, whose ids are the numbers below it.
    pub fn executor_count(&self) -> usize {
        self.executor_records().len()
    }

    /// All executors by ascending id.
    pub fn executors(&self) -> impl Iterator<Item = Executor> + '_ {
        let records = self.executor_records();
        (0..).zip(records).map(|(id, record)| executor::read(id, record))
    }

    /// One executor; `None` when the graph has none with this id.
    pub fn executor(&self, id: ExecutorId) -> Option<Executor> {
        Some(executor::read(id.get(), self.executor_records().get(id.index())?))
    }

    /// They were checked when the graph was opened.
    fn executor_records(&self) -> &[[u8; executor::RECORD]] {
        executor::records(self.section(&self.executors)).unwrap_or(&[])
    }

    /// How far the executors had come at some moments, by ascending executor and moment. There are
    /// about a thousand a second for each, fewer in long runs, and none in graphs of traces that
    /// have none.
    pub fn progress(&self) -> impl Iterator<Item = Progress> + '_ {
        progress::all(self.progress_table()).into_iter().flatten()
    }

    /// What the graph has of the code, if that is a sample.
    pub fn sample(&self) -> Option<&CodeSample> {
        self.sample.as_ref()
    }

    fn progress_table(&self) -> &[u8] {
        self.progress.as_ref().map_or(&[], |table| self.section(table))
    }

    /// The number in front of the addresses of a context's tasks.
    pub(crate) fn space_of(&self, id: ContextId) -> u16 {
        let at = self.contexts.find(id);
        at.map_or(0, |at| self.contexts.space(at))
    }

    /// The page that a task is in, and its place in the page.
    pub(crate) fn place(&self, id: TaskId) -> Result<(Arc<TaskPage>, usize)> {
        let missing = || ErrorKind::NoSuchTask { id };
        let index = self.task_index()?;
        // Who looks for one task of a context looks for its neighbours next.
        let hint = &self.hints[id.context.index() % HINTS];
        let hinted = hint.load(Ordering::Relaxed);
        let number = match index.is_in(id, hinted) {
            true => hinted,
            false => index.find(id).ok_or_else(missing)?,
        };
        hint.store(number, Ordering::Relaxed);
        let page = self.task_page(number)?;
        let at = page.find(id).ok_or_else(missing)?;
        Ok((page, at))
    }

    /// Runs `f` for every context, in parallel on rayon's threads, and collects the results by
    /// ascending context id.
    ///
    /// # Errors
    /// One of the errors of `f`.
    pub fn par_contexts<R, F>(&self, f: F) -> Result<Vec<R>>
    where
        D: Sync,
        R: Send,
        F: Fn(Context) -> Result<R> + Sync,
    {
        (0..self.contexts.len())
            .into_par_iter()
            .filter_map(|at| self.contexts.get(at))
            .map(&f)
            .collect()
    }

    /// The same result, with an error that names the file.
    pub(crate) fn in_file<T>(&self, result: Result<T>) -> Result<T> {
        match &self.file {
            Some(file) => result.map_err(|e| e.in_file(file)),
            None => result,
        }
    }

    fn section(&self, range: &Range<usize>) -> &[u8] {
        self.bytes().get(range.clone()).unwrap_or(&[])
    }
}
