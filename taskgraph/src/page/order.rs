//! Order pages: 4096 steps of the breadth-first order.
//!
//! Within a context sequence numbers ascend by one, so the order is a sequence of contexts. Each
//! page names its contexts and the sequence number at which each starts, so that a page can be read
//! by itself.

use rustc_hash::FxHashMap as HashMap;

use crate::codec::MAX_PAGE;
use crate::error::Result;
use crate::id::{ContextId, TaskId};
use crate::page::{join_columns, split_columns, unpack};
use crate::wire::{Reader, put_delta, put_varint};

/// Tasks of a full page; only the last page of a file has fewer.
const ORDER_PAGE: usize = 4096;

const WHAT: &str = "order page";

/// Columns: contexts in order of first appearance, the sequence number each starts at, the steps as
/// indices into these.
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
    pub(crate) fn is_full(&self) -> bool {
        self.tasks == ORDER_PAGE
    }

    /// Appends a task; its sequence number counts only at the first task of its context in the
    /// page.
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

    /// The first task and the raw bytes of the page, if it has any; the writer is then empty for
    /// the next one.
    pub(crate) fn finish(&mut self) -> Option<(TaskId, Vec<u8>)> {
        let first = self.first?;
        let raw = join_columns(&mut self.columns);
        *self = Self { columns: std::mem::take(&mut self.columns), ..Self::default() };
        Some((first, raw))
    }
}

/// A decoded page.
#[derive(Debug, Default)]
pub(crate) struct OrderPage(pub(crate) Vec<Turn>);

/// Tasks of a context that follow one another in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) first: TaskId,
    pub(crate) tasks: u32,
}

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
        let (mut turns, mut all) = (Vec::new(), 0);
        while steps.remaining() > 0 {
            let index = usize::try_from(steps.varint()?).unwrap_or(usize::MAX);
            let tasks = 1 + repeated(&mut steps, index)?;
            all += tasks;
            if all > ORDER_PAGE {
                return Err(steps.error("more tasks than a page holds"));
            }
            let id =
                next.get_mut(index).ok_or_else(|| steps.error("a context that was not named"))?;
            let tasks = u32::try_from(tasks).unwrap_or(0);
            turns.push(Turn { first: *id, tasks });
            id.seq = id.seq.wrapping_add(tasks);
        }
        seqs.end()?;
        Ok(Self(turns))
    }

    /// The tasks in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = TaskId> {
        let of = |Turn { first, tasks }: Turn| {
            let seqs = (0..tasks).map(move |step| first.seq.wrapping_add(step));
            seqs.map(move |seq| TaskId::new(first.context, seq))
        };
        self.0.iter().copied().flat_map(of)
    }
}

/// Takes the numbers that come next as long as they are this one, which has one byte, and counts
/// them.
fn repeated(steps: &mut Reader<'_>, number: usize) -> Result<usize> {
    let Some(byte) = u8::try_from(number).ok().filter(|byte| *byte < 0x80) else {
        return Ok(0);
    };
    let mut rest = *steps;
    let bytes = rest.take(rest.remaining())?;
    let (words, _) = bytes.as_chunks();
    let same = words.iter().take_while(|word| **word == [byte; 8]);
    let whole = 8 * same.count();
    let more = bytes[whole..].iter().take_while(|other| **other == byte);
    let count = whole + more.count();
    steps.take(count)?;
    Ok(count)
}
