//! The reader: opens a graph over bytes and finds any part of it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::cache::Cache;
use crate::context::Context;
use crate::context_table::ContextTable;
use crate::error::{Error, ErrorKind, Result, malformed};
use crate::frame::{DecodedFrame, FrameDecoder, FrameEntry, FrameIndex, Layout, Score};
use crate::id::{ContextId, TaskId};
use crate::meta::{RunMeta, Summary};
use crate::order::{TasksInOrder, TasksOf};
use crate::page::{DependentsPage, OrderPage, PageIndex, TaskPage};
use crate::path::PathSet;
use crate::record::{FrameRef, FrameSpan};
use crate::static_table;
use crate::statics::StaticInfo;
use crate::task::Task;
use crate::unit::{self, Tag, Unit};
use crate::wire::Reader;
use crate::writer::{MetaSection, Totals};

/// Bytes of decoded frames that several tasks share.
const FRAME_CACHE: usize = 64 << 20;
/// Bytes of decoded task pages; a page is about 100 KB.
const PAGE_CACHE: usize = 48 << 20;
/// Bytes of decoded edge pages.
const EDGE_CACHE: usize = 16 << 20;
/// Decoded frames kept for their memory.
const SPARE_FRAMES: usize = 8;

/// A task graph over the bytes of its file: a mapping ([`map`](crate::map)), a `Vec<u8>`, anything that gives bytes.
///
/// Opening reads the static tables and the metadata and checks the page indices; everything else is found, checked and
/// decoded when it is asked for. The graph is `Sync` (if `D` is): share a reference between threads; decoded
/// pages and frames are kept in caches bounded by about 128 MiB.
#[derive(Debug)]
pub struct TaskGraph<D> {
    data: D,
    file: Option<PathBuf>,
    info: StaticInfo,
    layout: Arc<Layout>,
    meta: RunMeta,
    summary: Summary,
    pub(crate) totals: Totals,
    pub(crate) footer: u64,
    task_index: Range<usize>,
    dependents_index: Range<usize>,
    order_index: Range<usize>,
    contexts: Range<usize>,
    names: Range<usize>,
    task_pages: Cache<TaskPage>,
    dependents_pages: Cache<DependentsPage>,
    frames: Cache<DecodedFrame>,
    path_tables: Option<Range<usize>>,
    /// Decoded when first used.
    paths: OnceLock<std::result::Result<Arc<PathSet>, String>>,
    frame_index: Option<Range<usize>>,
    /// Decoded when first used.
    frame_entries: OnceLock<std::result::Result<FrameIndex, String>>,
    decoders: Mutex<Vec<FrameDecoder>>,
    spares: Mutex<Vec<DecodedFrame>>,
}

/// The sections the footer names.
struct Sections<'a> {
    data: &'a [u8],
    places: Vec<(u32, u64)>,
}

impl<'a> Sections<'a> {
    fn payload(&self, tag: Tag) -> Result<&'a [u8]> {
        let place = self.places.iter().find(|p| p.0 == tag as u32);
        let &(_, at) =
            place.ok_or_else(|| malformed("footer", format!("it names no {}", tag.name())))?;
        Unit::read(self.data, at, tag)
    }

    /// [`Sections::range`] of a section that need not be there.
    fn find(&self, tag: Tag) -> Result<Option<Range<usize>>> {
        match self.places.iter().any(|p| p.0 == tag as u32) {
            true => self.range(tag).map(Some),
            false => Ok(None),
        }
    }

    fn range(&self, tag: Tag) -> Result<Range<usize>> {
        let payload = self.payload(tag)?;
        // The payload is a part of the data.
        let start = payload.as_ptr().addr() - self.data.as_ptr().addr();
        Ok(start..start + payload.len())
    }
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// Opens a graph. Takes time for the static tables of the program and for 16 bytes per thousand tasks.
    ///
    /// # Errors
    /// The bytes are no graph, of a newer version, cut off, or damaged in a part that is read here.
    pub fn from_bytes(data: D) -> Result<Self> {
        let bytes = data.as_ref();
        unit::check_file_header(bytes)?;
        let footer = unit::footer_offset(bytes)?;
        let mut r = Reader::new("footer", Unit::read(bytes, footer, Tag::Footer)?);
        let totals = Totals {
            tasks: r.u64()?,
            edges: r.u64()?,
            frames: r.u64()?,
        };
        let mut places = Vec::new();
        while r.remaining() > 0 {
            places.push((r.u32()?, r.u64()?));
        }
        let sections = Sections {
            data: bytes,
            places,
        };
        let info = static_table::decode(sections.payload(Tag::Info)?)?;
        let meta = serde_json::from_slice(sections.payload(Tag::Meta)?);
        let MetaSection { run, summary } =
            meta.map_err(|e| malformed("run metadata", e.to_string()))?;
        let this = Self {
            layout: Arc::new(Layout::new(&info)),
            file: None,
            info,
            meta: run,
            summary,
            totals,
            footer,
            task_index: sections.range(Tag::TaskIndex)?,
            dependents_index: sections.range(Tag::DependentsIndex)?,
            order_index: sections.range(Tag::OrderIndex)?,
            contexts: sections.range(Tag::Contexts)?,
            names: sections.range(Tag::Names)?,
            task_pages: Cache::new(PAGE_CACHE),
            dependents_pages: Cache::new(EDGE_CACHE),
            frames: Cache::new(FRAME_CACHE),
            path_tables: sections.find(Tag::Paths)?,
            paths: OnceLock::new(),
            frame_index: sections.find(Tag::FrameIndex)?,
            frame_entries: OnceLock::new(),
            decoders: Mutex::default(),
            spares: Mutex::default(),
            data,
        };
        this.task_index()?;
        this.dependents_index()?;
        this.order_index()?;
        this.context_table()?;
        Ok(this)
    }

    /// Names the file in the errors of this graph; [`map`](crate::map) does it.
    #[must_use]
    pub fn named(mut self, file: &Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// The version of its format.
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
        self.context_table().map_or(0, |t| t.len())
    }

    /// All contexts by ascending id, read as the iterator advances.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + '_ {
        let table = self.context_table().ok();
        (0..self.context_count()).filter_map(move |at| table?.get(at))
    }

    /// One context; `None` when the graph has none with this id.
    pub fn context(&self, id: ContextId) -> Option<Context> {
        let table = self.context_table().ok()?;
        table.find(id).and_then(|at| table.get(at))
    }

    /// The number in front of the addresses of a context's tasks.
    pub(crate) fn space_of(&self, id: ContextId) -> u16 {
        let table = self.context_table().ok();
        table.map_or(0, |t| t.find(id).map_or(0, |at| t.space(at)))
    }

    /// Any task by its id: a search in the page index and, when the page is not in the cache, the decoding of a page.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchTask`], or damage.
    pub fn task(&self, id: TaskId) -> Result<Task<'_, D>> {
        self.in_file(self.find_task(id))
    }

    fn find_task(&self, id: TaskId) -> Result<Task<'_, D>> {
        let (page, at) = self.place(id)?;
        Ok(Task::new(self, page, at))
    }

    /// The page a task is in, and where in it.
    pub(crate) fn place(&self, id: TaskId) -> Result<(Arc<TaskPage>, usize)> {
        let missing = || ErrorKind::NoSuchTask { id };
        let page = self.task_index()?.find(id).ok_or_else(missing)?;
        let page = self.task_page(page)?;
        let at = page.find(id).ok_or_else(missing)?;
        Ok((page, at))
    }

    /// All tasks in breadth-first order from task 0:0, among those that are ready the one that started first (contech.txt,
    /// section 4.2). It is a topological order: each task comes after all its predecessors.
    ///
    /// An error ends the iteration.
    pub fn tasks(&self) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        TasksInOrder::new(self)
    }

    /// The tasks of a context in program order; none when the graph has no such context. An error ends the iteration.
    pub fn tasks_of(&self, context: ContextId) -> impl Iterator<Item = Result<Task<'_, D>>> + '_ {
        TasksOf::new(self, context)
    }

    /// Runs `f` for every context, in parallel on rayon's threads, and collects the results by ascending context id.
    ///
    /// # Errors
    /// One of the errors of `f`.
    pub fn par_contexts<R, F>(&self, f: F) -> Result<Vec<R>>
    where
        D: Sync,
        R: Send,
        F: Fn(Context) -> Result<R> + Sync,
    {
        let table = self.context_table()?;
        (0..table.len())
            .into_par_iter()
            .filter_map(|at| table.get(at))
            .map(&f)
            .collect()
    }

    /// The same result, an error naming the file.
    pub(crate) fn in_file<T>(&self, result: Result<T>) -> Result<T> {
        match &self.file {
            Some(file) => result.map_err(|e| e.in_file(file)),
            None => result,
        }
    }

    fn section(&self, range: &Range<usize>) -> &[u8] {
        self.bytes().get(range.clone()).unwrap_or(&[])
    }

    pub(crate) fn task_index(&self) -> Result<PageIndex<'_>> {
        PageIndex::new(Tag::TaskIndex.name(), self.section(&self.task_index))
    }

    pub(crate) fn dependents_index(&self) -> Result<PageIndex<'_>> {
        PageIndex::new(
            Tag::DependentsIndex.name(),
            self.section(&self.dependents_index),
        )
    }

    pub(crate) fn order_index(&self) -> Result<PageIndex<'_>> {
        PageIndex::new(Tag::OrderIndex.name(), self.section(&self.order_index))
    }

    pub(crate) fn context_table(&self) -> Result<ContextTable<'_>> {
        ContextTable::new(self.section(&self.contexts), self.section(&self.names))
    }

    /// A decoded task page.
    pub(crate) fn task_page(&self, page: usize) -> Result<Arc<TaskPage>> {
        let at = page_offset(self.task_index()?, page, Tag::TaskPage)?;
        if let Some(known) = self.task_pages.get(at) {
            return Ok(known);
        }
        let decoded = Arc::new(TaskPage::decode(Unit::read(
            self.bytes(),
            at,
            Tag::TaskPage,
        )?)?);
        self.task_pages
            .put(at, Arc::clone(&decoded), decoded.weight());
        Ok(decoded)
    }

    /// A decoded edge page.
    pub(crate) fn dependents_page(&self, page: usize) -> Result<Arc<DependentsPage>> {
        let at = page_offset(self.dependents_index()?, page, Tag::DependentsPage)?;
        if let Some(known) = self.dependents_pages.get(at) {
            return Ok(known);
        }
        let payload = Unit::read(self.bytes(), at, Tag::DependentsPage)?;
        let decoded = Arc::new(DependentsPage::decode(payload)?);
        self.dependents_pages
            .put(at, Arc::clone(&decoded), decoded.weight());
        Ok(decoded)
    }

    /// The stored successors of a task.
    pub(crate) fn dependents(&self, id: TaskId) -> Result<Vec<TaskId>> {
        match self.dependents_index()?.find(id) {
            Some(page) => Ok(self.dependents_page(page)?.of(id).to_vec()),
            None => Ok(Vec::new()),
        }
    }

    /// A decoded order page.
    pub(crate) fn order_page(&self, page: usize) -> Result<OrderPage> {
        let at = page_offset(self.order_index()?, page, Tag::OrderPage)?;
        OrderPage::decode(Unit::read(self.bytes(), at, Tag::OrderPage)?)
    }

    fn path_set(&self) -> Result<&Arc<PathSet>> {
        let decoded = self.paths.get_or_init(|| {
            let Some(section) = &self.path_tables else {
                return Ok(Arc::new(PathSet::empty(&self.layout)));
            };
            PathSet::decode(self.section(section), &self.info, &self.layout)
                .map(Arc::new)
                .map_err(|e| e.to_string())
        });
        decoded
            .as_ref()
            .map_err(|e| malformed(Tag::Paths.name(), e.as_str()))
    }

    fn frame_index(&self) -> Result<&FrameIndex> {
        let decoded = self.frame_entries.get_or_init(|| {
            let Some(section) = &self.frame_index else {
                return Ok(FrameIndex::default());
            };
            FrameIndex::decode(self.section(section)).map_err(|e| e.to_string())
        });
        decoded
            .as_ref()
            .map_err(|e| malformed(Tag::FrameIndex.name(), e.as_str()))
    }

    /// What the frame index says of a frame; `None` when there is no index.
    pub(crate) fn frame_entry(&self, frame: FrameRef) -> Result<Option<FrameEntry>> {
        Ok(self.frame_index()?.get(frame))
    }

    /// Frames and accesses in the frame index, if there is one.
    pub(crate) fn frame_index_totals(&self) -> Result<Option<(u64, u64)>> {
        let there = self.frame_index.is_some();
        there
            .then(|| self.frame_index().map(FrameIndex::totals))
            .transpose()
    }

    /// What is needed to play decoded frames.
    pub(crate) fn score(&self) -> Result<Score<'_>> {
        Ok(Score {
            layout: &self.layout,
            paths: self.path_set()?,
        })
    }

    /// The decoded frame of a span, and the span as a range of its records.
    pub(crate) fn frame(&self, span: &FrameSpan) -> Result<(Arc<DecodedFrame>, Range<usize>)> {
        let at = span.frame.0;
        let known = self.frames.get(at);
        let frame = match &known {
            Some(frame) => Arc::clone(frame),
            None => Arc::new(self.decode_frame(at)?),
        };
        let first = span.first_record as usize;
        let range = first..first.saturating_add(span.records as usize);
        if range.end > frame.len() {
            let n = frame.len();
            let detail = format!(
                "records up to {} of the {n} in the frame at byte {at}",
                range.end
            );
            return Err(malformed(Tag::TaskPage.name(), detail));
        }
        // A frame that is a part of one task only is read once; keeping it would push out those that are shared.
        if known.is_none() && range.len() < frame.len() {
            let spare = self.frames.put(at, Arc::clone(&frame), frame.weight());
            self.keep_spare(spare);
        }
        Ok((frame, range))
    }

    fn decode_frame(&self, at: u64) -> Result<DecodedFrame> {
        let unit = Unit::at(self.bytes(), at, Tag::Frame.name())?;
        let tag = match unit.tag {
            tag @ (Tag::Frame | Tag::FrameV1) => tag,
            _ => Tag::Frame,
        };
        let payload = Unit::read(self.bytes(), at, tag)?;
        let decoder = lock(&self.decoders).pop();
        let mut decoder = match decoder {
            Some(decoder) => decoder,
            None => FrameDecoder::new(Arc::clone(&self.layout), Arc::clone(self.path_set()?)),
        };
        let mut frame = lock(&self.spares).pop().unwrap_or_default();
        let done = decoder.decode(tag, payload, &mut frame);
        lock(&self.decoders).push(decoder);
        done.map(|()| frame).map_err(|e| place_frame(e, at))
    }

    /// Takes back a frame; its memory serves for the next one if nobody else uses it.
    pub(crate) fn recycle(&self, frame: Arc<DecodedFrame>) {
        self.keep_spare(Arc::into_inner(frame));
    }

    fn keep_spare(&self, frame: Option<DecodedFrame>) {
        if let Some(frame) = frame {
            let mut spares = lock(&self.spares);
            if spares.len() < SPARE_FRAMES {
                spares.push(frame);
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic runs under these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn page_offset(index: PageIndex<'_>, page: usize, tag: Tag) -> Result<u64> {
    let n = index.len();
    let entry = index
        .get(page)
        .ok_or_else(|| malformed(tag.name(), format!("page {page} of {n}")));
    entry.map(|(_, at)| at)
}

/// Adds the place of a frame to an error about its inside.
fn place_frame(error: Error, at: u64) -> Error {
    match error.kind() {
        ErrorKind::Malformed { what, detail } => {
            malformed(what, format!("{detail} (frame at byte {at})"))
        }
        _ => error,
    }
}
