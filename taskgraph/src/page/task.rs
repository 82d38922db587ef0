//! Task pages: 1024 tasks with their times, totals, spans of actions and incoming edges.

use std::sync::OnceLock;

use rustc_hash::FxHashMap as HashMap;

use crate::codec::MAX_PAGE;
use crate::error::{Result, malformed};
use crate::id::{ContextId, TaskId};
use crate::page::{FULL_EDGES, IdPredictor, join_columns, split_columns, unpack};
use crate::record::{FrameRef, FrameSpan, TaskRecord};
use crate::wire::{Reader, put_delta, put_varint, unzigzag};
use crate::{SyncOp, TaskKind};

/// A page is full when it has this many tasks, or [`FULL_EDGES`].
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

/// Collects the tasks of a page.
#[derive(Debug, Default)]
pub(crate) struct TaskPageWriter {
    columns: [Vec<u8>; COLUMNS],
    previous: Previous,
    /// The places of [`Previous::objects`], and the object that was named last.
    places: HashMap<u64, u64>,
    recent: Option<(u64, u64)>,
    /// For each run of tasks of one context: the context, the first sequence number, and the number of tasks.
    runs: Vec<(u32, u32, u32)>,
    tasks: usize,
    /// Number of edges and spans.
    parts: usize,
}

impl TaskPageWriter {
    pub(crate) fn is_full(&self) -> bool {
        self.tasks >= FULL_TASKS || self.parts >= FULL_EDGES
    }

    /// The first task; `None` for an empty page.
    pub(crate) fn first(&self) -> Option<TaskId> {
        self.runs
            .first()
            .map(|&(c, s, _)| TaskId::new(ContextId::new(c), s))
    }

    pub(crate) fn push(&mut self, t: &TaskRecord, dependencies: &[TaskId]) {
        self.tasks += 1;
        self.parts += dependencies.len() + t.frames.len();
        match self.runs.last_mut() {
            Some((context, _, n)) if *context == t.id.context.get() => *n += 1,
            _ => self.runs.push((t.id.context.get(), t.id.seq, 1)),
        }
        let counts = [t.blocks, t.reads, t.writes, t.bytes];
        let mut kind = t.kind as u8;
        kind |= if t.object != 0 { HAS_OBJECT } else { 0 };
        kind |= if t.frames.is_empty() { 0 } else { HAS_SPANS };
        let counted = counts.iter().fold(0, |all, n| all | n) != 0;
        kind |= if counted { HAS_COUNTS } else { 0 };
        kind |= if dependencies.is_empty() {
            0
        } else {
            HAS_EDGES
        };
        kind |= if t.others == 0 { 0 } else { HAS_OTHERS };
        self.column(Column::Kind).push(kind);
        self.column(Column::Op).push(t.op as u8);
        let end = self.previous.end_ns;
        put_delta(self.column(Column::Start), t.start_ns, end);
        put_varint(
            self.column(Column::Duration),
            t.end_ns.saturating_sub(t.start_ns),
        );
        self.previous.end_ns = t.end_ns;
        if t.object != 0 {
            self.push_object(t.object);
        }
        if !t.frames.is_empty() {
            self.push_spans(&t.frames);
        }
        if counted {
            counts
                .iter()
                .for_each(|&n| put_varint(self.column(Column::Counts), n));
        }
        if t.others != 0 {
            put_varint(self.column(Column::Counts), t.others);
        }
        if !dependencies.is_empty() {
            put_varint(self.column(Column::EdgeCount), dependencies.len() as u64);
            let [.., contexts, seqs] = &mut self.columns;
            for &d in dependencies {
                self.previous.ids.put(d, contexts, seqs);
            }
        }
    }

    fn column(&mut self, column: Column) -> &mut Vec<u8> {
        &mut self.columns[column as usize]
    }

    fn push_object(&mut self, object: u64) {
        let objects = &mut self.previous.objects;
        let column = &mut self.columns[Column::Object as usize];
        // An operation is often followed by another one of the same object.
        let known = self.recent.filter(|recent| recent.0 == object);
        let known = known.map(|recent| recent.1);
        let at = known.or_else(|| self.places.get(&object).copied());
        let at = if let Some(at) = at {
            put_varint(column, 1 + at);
            at
        } else {
            put_varint(column, 0);
            put_delta(column, object, objects.last().copied().unwrap_or(0));
            let at = objects.len() as u64;
            objects.push(object);
            self.places.insert(object, at);
            at
        };
        self.recent = Some((object, at));
    }

    fn push_spans(&mut self, spans: &[FrameSpan]) {
        let p = &mut self.previous;
        let column = &mut self.columns[Column::Spans as usize];
        put_varint(column, spans.len() as u64);
        for s in spans {
            put_delta(column, s.frame.0, p.frame);
            let expected = if s.frame.0 == p.frame { p.span_end } else { 0 };
            put_delta(column, u64::from(s.first_record), u64::from(expected));
            put_varint(column, u64::from(s.records));
            p.frame = s.frame.0;
            p.span_end = s.first_record.wrapping_add(s.records);
        }
    }

    /// The raw bytes of the page; the writer is then empty for the next one.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let runs = &mut self.columns[Column::Runs as usize];
        let mut last = 0;
        for &(context, seq, n) in &self.runs {
            put_varint(runs, u64::from(context.wrapping_sub(last)));
            put_varint(runs, u64::from(seq));
            put_varint(runs, u64::from(n));
            last = context;
        }
        let raw = join_columns(&mut self.columns);
        *self = Self {
            columns: std::mem::take(&mut self.columns),
            ..Self::default()
        };
        raw
    }
}

/// A task of a decoded page.
#[derive(Clone, Debug)]
pub(crate) struct TaskFields {
    pub(crate) id: TaskId,
    pub(crate) object: u64,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) kind: TaskKind,
    pub(crate) op: SyncOp,
    /// The place of its totals; many tasks share the first, which are zero.
    totals: u16,
    /// The ends of its spans and edges; they begin where those of the task before end.
    spans_end: u32,
    edges_end: u32,
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

/// A decoded page.
#[derive(Debug, Default)]
pub(crate) struct TaskPage {
    pub(crate) tasks: Vec<TaskFields>,
    totals: Vec<TaskTotals>,
    spans: Vec<FrameSpan>,
    edges: Vec<TaskId>,
    /// Where the outgoing edges of each task are stored: 1 + the number of a page (0: there are none), and
    /// the place in it. It is known once somebody has asked for those of one task; empty if no task has any.
    pub(crate) successors: OnceLock<Box<[(u32, u32)]>>,
}

impl TaskPage {
    /// What task `at` executes and accesses.
    pub(crate) fn totals(&self, at: usize) -> &TaskTotals {
        &self.totals[self.tasks[at].totals as usize]
    }

    /// The spans of actions of task `at`.
    pub(crate) fn spans(&self, at: usize) -> &[FrameSpan] {
        self.part(&self.spans, at, |task| task.spans_end)
    }

    /// The stored incoming edges of task `at`.
    pub(crate) fn edges(&self, at: usize) -> &[TaskId] {
        self.part(&self.edges, at, |task| task.edges_end)
    }

    /// The part of task `at` of the spans or edges of all.
    fn part<'p, T>(&self, all: &'p [T], at: usize, end: impl Fn(&TaskFields) -> u32) -> &'p [T] {
        let before = at.checked_sub(1).and_then(|before| self.tasks.get(before));
        let from = before.map_or(0, &end) as usize;
        let to = self.tasks.get(at).map_or(0, &end) as usize;
        all.get(from..to).unwrap_or(&[])
    }

    /// The place of a task in the page.
    pub(crate) fn find(&self, id: TaskId) -> Option<usize> {
        // Nearly all pages are a run of one context.
        let first = self.tasks.first()?.id;
        let guess = id.seq.wrapping_sub(first.seq) as usize;
        if self.tasks.get(guess).is_some_and(|task| task.id == id) {
            return Some(guess);
        }
        self.tasks.binary_search_by_key(&id, |t| t.id).ok()
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        (size_of::<TaskFields>() + size_of::<(u32, u32)>()) * self.tasks.len()
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
        page.decode_tasks(&mut columns, bits)?;
        let any = bits.iter().fold(0, |any, bits| any | bits);
        let with = |some: u8| bits.iter().filter(|&bits| bits & some != 0).count();
        let mut previous = Previous::default();
        if any & HAS_OBJECT != 0 {
            let mut objects = *columns.of(Column::Object);
            for (task, _) in page.tasks.iter_mut().zip(bits).filter(has(HAS_OBJECT)) {
                task.object = previous.object(&mut objects)?;
            }
            *columns.of(Column::Object) = objects;
        }
        if any & HAS_SPANS != 0 {
            page.spans.reserve(with(HAS_SPANS));
            let mut spans = *columns.of(Column::Spans);
            for (task, bits) in page.tasks.iter_mut().zip(bits) {
                if bits & HAS_SPANS != 0 {
                    previous.spans(&mut spans, &mut page.spans)?;
                }
                task.spans_end = place(&page.spans)?;
            }
            *columns.of(Column::Spans) = spans;
        }
        if any & (HAS_COUNTS | HAS_OTHERS) != 0 {
            page.totals.reserve(with(HAS_COUNTS | HAS_OTHERS));
            page.decode_totals(columns.of(Column::Counts), bits)?;
        }
        if any & HAS_EDGES != 0 {
            let [.., counts, contexts, seqs] = &mut columns.0;
            for (task, bits) in page.tasks.iter_mut().zip(bits) {
                if bits & HAS_EDGES != 0 {
                    for _ in 0..counts.count(contexts.remaining())? {
                        page.edges.push(previous.ids.get(contexts, seqs)?);
                    }
                }
                task.edges_end = place(&page.edges)?;
            }
        }
        columns.0.iter().try_for_each(Reader::end)?;
        Ok(page)
    }

    /// Makes the tasks, with their ids, kinds and times.
    fn decode_tasks(&mut self, columns: &mut Columns<'_>, bits: &[u8]) -> Result<()> {
        let ops = columns.of(Column::Op).take(bits.len())?;
        let mut kinds = bits.iter().zip(ops);
        let (mut starts, mut durations) =
            (*columns.of(Column::Start), *columns.of(Column::Duration));
        let runs = columns.of(Column::Runs);
        let (mut context, mut end_ns) = (0u32, 0u64);
        self.tasks.reserve(kinds.len().min(FULL_TASKS));
        while runs.remaining() > 0 {
            let step = runs.varint32()?;
            let ascends = step > 0 || self.tasks.is_empty();
            let next = context.checked_add(step).filter(|_| ascends);
            context = next.ok_or_else(|| runs.error("its contexts do not ascend"))?;
            let (first, n) = (runs.varint32()?, runs.varint32()?);
            if n as usize > kinds.len().min(FULL_TASKS - self.tasks.len()) {
                return Err(runs.error("more tasks than a page holds"));
            }
            let end = first.checked_add(n);
            let end = end.ok_or_else(|| runs.error("a sequence number over 32 bits"))?;
            for (seq, (bits, op)) in (first..end).zip(&mut kinds) {
                let kind = TaskKind::from_u8(bits & KIND);
                let kind =
                    kind.ok_or_else(|| malformed(WHAT, format!("task kind {}", bits & KIND)))?;
                let start_ns = end_ns.wrapping_add(unzigzag(starts.short_varint()?));
                let ends = start_ns.checked_add(durations.short_varint()?);
                end_ns = ends.ok_or_else(|| malformed(WHAT, "a time over 64 bits"))?;
                self.tasks.push(TaskFields {
                    id: TaskId::new(ContextId::new(context), seq),
                    object: 0,
                    start_ns,
                    end_ns,
                    kind,
                    op: SyncOp::from_u8(*op).unwrap_or(SyncOp::Other),
                    totals: 0,
                    spans_end: 0,
                    edges_end: 0,
                });
            }
        }
        if kinds.len() > 0 {
            return Err(runs.error("fewer tasks than kinds"));
        }
        (*columns.of(Column::Start), *columns.of(Column::Duration)) = (starts, durations);
        Ok(())
    }

    fn decode_totals(&mut self, column: &mut Reader<'_>, bits: &[u8]) -> Result<()> {
        let mut counts = *column;
        for (task, bits) in self.tasks.iter_mut().zip(bits) {
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
            task.totals = u16::try_from(self.totals.len()).unwrap_or(0);
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
