//! Pages on their way into the file. Those that fill while a graph is written are packed on other
//! threads, and come out in the order in which they went in.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::pack;
use crate::codec::{MAX_PAGE, Packer};
use crate::error::{Result, misuse};
use crate::id::TaskId;
use crate::unit::Tag;

/// Compression level of the pages, which are small. Level 6 takes three times as long for pages
/// that are 3 to 12% smaller.
const LEVEL: i32 = 3;

/// Number of pages that may wait to be written. Each takes some ten thousand bytes.
const MOST: usize = 32;

/// A smaller page is left to the writer.
const LEAST: usize = 4096;

/// What a page is, by which its place goes into an index.
pub(crate) type Name = (Tag, TaskId);

/// The bytes of a page, until somebody begins to pack them.
type Raw = Arc<Mutex<Option<Vec<u8>>>>;

/// Where the payload of a page comes from.
type Packed = Receiver<Result<Vec<u8>>>;

/// The pages that are being packed, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Packing(VecDeque<(Name, Raw, Packed)>);

impl Packing {
    /// Has a page packed on another thread.
    pub(crate) fn push(&mut self, name: Name, raw: Vec<u8>) {
        let small = raw.len() < LEAST;
        let raw = Arc::new(Mutex::new(Some(raw)));
        let (done, packed) = channel();
        self.0.push_back((name, Arc::clone(&raw), packed));
        if small {
            return;
        }
        rayon::spawn(move || {
            if let Some(raw) = take(&raw) {
                // A writer that was dropped needs no page.
                let _ = done.send(pack_page(&raw));
            }
        });
    }

    /// Whether the oldest page must be written before another one is pushed.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// The payload of the oldest page. A page that nobody has begun is packed here, so that this
    /// never waits for a thread of the pool to become free: it may be one itself.
    pub(crate) fn pop(&mut self) -> Option<Result<(Name, Vec<u8>)>> {
        let (name, raw, packed) = self.0.pop_front()?;
        let payload = match take(&raw) {
            Some(raw) => pack_page(&raw),
            None => packed
                .recv()
                .unwrap_or_else(|_| Err(misuse("the thread that packs a page panicked"))),
        };
        Some(payload.map(|payload| (name, payload)))
    }
}

fn take(raw: &Raw) -> Option<Vec<u8>> {
    raw.lock().unwrap_or_else(PoisonError::into_inner).take()
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
