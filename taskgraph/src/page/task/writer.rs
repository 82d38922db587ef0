//! Collects the tasks of a page.

use rustc_hash::FxHashMap as HashMap;

use super::{
    COLUMNS, Class, Column, FULL_TASKS, HAS_COUNTS, HAS_EDGES, HAS_OBJECT, HAS_OTHERS, HAS_SPANS,
    NARROW, Previous, Spans,
};
use crate::column::{self, Coding};
use crate::id::{ExecutorId, TaskId};
use crate::page::{FULL_EDGES, join_columns};
use crate::record::{FrameSpan, TaskRecord};
use crate::wire::{put_delta, put_varint, zigzag};

/// Tasks of one context by one executor.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: TaskId,
    executor: ExecutorId,
    tasks: u32,
}

/// Collects the tasks of a page.
#[derive(Debug, Default)]
pub(crate) struct TaskPageWriter {
    columns: [Vec<u8>; COLUMNS],
    previous: Previous,
    /// The places of [`Previous::objects`].
    places: HashMap<u64, u64>,
    /// The numbers of the classes, and what is stored of each task's.
    classes: HashMap<Class, u16>,
    class: Vec<u16>,
    runs: Vec<Run>,
    end_ns: u64,
    /// What is stored of the start of each task, and its duration.
    gaps: Vec<u64>,
    durations: Vec<u64>,
    /// Number of edges and spans.
    parts: usize,
}

impl TaskPageWriter {
    pub(crate) fn is_full(&self) -> bool {
        self.class.len() >= FULL_TASKS || self.parts >= FULL_EDGES
    }

    pub(crate) fn push(&mut self, t: &TaskRecord, dependencies: &[TaskId]) {
        self.parts += dependencies.len() + t.frames.len();
        match self.runs.last_mut() {
            Some(run) if (run.first.context, run.executor) == (t.id.context, t.executor) => {
                run.tasks += 1;
            }
            _ => self.runs.push(Run { first: t.id, executor: t.executor, tasks: 1 }),
        }
        self.gaps.push(zigzag(t.start_ns.wrapping_sub(self.end_ns)));
        self.durations.push(t.end_ns.saturating_sub(t.start_ns));
        self.end_ns = t.end_ns;
        let class = Class {
            kind: t.kind,
            op: t.op,
            object: t.object,
            totals: t.counts,
            spans: self.push_spans(&t.frames),
            edges: u32::try_from(dependencies.len()).unwrap_or(u32::MAX),
        };
        let known = self.known(class);
        self.class.push(known);
        let [.., contexts, seqs] = &mut self.columns;
        for &d in dependencies {
            self.previous.ids.put(d, contexts, seqs);
        }
    }

    /// What is stored of a task of a class.
    fn known(&mut self, class: Class) -> u16 {
        if let Some(known) = self.classes.get(&class) {
            return 1 + known;
        }
        let new = u16::try_from(self.classes.len()).unwrap_or(u16::MAX);
        self.classes.insert(class, new);
        self.push_class(&class);
        0
    }

    fn column(&mut self, column: Column) -> &mut Vec<u8> {
        &mut self.columns[column as usize]
    }

    fn push_class(&mut self, class: &Class) {
        let totals = &class.totals;
        let counts = [totals.blocks, totals.reads, totals.writes, totals.bytes];
        let counted = counts.iter().any(|n| *n != 0);
        let mut kind = class.kind as u8;
        for (has, bit) in [
            (class.object != 0, HAS_OBJECT),
            (class.spans != Spans::None, HAS_SPANS),
            (counted, HAS_COUNTS),
            (class.edges != 0, HAS_EDGES),
            (totals.others != 0, HAS_OTHERS),
        ] {
            kind |= if has { bit } else { 0 };
        }
        self.column(Column::Kind).push(kind);
        self.column(Column::Op).push(class.op as u8);
        if class.object != 0 {
            self.push_object(class.object);
        }
        let column = self.column(Column::Totals);
        if counted {
            counts.iter().for_each(|&n| put_varint(column, n));
        }
        if totals.others != 0 {
            put_varint(column, totals.others);
        }
        let column = self.column(Column::Shape);
        match class.spans {
            Spans::None => {}
            Spans::Next(records) => put_varint(column, u64::from(records)),
            Spans::Listed => put_varint(column, 0),
        }
        if class.edges != 0 {
            put_varint(column, u64::from(class.edges));
        }
    }

    fn push_object(&mut self, object: u64) {
        let objects = &mut self.previous.objects;
        let column = &mut self.columns[Column::Object as usize];
        if let Some(at) = self.places.get(&object) {
            return put_varint(column, 1 + at);
        }
        put_varint(column, 0);
        put_delta(column, object, objects.last().copied().unwrap_or(0));
        self.places.insert(object, objects.len() as u64);
        objects.push(object);
    }

    fn push_spans(&mut self, spans: &[FrameSpan]) -> Spans {
        let p = &mut self.previous;
        match spans {
            [] => return Spans::None,
            [one]
                if (one.frame.0, one.first_record) == (p.frame, p.span_end) && one.records > 0 =>
            {
                p.next(one.records);
                return Spans::Next(one.records);
            }
            _ => {}
        }
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
        Spans::Listed
    }

    /// The first task and the raw bytes of the page, if it has any; the writer is then empty for
    /// the next one.
    pub(crate) fn finish(&mut self) -> Option<(TaskId, Vec<u8>)> {
        let first = self.runs.first()?.first;
        let column = &mut self.columns[Column::Runs as usize];
        let mut last = 0;
        for run in &self.runs {
            let context = run.first.context.get();
            put_varint(column, u64::from(context.wrapping_sub(last)));
            put_varint(column, u64::from(run.first.seq));
            put_varint(column, u64::from(run.tasks));
            last = context;
        }
        let column = &mut self.columns[Column::Executor as usize];
        let mut last = 0;
        for run in &self.runs {
            let executor = u64::from(run.executor.get());
            put_delta(column, executor, last);
            last = executor;
        }
        let class = &mut self.columns[Column::Class as usize];
        class.extend(self.class.iter().map(|class| class.to_le_bytes()[0]));
        if self.classes.len() > NARROW {
            class.extend(self.class.iter().map(|class| class.to_le_bytes()[1]));
        }
        let (mut scratch, mut planes) = (Vec::new(), Vec::new());
        for (column, values) in [(Column::Start, &self.gaps), (Column::Duration, &self.durations)] {
            let head = &mut self.columns[column as usize];
            column::put(Coding::Plain, values, &[], &mut scratch, head, &mut planes);
            head.append(&mut planes);
        }
        let raw = join_columns(&mut self.columns);
        *self = Self { columns: std::mem::take(&mut self.columns), ..Self::default() };
        Some((first, raw))
    }
}
