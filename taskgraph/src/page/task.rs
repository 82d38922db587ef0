//! Task pages: 1024 tasks with their times, totals, spans of actions and incoming edges.

use std::ops::Range;
use std::sync::OnceLock;

use crate::codec::MAX_PAGE;
use crate::error::{Result, malformed};
use crate::id::{ContextId, TaskId};
use crate::page::{IdPredictor, split_columns, unpack};
use crate::record::{FrameRef, FrameSpan};
use crate::wire::{Reader, unzigzag};
use crate::{SyncOp, TaskKind};

mod writer;

pub(crate) use writer::TaskPageWriter;

/// A page is full when it has this many tasks, or [`FULL_EDGES`](super::FULL_EDGES).
const FULL_TASKS: usize = 1024;

const WHAT: &str = "task page";

/// The columns, in the order of the file.
#[derive(Clone, Copy)]
enum Column {
    Runs,
    Kind,
    Op,
    Object,
    Start,
    Duration,
    Spans,
    Counts,
    EdgeCount,
}
/// Number of columns: the named ones, and the contexts and sequence numbers of the edges.
const COLUMNS: usize = 11;

/// Bits of the kind column above the kind itself.
const HAS_OBJECT: u8 = 8;
const HAS_SPANS: u8 = 16;
const HAS_COUNTS: u8 = 32;
const HAS_EDGES: u8 = 64;
/// Since version 2.
const HAS_OTHERS: u8 = 128;
const KIND: u8 = 7;

/// The values that the fields of a task are coded against; they are the same in writer and reader.
#[derive(Debug, Default)]
struct Previous {
    end_ns: u64,
    /// Objects in order of first appearance.
    objects: Vec<u64>,
    /// The frame of the previous span, and the span's end within it.
    frame: u64,
    span_end: u32,
    ids: IdPredictor,
}

/// What a task executes and accesses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TaskTotals {
    pub(crate) blocks: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) bytes: u64,
    pub(crate) others: u64,
}

/// A decoded page: columns of the tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskPage {
    ids: Vec<TaskId>,
    /// Start and end, ns.
    times: Vec<(u64, u64)>,
    kinds: Vec<(TaskKind, SyncOp)>,
    /// Empty if no task has an object.
    objects: Vec<u64>,
    /// The places of their totals, of which the first are zero; empty if all are.
    places: Vec<u16>,
    totals: Vec<TaskTotals>,
    /// The ends of their spans and edges, which begin where those of the task before end; empty if there are none.
    spans_ends: Vec<u32>,
    edges_ends: Vec<u32>,
    spans: Vec<FrameSpan>,
    edges: Vec<TaskId>,
    /// Where the outgoing edges of each task are stored: 1 + the number of a page (0: there are none), and
    /// the place in it. It is known once somebody has asked for those of one task; empty if no task has any.
    pub(crate) successors: OnceLock<Box<[(u32, u32)]>>,
}

impl TaskPage {
    /// The tasks.
    pub(crate) fn ids(&self) -> &[TaskId] {
        &self.ids
    }

    /// The id of task `at`, if there is one.
    #[inline]
    pub(crate) fn id(&self, at: usize) -> Option<TaskId> {
        self.ids.get(at).copied()
    }

    /// The start and the end of task `at`.
    #[inline]
    pub(crate) fn times(&self, at: usize) -> (u64, u64) {
        self.times[at]
    }

    /// The kind and the operation of task `at`.
    #[inline]
    pub(crate) fn kind(&self, at: usize) -> (TaskKind, SyncOp) {
        self.kinds[at]
    }

    /// The object of task `at`; 0 if it has none.
    pub(crate) fn object(&self, at: usize) -> u64 {
        self.objects.get(at).copied().unwrap_or(0)
    }

    /// What task `at` executes and accesses.
    #[inline]
    pub(crate) fn totals(&self, at: usize) -> &TaskTotals {
        let place = self.places.get(at).copied().unwrap_or(0);
        &self.totals[place as usize]
    }

    /// The spans of actions of task `at`.
    #[inline]
    pub(crate) fn spans(&self, at: usize) -> &[FrameSpan] {
        self.spans.get(self.spans_of(at..at + 1)).unwrap_or(&[])
    }

    /// The places of the spans of some tasks.
    #[inline]
    pub(crate) fn spans_of(&self, tasks: Range<usize>) -> Range<usize> {
        part(&self.spans_ends, tasks)
    }

    /// The span at a place.
    pub(crate) fn span_at(&self, at: usize) -> Option<&FrameSpan> {
        self.spans.get(at)
    }

    /// The stored incoming edges of task `at`.
    #[inline]
    pub(crate) fn edges(&self, at: usize) -> &[TaskId] {
        let edges = part(&self.edges_ends, at..at + 1);
        self.edges.get(edges).unwrap_or(&[])
    }

    /// The place of a task in the page.
    pub(crate) fn find(&self, id: TaskId) -> Option<usize> {
        // Nearly all pages are a run of one context.
        let guess = id.seq.wrapping_sub(self.id(0)?.seq) as usize;
        if self.id(guess) == Some(id) {
            return Some(guess);
        }
        self.ids.binary_search(&id).ok()
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        size_of::<(TaskId, u64, u64, u16)>() * self.ids.len()
            + size_of::<u64>() * self.objects.len()
            + size_of::<u16>() * self.places.len()
            + size_of::<u32>() * (self.spans_ends.len() + self.edges_ends.len())
            + size_of::<(u32, u32)>() * self.ids.len()
            + size_of::<TaskTotals>() * self.totals.len()
            + size_of::<FrameSpan>() * self.spans.len()
            + size_of::<TaskId>() * self.edges.len()
    }

    /// Decodes few columns at a time, so that each loop is short and keeps its columns in registers.
    pub(crate) fn decode(payload: &[u8]) -> Result<Self> {
        let raw = unpack(WHAT, payload, MAX_PAGE)?;
        let mut columns = Columns(split_columns(WHAT, &raw)?);
        let mut page = Self {
            totals: vec![TaskTotals::default()],
            ..Self::default()
        };
        let kinds = columns.of(Column::Kind).remaining();
        let bits = columns.of(Column::Kind).take(kinds)?;
        page.decode_ids(columns.of(Column::Runs), bits.len())?;
        page.decode_kinds(bits, columns.of(Column::Op).take(bits.len())?)?;
        page.decode_times(&mut columns)?;
        let any = bits.iter().fold(0, |any, bits| any | bits);
        let with = |some: u8| bits.iter().filter(|&bits| bits & some != 0).count();
        let mut previous = Previous::default();
        if any & HAS_OBJECT != 0 {
            let mut objects = *columns.of(Column::Object);
            page.objects.resize(bits.len(), 0);
            for (object, _) in page.objects.iter_mut().zip(bits).filter(has(HAS_OBJECT)) {
                *object = previous.object(&mut objects)?;
            }
            *columns.of(Column::Object) = objects;
        }
        if any & HAS_SPANS != 0 {
            page.spans.reserve(with(HAS_SPANS));
            page.spans_ends.reserve(bits.len());
            let mut spans = *columns.of(Column::Spans);
            for bits in bits {
                if bits & HAS_SPANS != 0 {
                    previous.spans(&mut spans, &mut page.spans)?;
                }
                page.spans_ends.push(place(&page.spans)?);
            }
            *columns.of(Column::Spans) = spans;
        }
        if any & (HAS_COUNTS | HAS_OTHERS) != 0 {
            page.totals.reserve(with(HAS_COUNTS | HAS_OTHERS));
            page.places.resize(bits.len(), 0);
            page.decode_totals(columns.of(Column::Counts), bits)?;
        }
        if any & HAS_EDGES != 0 {
            let [.., counts, contexts, seqs] = &mut columns.0;
            page.edges_ends.reserve(bits.len());
            for bits in bits {
                if bits & HAS_EDGES != 0 {
                    for _ in 0..counts.count(contexts.remaining())? {
                        page.edges.push(previous.ids.get(contexts, seqs)?);
                    }
                }
                page.edges_ends.push(place(&page.edges)?);
            }
        }
        columns.0.iter().try_for_each(Reader::end)?;
        Ok(page)
    }

    fn decode_ids(&mut self, runs: &mut Reader<'_>, tasks: usize) -> Result<()> {
        let mut context = 0u32;
        self.ids.reserve(tasks.min(FULL_TASKS));
        while runs.remaining() > 0 {
            let step = runs.varint32()?;
            let ascends = step > 0 || self.ids.is_empty();
            let next = context.checked_add(step).filter(|_| ascends);
            context = next.ok_or_else(|| runs.error("its contexts do not ascend"))?;
            let (first, n) = (runs.varint32()?, runs.varint32()?);
            let room = tasks.min(FULL_TASKS).saturating_sub(self.ids.len());
            if n as usize > room {
                return Err(runs.error("more tasks than a page holds"));
            }
            let end = first.checked_add(n);
            let end = end.ok_or_else(|| runs.error("a sequence number over 32 bits"))?;
            let id = |seq| TaskId::new(ContextId::new(context), seq);
            self.ids.extend((first..end).map(id));
        }
        match self.ids.len() == tasks {
            true => Ok(()),
            false => Err(runs.error("fewer tasks than kinds")),
        }
    }

    fn decode_kinds(&mut self, bits: &[u8], ops: &[u8]) -> Result<()> {
        let unknown = bits.iter().map(|bits| bits & KIND);
        let unknown = unknown
            .max()
            .filter(|kind| TaskKind::from_u8(*kind).is_none());
        if let Some(kind) = unknown {
            return Err(malformed(WHAT, format!("task kind {kind}")));
        }
        let kinds = bits.iter().zip(ops).map(|(bits, op)| {
            let kind = TaskKind::from_u8(bits & KIND).unwrap_or_default();
            (kind, SyncOp::from_u8(*op).unwrap_or(SyncOp::Other))
        });
        self.kinds = kinds.collect();
        Ok(())
    }

    fn decode_times(&mut self, columns: &mut Columns<'_>) -> Result<()> {
        let (mut starts, mut durations) =
            (*columns.of(Column::Start), *columns.of(Column::Duration));
        self.times.reserve(self.ids.len());
        let mut end_ns = 0u64;
        for _ in 0..self.ids.len() {
            let start_ns = end_ns.wrapping_add(unzigzag(starts.short_varint()?));
            let ends = start_ns.checked_add(durations.short_varint()?);
            end_ns = ends.ok_or_else(|| malformed(WHAT, "a time over 64 bits"))?;
            self.times.push((start_ns, end_ns));
        }
        (*columns.of(Column::Start), *columns.of(Column::Duration)) = (starts, durations);
        Ok(())
    }

    fn decode_totals(&mut self, column: &mut Reader<'_>, bits: &[u8]) -> Result<()> {
        let mut counts = *column;
        for (place, bits) in self.places.iter_mut().zip(bits) {
            if bits & (HAS_COUNTS | HAS_OTHERS) == 0 {
                continue;
            }
            let mut totals = TaskTotals::default();
            if bits & HAS_COUNTS != 0 {
                let all = match counts.peek_four() {
                    Some(four) => {
                        counts.take(4)?;
                        four.map(u64::from)
                    }
                    None => {
                        let mut all = [0; 4];
                        for n in &mut all {
                            *n = counts.varint()?;
                        }
                        all
                    }
                };
                [totals.blocks, totals.reads, totals.writes, totals.bytes] = all;
            }
            if bits & HAS_OTHERS != 0 {
                totals.others = counts.varint()?;
            }
            // A page has at most 1024 tasks.
            *place = u16::try_from(self.totals.len()).unwrap_or(0);
            self.totals.push(totals);
        }
        *column = counts;
        Ok(())
    }
}

/// Whether a task has something.
fn has<T>(bit: u8) -> impl Fn(&(T, &u8)) -> bool {
    move |(_, bits)| **bits & bit != 0
}

/// The places of what some tasks have, whose ends are these.
#[inline]
fn part(ends: &[u32], tasks: Range<usize>) -> Range<usize> {
    let end = |tasks: usize| {
        let last = tasks.min(ends.len()).checked_sub(1);
        last.map_or(0, |last| ends[last]) as usize
    };
    end(tasks.start)..end(tasks.end)
}

/// The place after the last span or edge.
fn place<T>(all: &[T]) -> Result<u32> {
    u32::try_from(all.len()).map_err(|_| malformed(WHAT, "more than 2^32 edges"))
}

/// The columns of a page being read.
struct Columns<'a>([Reader<'a>; COLUMNS]);

impl<'a> Columns<'a> {
    fn of(&mut self, column: Column) -> &mut Reader<'a> {
        &mut self.0[column as usize]
    }
}

impl Previous {
    fn object(&mut self, column: &mut Reader<'_>) -> Result<u64> {
        let known = column.varint()?;
        if known > 0 {
            let at = usize::try_from(known - 1).unwrap_or(usize::MAX);
            return self
                .objects
                .get(at)
                .copied()
                .ok_or_else(|| column.error("an object that was not named"));
        }
        let object = column.delta(self.objects.last().copied().unwrap_or(0))?;
        self.objects.push(object);
        Ok(object)
    }

    #[inline]
    fn spans(&mut self, column: &mut Reader<'_>, out: &mut Vec<FrameSpan>) -> Result<()> {
        // Most short tasks have one span, which goes on where the last one of the page ended.
        if let Some([1, 0, 0, records]) = column.peek_four() {
            column.take(4)?;
            let (first_record, records) = (self.span_end, u32::from(records));
            out.push(FrameSpan {
                frame: FrameRef(self.frame),
                first_record,
                records,
            });
            self.span_end = first_record.wrapping_add(records);
            return Ok(());
        }
        for _ in 0..column.count(column.remaining())? {
            let frame = column.delta(self.frame)?;
            let expected = if frame == self.frame {
                self.span_end
            } else {
                0
            };
            let first_record = column.delta32(expected)?;
            let records = column.varint32()?;
            out.push(FrameSpan {
                frame: FrameRef(frame),
                first_record,
                records,
            });
            self.frame = frame;
            self.span_end = first_record.wrapping_add(records);
        }
        Ok(())
    }
}
