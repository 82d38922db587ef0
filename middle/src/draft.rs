//! Tasks on their way from the recorded streams to the graph: times still in ticks, barriers not yet
//! numbered. Drafts of a context are stored one after the other in its log.

use taskgraph::{Counts, FrameRef, FrameSpan, SyncOp, TaskKind};

use crate::error::{Error, Result};
use crate::log::Pages;
use crate::varint::{get, get32, put};

/// A task or an arrival at a barrier (then of kind Barrier).
#[derive(Debug, Clone, Default)]
pub(crate) struct Draft {
    pub(crate) kind: TaskKind,
    pub(crate) op: SyncOp,
    pub(crate) object: u64,
    /// Ticks; not before the end of the context's previous draft.
    pub(crate) start: u64,
    /// Ticks; not before the start.
    pub(crate) end: u64,
    pub(crate) spans: Vec<FrameSpan>,
    pub(crate) counts: Counts,
}

/// What a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// The draft is whole.
    Draft,
    /// A span of the draft that follows.
    Span,
    /// What follows came from the chunk at this place in the file.
    Chunk(u64),
}

const WORK: u8 = 0;
const SYNC: u8 = 1;
const SPAN: u8 = 2;
const CHUNK: u8 = 3;

/// Writes the entries of one context.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DraftWriter {
    previous_end: u64,
}

impl DraftWriter {
    pub(crate) fn put_chunk(out: &mut Vec<u8>, offset: u64) {
        out.push(CHUNK);
        put(out, offset);
    }

    /// A span of the work task whose draft follows.
    pub(crate) fn put_span(out: &mut Vec<u8>, span: &FrameSpan) {
        out.push(SPAN);
        put(out, span.frame.0);
        put(out, span.first_record.into());
        put(out, span.records.into());
    }

    fn put_times(&mut self, out: &mut Vec<u8>, start: u64, end: u64) {
        put(out, start.saturating_sub(self.previous_end));
        put(out, end.saturating_sub(start));
        self.previous_end = end;
    }

    /// A work task; its spans were put before.
    pub(crate) fn put_work(&mut self, out: &mut Vec<u8>, start: u64, end: u64, counts: &Counts) {
        out.push(WORK);
        self.put_times(out, start, end);
        let Counts {
            blocks,
            reads,
            writes,
            bytes,
            others,
        } = *counts;
        for n in [blocks, reads, writes, bytes, others] {
            put(out, n);
        }
    }

    /// Any other task.
    pub(crate) fn put_sync(&mut self, out: &mut Vec<u8>, draft: &Draft) {
        out.extend_from_slice(&[SYNC, draft.kind as u8, draft.op as u8]);
        self.put_times(out, draft.start, draft.end);
        put(out, draft.object);
    }
}

/// Reads the drafts of one context.
#[derive(Debug)]
pub(crate) struct Drafts<'a> {
    pages: Pages<'a>,
    page: Vec<u8>,
    at: usize,
    decoder: Decoder,
    /// Place in the file of the chunk that the last draft ended in.
    pub(crate) chunk: u64,
}

impl<'a> Drafts<'a> {
    pub(crate) fn new(pages: Pages<'a>) -> Self {
        Drafts {
            pages,
            page: Vec::new(),
            at: 0,
            decoder: Decoder::default(),
            chunk: 0,
        }
    }

    /// Reads the next draft; false at the end.
    pub(crate) fn next(&mut self, draft: &mut Draft) -> Result<bool> {
        draft.spans.clear();
        loop {
            if self.at == self.page.len() {
                if !self.pages.next(&mut self.page)? {
                    return Ok(false);
                }
                self.at = 0;
            }
            match self.decoder.next(&self.page, &mut self.at, draft)? {
                Entry::Draft => return Ok(true),
                Entry::Span => {}
                Entry::Chunk(offset) => self.chunk = offset,
            }
        }
    }
}

#[derive(Debug, Default)]
struct Decoder {
    previous_end: u64,
}

impl Decoder {
    /// Reads the entry at `*at` and moves past it, into `draft` unless it is a chunk's place.
    fn next(&mut self, bytes: &[u8], at: &mut usize, draft: &mut Draft) -> Result<Entry> {
        let tag = *bytes.get(*at).ok_or_else(cut)?;
        *at += 1;
        match tag {
            CHUNK => return Ok(Entry::Chunk(get(bytes, at)?)),
            SPAN => {
                draft.spans.push(FrameSpan {
                    frame: FrameRef(get(bytes, at)?),
                    first_record: get32(bytes, at)?,
                    records: get32(bytes, at)?,
                });
                return Ok(Entry::Span);
            }
            WORK => {
                draft.kind = TaskKind::Work;
                draft.op = SyncOp::None;
                draft.object = 0;
                self.times(bytes, at, draft)?;
                draft.counts = Counts {
                    blocks: get(bytes, at)?,
                    reads: get(bytes, at)?,
                    writes: get(bytes, at)?,
                    bytes: get(bytes, at)?,
                    others: get(bytes, at)?,
                };
            }
            SYNC => {
                let numbers = bytes.get(*at..*at + 2).ok_or_else(cut)?;
                *at += 2;
                draft.kind = TaskKind::from_u8(numbers[0]).ok_or_else(cut)?;
                draft.op = SyncOp::from_u8(numbers[1]).ok_or_else(cut)?;
                self.times(bytes, at, draft)?;
                draft.object = get(bytes, at)?;
                draft.counts = Counts::default();
            }
            _ => return Err(cut()),
        }
        Ok(Entry::Draft)
    }

    fn times(&mut self, bytes: &[u8], at: &mut usize, draft: &mut Draft) -> Result<()> {
        draft.start = self.previous_end.wrapping_add(get(bytes, at)?);
        draft.end = draft.start.wrapping_add(get(bytes, at)?);
        self.previous_end = draft.end;
        Ok(())
    }
}

#[cold]
fn cut() -> Error {
    Error::internal("a draft in the temporary file is cut")
}
