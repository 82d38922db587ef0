//! Page indices: the first key and the place of each page, as fixed-size entries that are searched
//! in the mapped bytes.

use crate::error::{Result, malformed};
use crate::id::{ContextId, TaskId};

/// Bytes of an entry: context `u32`, sequence `u32`, offset `u64`.
const ENTRY: usize = 16;

/// Collects the index of a kind of page: 16 bytes for about a thousand tasks.
#[derive(Debug, Default)]
pub(crate) struct PageIndexWriter(Vec<u8>);

impl PageIndexWriter {
    /// Adds a page.
    pub(crate) fn push(&mut self, first: TaskId, offset: u64) {
        self.0.extend_from_slice(&first.context.get().to_le_bytes());
        self.0.extend_from_slice(&first.seq.to_le_bytes());
        self.0.extend_from_slice(&offset.to_le_bytes());
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A page index in the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageIndex<'a>(&'a [[u8; ENTRY]]);

impl<'a> PageIndex<'a> {
    pub(crate) fn new(what: &'static str, payload: &'a [u8]) -> Result<Self> {
        match payload.as_chunks() {
            (entries, []) => Ok(Self(entries)),
            (_, rest) => Err(malformed(what, format!("{} bytes after its last entry", rest.len()))),
        }
    }

    /// Number of pages.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// First key and offset of a page.
    pub(crate) fn get(&self, page: usize) -> Option<(TaskId, u64)> {
        self.0.get(page).map(entry)
    }

    /// Whether a key is in this page if it is in any.
    pub(crate) fn is_in(&self, key: TaskId, page: usize) -> bool {
        let starts = |at: usize| self.0.get(at).map(|e| entry(e).0);
        starts(page).is_some_and(|first| first <= key)
            && starts(page + 1).is_none_or(|next| key < next)
    }

    /// The only page that can have a key: the last one that does not start after it.
    pub(crate) fn find(&self, key: TaskId) -> Option<usize> {
        self.end(key).checked_sub(1)
    }

    /// The number of pages that do not start after a key.
    pub(crate) fn end(&self, key: TaskId) -> usize {
        self.0.partition_point(|e| entry(e).0 <= key)
    }
}

fn entry(bytes: &[u8; ENTRY]) -> (TaskId, u64) {
    let key = u64::from_le_bytes([
        bytes[4], bytes[5], bytes[6], bytes[7], bytes[0], bytes[1], bytes[2], bytes[3],
    ]);
    let half = |n: u64| u32::try_from(n & u64::from(u32::MAX)).unwrap_or(0);
    let id = TaskId::new(ContextId::new(half(key >> 32)), half(key));
    let offset =
        [bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]];
    (id, u64::from_le_bytes(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_the_last_page_that_does_not_start_after_it() {
        let mut writer = PageIndexWriter::default();
        let id = |c, s| TaskId::new(ContextId::new(c), s);
        for (first, offset) in [(id(0, 0), 10), (id(0, 1024), 20), (id(300, 5), u64::MAX)] {
            writer.push(first, offset);
        }
        let index = PageIndex::new("test", writer.bytes()).unwrap();
        assert_eq!(index.len(), 3);
        assert_eq!(index.get(2), Some((id(300, 5), u64::MAX)));
        let pages =
            [(id(0, 0), 0), (id(0, 1023), 0), (id(0, 1024), 1), (id(300, 4), 1), (id(300, 5), 2)];
        for (key, page) in pages {
            assert_eq!(index.find(key), Some(page), "{key}");
        }
        assert!(PageIndex::new("test", &[0; 17]).is_err());
        assert_eq!(PageIndex::new("test", &[]).unwrap().find(id(0, 0)), None);
    }
}
