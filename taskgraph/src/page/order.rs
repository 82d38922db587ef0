//! Order pages: 4096 steps of the breadth-first order.
//!
//! Within a context sequence numbers ascend by one, so the order is a sequence of contexts. Each page names its
//! contexts and the sequence number at which each starts, so that a page can be read by itself.

use rustc_hash::FxHashMap as HashMap;

use crate::codec::MAX_PAGE;
use crate::error::Result;
use crate::id::{ContextId, TaskId};
use crate::page::{join_columns, split_columns, unpack};
use crate::wire::{put_delta, put_varint};

/// Tasks of a full page; only the last page of a file has fewer.
const ORDER_PAGE: usize = 4096;

const WHAT: &str = "order page";

/// Columns: contexts in order of first appearance, the sequence number each starts at, the steps as indices into these.
const COLUMNS: usize = 3;

/// Collects the steps of a page.
#[derive(Debug, Default)]
pub(crate) struct OrderPageWriter {
    columns: [Vec<u8>; COLUMNS],
    contexts: HashMap<ContextId, u64>,
    last_new: u64,
    first: Option<TaskId>,
    tasks: usize,
}

impl OrderPageWriter {
    /// The first task; `None` for an empty page.
    pub(crate) fn first(&self) -> Option<TaskId> {
        self.first
    }

    pub(crate) fn is_full(&self) -> bool {
        self.tasks == ORDER_PAGE
    }

    /// Appends a task; its sequence number counts only at the first task of its context in the page.
    pub(crate) fn push(&mut self, id: TaskId) {
        let [contexts, seqs, steps] = &mut self.columns;
        let new = self.contexts.len() as u64;
        let index = *self.contexts.entry(id.context).or_insert_with(|| {
            put_delta(contexts, u64::from(id.context.get()), self.last_new);
            put_varint(seqs, u64::from(id.seq));
            self.last_new = u64::from(id.context.get());
            new
        });
        put_varint(steps, index);
        self.first.get_or_insert(id);
        self.tasks += 1;
    }

    /// The raw bytes of the page; the writer is then empty for the next one.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let raw = join_columns(&mut self.columns);
        *self = Self {
            columns: std::mem::take(&mut self.columns),
            ..Self::default()
        };
        raw
    }
}

/// A decoded page: the tasks in order.
#[derive(Debug, Default)]
pub(crate) struct OrderPage(pub(crate) Vec<TaskId>);

impl OrderPage {
    pub(crate) fn decode(payload: &[u8]) -> Result<Self> {
        let raw = unpack(WHAT, payload, MAX_PAGE)?;
        let [mut contexts, mut seqs, mut steps] = split_columns::<COLUMNS>(WHAT, &raw)?;
        let mut next = Vec::new();
        let mut last = 0;
        while contexts.remaining() > 0 {
            last = contexts.delta32(last)?;
            next.push(TaskId::new(ContextId::new(last), seqs.varint32()?));
        }
        let mut tasks = Vec::with_capacity(ORDER_PAGE.min(steps.remaining()));
        while steps.remaining() > 0 {
            if tasks.len() == ORDER_PAGE {
                return Err(steps.error("more tasks than a page holds"));
            }
            let index = usize::try_from(steps.varint()?).unwrap_or(usize::MAX);
            let id = next
                .get_mut(index)
                .ok_or_else(|| steps.error("a context that was not named"))?;
            tasks.push(*id);
            id.seq = id.seq.wrapping_add(1);
        }
        seqs.end()?;
        Ok(Self(tasks))
    }
}
