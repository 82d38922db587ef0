//! Pages: tables of tasks, edges and the breadth-first order, cut into pieces that are compressed
//! independently.
//!
//! A page's payload is its raw length (`u32`) and its packed columns. The raw bytes are the lengths
//! of the columns (varints) and the columns; see `FORMAT.md`.

mod edge;
mod index;
mod order;
mod task;

pub(crate) use edge::{DependentsPage, DependentsPageWriter};
pub(crate) use index::{PageIndex, PageIndexWriter};
pub(crate) use order::{OrderPage, OrderPageWriter, Turn};
pub(crate) use task::{TaskPage, TaskPageWriter};

use std::cell::RefCell;

use rustc_hash::FxHashMap as HashMap;

use crate::codec::{MAX_PAGE, Packer, Unpacker};
use crate::error::{Result, misuse};
use crate::id::{ContextId, TaskId};
use crate::wire::{Reader, put_delta, put_varint};

/// Compression level of the pages, which are small. Level 6 takes three times as long for pages
/// that are 3 to 12% smaller.
const LEVEL: i32 = 3;

/// The raw bytes of a page. The columns are cleared.
fn join_columns(columns: &mut [Vec<u8>]) -> Vec<u8> {
    let bytes: usize = columns.iter().map(Vec::len).sum();
    let mut raw = Vec::with_capacity(bytes + 4 * columns.len());
    for column in columns.iter() {
        put_varint(&mut raw, column.len() as u64);
    }
    for column in columns.iter_mut() {
        raw.append(column);
    }
    raw
}

/// Packs bytes, at most `limit`, together with their length.
pub(crate) fn pack(raw: &[u8], limit: usize, packer: &mut Packer) -> Result<Vec<u8>> {
    let length = u32::try_from(raw.len()).ok().filter(|&n| n as usize <= limit);
    let length = length.ok_or_else(|| {
        misuse(format!("a page or table of {} bytes is over the limit", raw.len()))
    })?;
    let mut out = length.to_le_bytes().to_vec();
    packer.pack(raw, &mut out)?;
    Ok(out)
}

/// The payload of a page. Making a context of zstd takes as long as packing one.
pub(crate) fn pack_page(raw: &[u8]) -> Result<Vec<u8>> {
    thread_local! {
        static PACKER: RefCell<Option<Packer>> = const { RefCell::new(None) };
    }
    PACKER.with_borrow_mut(|packer| {
        let packer = match packer {
            Some(packer) => packer,
            None => packer.insert(Packer::new(LEVEL)?),
        };
        pack(raw, MAX_PAGE, packer)
    })
}

/// The inverse of [`pack`].
pub(crate) fn unpack(what: &'static str, payload: &[u8], limit: usize) -> Result<Vec<u8>> {
    let mut r = Reader::new(what, payload);
    let length = r.u32()? as usize;
    let mut raw = Vec::new();
    let packed = r.take(r.remaining())?;
    // Making a context of zstd takes as long as unpacking a page.
    thread_local! {
        static UNPACKER: RefCell<Unpacker> = RefCell::new(Unpacker::new());
    }
    UNPACKER.with_borrow_mut(|unpacker| unpacker.unpack(what, packed, length, limit, &mut raw))?;
    Ok(raw)
}

/// A page is full when it has this many edges (or spans of actions), however few tasks it has.
const FULL_EDGES: usize = 16 * 1024;

/// The columns of an unpacked page.
fn split_columns<'a, const N: usize>(what: &'static str, raw: &'a [u8]) -> Result<[Reader<'a>; N]> {
    let mut r = Reader::new(what, raw);
    let mut lengths = [0; N];
    for length in &mut lengths {
        *length = r.count(raw.len())?;
    }
    let mut columns = [Reader::new(what, &[]); N];
    for (column, length) in columns.iter_mut().zip(lengths) {
        *column = Reader::new(what, r.take(length)?);
    }
    r.end()?;
    Ok(columns)
}

/// Predicts the sequence numbers of task ids within a page: they are near the last one of the same
/// context.
#[derive(Debug, Default)]
struct IdPredictor(HashMap<ContextId, u32>);

impl IdPredictor {
    fn put(&mut self, id: TaskId, contexts: &mut Vec<u8>, seqs: &mut Vec<u8>) {
        put_varint(contexts, u64::from(id.context.get()));
        let last = self.0.entry(id.context).or_default();
        put_delta(seqs, u64::from(id.seq), u64::from(*last));
        *last = id.seq;
    }

    fn get(&mut self, contexts: &mut Reader<'_>, seqs: &mut Reader<'_>) -> Result<TaskId> {
        let context = ContextId::new(contexts.varint32()?);
        let last = self.0.entry(context).or_default();
        *last = seqs.delta32(*last)?;
        Ok(TaskId::new(context, *last))
    }
}
