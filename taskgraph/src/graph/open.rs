//! Opens a graph: the footer names the sections, the tables are read, and the indices of pages are
//! checked.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, OnceLock};

use super::{HINTS, TaskGraph};
use crate::cache::Cache;
use crate::context_table::ContextTable;
use crate::error::{Result, malformed};
use crate::executor;
use crate::frame::Layout;
use crate::progress;
use crate::sample::CodeSample;
use crate::static_table;
use crate::unit::{self, Tag, Unit};
use crate::wire::Reader;
use crate::writer::{MetaSection, Totals};

/// Bytes of cached decoded frames that several tasks share.
const FRAME_CACHE: usize = 64 << 20;
/// Bytes of cached decoded task pages for each context, and the least and the most for all. A page
/// is about 100 KB. No more are kept than those who go through all tasks go back to: memory that
/// was used just now takes the next page sooner.
const PAGES_OF_CONTEXT: usize = 512 << 10;
const LEAST_PAGES: usize = 2 << 20;
const MOST_PAGES: usize = 48 << 20;
/// Bytes of cached decoded edge pages.
const EDGE_CACHE: usize = 16 << 20;

/// The sections that the footer names.
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

    /// [`Sections::range`] of a section that may be absent.
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
    /// Opens a graph. This takes time for the static tables of the program, for some tens of bytes
    /// per context and for 16 bytes per thousand tasks.
    ///
    /// # Errors
    /// The bytes are not a graph, are of another version, are cut off, or are damaged in a part
    /// that is read here.
    pub fn from_bytes(data: D) -> Result<Self> {
        let bytes = data.as_ref();
        unit::check_file_header(bytes)?;
        let footer = unit::footer_offset(bytes)?;
        let mut r = Reader::new("footer", Unit::read(bytes, footer, Tag::Footer)?);
        let totals = Totals { tasks: r.u64()?, edges: r.u64()?, frames: r.u64()? };
        let mut places = Vec::new();
        while r.remaining() > 0 {
            places.push((r.u32()?, r.u64()?));
        }
        let sections = Sections { data: bytes, places };
        let info = static_table::decode(sections.payload(Tag::Info)?)?;
        let meta = serde_json::from_slice(sections.payload(Tag::Meta)?);
        let MetaSection { run, summary } =
            meta.map_err(|e| malformed("run metadata", e.to_string()))?;
        let contexts = ContextTable::decode(sections.payload(Tag::Contexts)?)?;
        let pages = contexts.len().saturating_mul(PAGES_OF_CONTEXT);
        let sample = match sections.find(Tag::Sample)? {
            Some(table) => Some(CodeSample::decode(&bytes[table])?),
            None => None,
        };
        let this = Self {
            layout: Arc::new(Layout::new(&info)),
            file: None,
            info: Arc::new(info),
            meta: run,
            summary,
            totals,
            footer,
            task_index: sections.range(Tag::TaskIndex)?,
            dependents_index: sections.range(Tag::DependentsIndex)?,
            order_index: sections.range(Tag::OrderIndex)?,
            contexts,
            executors: sections.range(Tag::Executors)?,
            progress: sections.find(Tag::Progress)?,
            sample,
            hints: [const { AtomicUsize::new(0) }; HINTS],
            task_pages: Cache::new(pages.clamp(LEAST_PAGES, MOST_PAGES)),
            dependents_pages: Cache::new(EDGE_CACHE),
            frames: Cache::new(FRAME_CACHE),
            path_tables: sections.find(Tag::Paths)?,
            paths: OnceLock::new(),
            templates: OnceLock::new(),
            decoders: Mutex::default(),
            spares: Mutex::default(),
            parts: Mutex::new([super::frames::PartlyDecoded::default(); 64]),
            decoded: AtomicU64::new(0),
            data,
        };
        this.task_index()?;
        this.dependents_index()?;
        this.order_index()?;
        executor::records(this.section(&this.executors))?;
        progress::all(this.progress_table()).map(drop)?;
        Ok(this)
    }
}
