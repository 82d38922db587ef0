//! Task pages: 1024 tasks with their times, totals, spans of actions and incoming edges. Tasks that
//! are alike are of one class, which is stored once.

use std::ops::Range;
use std::sync::OnceLock;

use contech_program::Counts;

use crate::codec::MAX_PAGE;
use crate::column::Head;
use crate::error::{Result, malformed};
use crate::id::{ContextId, ExecutorId, TaskId};
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
    Executor,
    Class,
    Kind,
    Op,
    Object,
    Totals,
    Shape,
    Start,
    Duration,
    Spans,
}
/// Number of columns: the named ones, and the contexts and sequence numbers of the edges.
const COLUMNS: usize = 13;

/// Bits of the kind column above the kind itself.
const HAS_OBJECT: u8 = 8;
const HAS_SPANS: u8 = 16;
const HAS_COUNTS: u8 = 32;
const HAS_EDGES: u8 = 64;
const HAS_OTHERS: u8 = 128;
const KIND: u8 = 7;

/// The values that the fields of a task are coded against; they are the same in writer and reader.
#[derive(Debug, Default)]
struct Previous {
    /// Objects in order of first appearance.
    objects: Vec<u64>,
    /// The frame of the previous span, and the span's end within it.
    frame: u64,
    span_end: u32,
    ids: IdPredictor,
}

/// What tasks have in common that are alike: all but their times, and the places of their spans and
/// edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Class {
    kind: TaskKind,
    op: SyncOp,
    object: u64,
    totals: Counts,
    spans: Spans,
    /// Number of stored incoming edges.
    edges: u32,
}

/// The spans of actions of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Spans {
    #[default]
    None,
    /// One of so many records, which begins where the one before it in the page ends.
    Next(u32),
    /// They are listed.
    Listed,
}

/// A decoded page: columns of the tasks.
#[derive(Debug, Default)]
pub(crate) struct TaskPage {
    ids: Vec<TaskId>,
    executors: Vec<ExecutorId>,
    /// Start and end, ns.
    times: Vec<(u64, u64)>,
    /// The class of each, by its number.
    class: Vec<u16>,
    classes: Vec<Class>,
    /// The ends of their spans and edges, which begin where those of the task before end; empty if
    /// there are none.
    spans_ends: Vec<u32>,
    edges_ends: Vec<u32>,
    spans: Vec<FrameSpan>,
    edges: Vec<TaskId>,
    /// Where the outgoing edges of each task are stored: 1 + the number of a page (0: there are
    /// none), and the place in it. It is known once somebody has asked for those of one task; empty
    /// if no task has any.
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

    /// The executor of task `at`.
    #[inline]
    pub(crate) fn executor(&self, at: usize) -> ExecutorId {
        self.executors[at]
    }

    /// The start and the end of task `at`.
    #[inline]
    pub(crate) fn times(&self, at: usize) -> (u64, u64) {
        self.times[at]
    }

    #[inline]
    fn class(&self, at: usize) -> &Class {
        &self.classes[usize::from(self.class[at])]
    }

    /// The kind and the operation of task `at`.
    #[inline]
    pub(crate) fn kind(&self, at: usize) -> (TaskKind, SyncOp) {
        let class = self.class(at);
        (class.kind, class.op)
    }

    /// The object of task `at`; 0 if it has none.
    pub(crate) fn object(&self, at: usize) -> u64 {
        self.class(at).object
    }

    /// What task `at` executes and accesses.
    #[inline]
    pub(crate) fn totals(&self, at: usize) -> &Counts {
        &self.class(at).totals
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
        let (first, last) = (*self.ids.first()?, *self.ids.last()?);
        let guess = id.seq.wrapping_sub(first.seq) as usize;
        if self.id(guess) == Some(id) {
            return Some(guess);
        }
        match first <= id && id <= last {
            true => self.ids.binary_search(&id).ok(),
            false => None,
        }
    }

    /// Approximate bytes in memory.
    pub(crate) fn weight(&self) -> usize {
        size_of::<(TaskId, ExecutorId, u64, u64, u16)>() * self.ids.len()
            + size_of::<Class>() * self.classes.len()
            + size_of::<u32>() * (self.spans_ends.len() + self.edges_ends.len())
            + size_of::<(u32, u32)>() * self.ids.len()
            + size_of::<FrameSpan>() * self.spans.len()
            + size_of::<TaskId>() * self.edges.len()
    }

    /// Decodes one column after the other, so that each loop is short. There are so many executors
    /// in the graph.
    pub(crate) fn decode(payload: &[u8], all: usize) -> Result<Self> {
        let raw = unpack(WHAT, payload, MAX_PAGE)?;
        let mut columns = Columns(split_columns(WHAT, &raw)?);
        let mut page = Self::default();
        let runs = page.decode_ids(columns.of(Column::Runs))?;
        page.decode_executors(&runs, all, columns.of(Column::Executor))?;
        page.decode_classes(&mut columns)?;
        page.decode_times(&mut columns)?;
        let mut previous = Previous::default();
        page.decode_spans(&mut previous, columns.of(Column::Spans))?;
        if page.classes.iter().any(|class| class.edges > 0) {
            let [.., contexts, seqs] = &mut columns.0;
            page.edges_ends.reserve(page.class.len());
            for class in &page.class {
                for _ in 0..page.classes[usize::from(*class)].edges {
                    page.edges.push(previous.ids.get(contexts, seqs)?);
                }
                page.edges_ends.push(place(&page.edges)?);
            }
        }
        columns.0.iter().try_for_each(Reader::end)?;
        Ok(page)
    }

    /// Returns how many tasks each run has.
    fn decode_ids(&mut self, runs: &mut Reader<'_>) -> Result<Vec<u32>> {
        let (mut context, mut ended) = (0u32, None);
        let mut tasks = Vec::new();
        while runs.remaining() > 0 {
            let step = runs.varint32()?;
            let (first, n) = (runs.varint32()?, runs.varint32()?);
            // Another executor goes on with the context, or another context begins.
            let ascends = step > 0 || self.ids.is_empty() || ended == Some(first);
            let next = context.checked_add(step).filter(|_| ascends);
            context = next.ok_or_else(|| runs.error("its contexts do not ascend"))?;
            if n as usize > FULL_TASKS - self.ids.len() {
                return Err(runs.error("more tasks than a page holds"));
            }
            let end = first.checked_add(n);
            let end = end.ok_or_else(|| runs.error("a sequence number over 32 bits"))?;
            let id = |seq| TaskId::new(ContextId::new(context), seq);
            self.ids.extend((first..end).map(id));
            ended = Some(end);
            tasks.push(n);
        }
        Ok(tasks)
    }

    fn decode_executors(
        &mut self,
        runs: &[u32],
        all: usize,
        column: &mut Reader<'_>,
    ) -> Result<()> {
        let mut executor = 0;
        self.executors.reserve(self.ids.len());
        for &tasks in runs {
            executor = column.delta32(executor)?;
            if executor as usize >= all {
                return Err(column.error(format!("executor {executor}, of {all}")));
            }
            let until = self.executors.len() + tasks as usize;
            self.executors.resize(until, ExecutorId::new(executor));
        }
        Ok(())
    }

    fn decode_classes(&mut self, columns: &mut Columns<'_>) -> Result<()> {
        let mut objects = Vec::new();
        while columns.of(Column::Kind).remaining() > 0 {
            self.classes.push(columns.class(&mut objects)?);
        }
        let (tasks, classes) = (self.ids.len(), self.classes.len());
        let column = columns.of(Column::Class);
        // A task of a class that is new has a 0.
        let (mut new, mut greatest) = (0, 0);
        let mut class = |known: u16| {
            let class = if known == 0 { new } else { known - 1 };
            new += u16::from(known == 0);
            greatest = greatest.max(class);
            class
        };
        let low = column.take(tasks)?;
        self.class = if classes <= NARROW {
            low.iter().map(|low| class(u16::from(*low))).collect()
        } else {
            let both = low.iter().zip(column.take(tasks)?);
            let both = both.map(|(low, high)| class(u16::from_le_bytes([*low, *high])));
            both.collect()
        };
        let known = tasks == 0 || usize::from(greatest) < classes;
        match known && usize::from(new) == classes {
            true => Ok(()),
            false => {
                Err(column.error(format!("tasks of {new} classes, of which it has {classes}")))
            }
        }
    }

    fn decode_spans(&mut self, previous: &mut Previous, listed: &mut Reader<'_>) -> Result<()> {
        if self.classes.iter().all(|class| class.spans == Spans::None) {
            return Ok(());
        }
        self.spans_ends.reserve(self.class.len());
        self.spans.reserve(self.class.len());
        for class in &self.class {
            match self.classes[usize::from(*class)].spans {
                Spans::None => {}
                Spans::Next(records) => self.spans.push(previous.next(records)),
                Spans::Listed => previous.spans(listed, &mut self.spans)?,
            }
            self.spans_ends.push(place(&self.spans)?);
        }
        Ok(())
    }

    fn decode_times(&mut self, columns: &mut Columns<'_>) -> Result<()> {
        let (mut gaps, mut durations) = ([0; FULL_TASKS], [0; FULL_TASKS]);
        let tasks = self.ids.len();
        for (column, values) in
            [(Column::Start, &mut gaps[..tasks]), (Column::Duration, &mut durations[..tasks])]
        {
            let column = columns.of(column);
            let head = Head::read(column)?;
            let planes = head.take(column, tasks, true)?;
            head.values(planes, &[], (tasks, 0..tasks), values);
        }
        let (mut end_ns, mut over) = (0u64, false);
        let times = gaps[..tasks].iter().zip(&durations[..tasks]);
        let times = times.map(|(gap, duration)| {
            let start_ns = end_ns.wrapping_add(unzigzag(*gap));
            let overflows;
            (end_ns, overflows) = start_ns.overflowing_add(*duration);
            over |= overflows;
            (start_ns, end_ns)
        });
        self.times = times.collect();
        match over {
            false => Ok(()),
            true => Err(malformed(WHAT, "a time over 64 bits")),
        }
    }
}

/// The largest number of classes whose numbers take one byte.
const NARROW: usize = 255;

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

    /// The next class.
    fn class(&mut self, objects: &mut Vec<u64>) -> Result<Class> {
        let bits = self.of(Column::Kind).u8()?;
        let op = self.of(Column::Op).u8()?;
        let kind = TaskKind::from_u8(bits & KIND);
        let mut class = Class {
            kind: kind.ok_or_else(|| malformed(WHAT, format!("task kind {}", bits & KIND)))?,
            op: SyncOp::from_u8(op).unwrap_or(SyncOp::Other),
            ..Class::default()
        };
        if bits & HAS_OBJECT != 0 {
            class.object = self.object(objects)?;
        }
        let totals = self.of(Column::Totals);
        let Counts { blocks, reads, writes, bytes, others } = &mut class.totals;
        if bits & HAS_COUNTS != 0 {
            for n in [blocks, reads, writes, bytes] {
                *n = totals.varint()?;
            }
        }
        if bits & HAS_OTHERS != 0 {
            *others = totals.varint()?;
        }
        if bits & HAS_SPANS != 0 {
            class.spans = match self.of(Column::Shape).varint32()? {
                0 => Spans::Listed,
                records => Spans::Next(records),
            };
        }
        if bits & HAS_EDGES != 0 {
            class.edges = self.of(Column::Shape).varint32()?;
        }
        Ok(class)
    }

    fn object(&mut self, objects: &mut Vec<u64>) -> Result<u64> {
        let column = self.of(Column::Object);
        let known = column.varint()?;
        if known > 0 {
            let at = usize::try_from(known - 1).unwrap_or(usize::MAX);
            let object = objects.get(at).copied();
            return object.ok_or_else(|| column.error("an object that was not named"));
        }
        let object = column.delta(objects.last().copied().unwrap_or(0))?;
        objects.push(object);
        Ok(object)
    }
}

impl Previous {
    /// A span that goes on where the last one of the page ended.
    #[inline]
    fn next(&mut self, records: u32) -> FrameSpan {
        let (frame, first_record) = (FrameRef(self.frame), self.span_end);
        self.span_end = first_record.wrapping_add(records);
        FrameSpan { frame, first_record, records }
    }

    fn spans(&mut self, column: &mut Reader<'_>, out: &mut Vec<FrameSpan>) -> Result<()> {
        for _ in 0..column.count(column.remaining())? {
            let frame = column.delta(self.frame)?;
            if frame != self.frame {
                (self.frame, self.span_end) = (frame, 0);
            }
            self.span_end = column.delta32(self.span_end)?;
            let records = column.varint32()?;
            out.push(self.next(records));
        }
        Ok(())
    }
}
