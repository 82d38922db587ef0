//! Collects the tasks of a page.

use rustc_hash::FxHashMap as HashMap;

use super::{
    COLUMNS, Column, FULL_TASKS, HAS_COUNTS, HAS_EDGES, HAS_OBJECT, HAS_OTHERS, HAS_SPANS, Previous,
};
use crate::id::{ContextId, TaskId};
use crate::page::{FULL_EDGES, join_columns};
use crate::record::{FrameSpan, TaskRecord};
use crate::wire::{put_delta, put_varint};

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
