#![allow(unsafe_code, reason = "owns memory mapped from the kernel that instrumented code writes")]
//! A trace buffer is mapped memory. A thread writes records through its [`Buffer`]. What the thread
//! hands over is a [`Part`]. Only the last of the mapping's holders to let go can get the buffer
//! back for another use. So a buffer is never written again from its start while the writer still
//! has to read a part of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_trace::abi::SLACK;

use crate::memory;

/// Bytes of a page.
const PAGE: usize = 4096;

/// Memory of the kernel, which gets it back in the end.
#[derive(Debug)]
struct Mapping {
    at: *mut u8,
    bytes: usize,
    /// Pages from the start that were used since they were mapped. Only the owner of the buffer
    /// looks at it.
    used: AtomicUsize,
}

// SAFETY: a buffer is plain memory; nothing in it belongs to a thread.
unsafe impl Send for Mapping {}
// SAFETY: as above. Whoever reads or writes at the address says why that is right.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: there is no holder any more.
        unsafe { memory::unmap(self.at, self.bytes) };
    }
}

/// The part of a buffer that holds records not yet written, and when they were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Offset of the first byte from the start of the data.
    pub start: usize,
    /// Number of bytes.
    pub len: usize,
    /// Ticks when the piece was begun.
    pub first: u64,
    /// Ticks when the piece was handed over.
    pub last: u64,
    /// Whose records they are: 0 for the program's, n for those of the n-th signal handler on top
    /// of it.
    pub level: u8,
}

/// A mapping in which its owner makes records.
#[derive(Debug)]
pub(crate) struct Buffer(Arc<Mapping>);

impl Buffer {
    /// Maps a buffer of `bytes` bytes in all; `None` when memory has run out.
    pub(crate) fn map(bytes: usize) -> Option<Self> {
        debug_assert!(bytes > SLACK);
        let at = memory::map(bytes)?;
        Some(Buffer(Arc::new(Mapping { at, bytes, used: AtomicUsize::new(0) })))
    }

    /// The first byte for records.
    pub(crate) fn data(&self) -> *mut u8 {
        self.0.at
    }

    /// The address at which records must stop until the next check.
    pub(crate) fn limit(&self) -> *mut u8 {
        self.0.at.wrapping_add(self.0.bytes - SLACK)
    }

    /// Whether `cursor` lies in this buffer.
    pub(crate) fn contains(&self, cursor: *const u8) -> bool {
        cursor.addr().wrapping_sub(self.data().addr()) <= self.0.bytes
    }

    /// Notes that the pages up to `cursor` are used, and returns how many of them the buffer had
    /// not used before: the kernel had to give them.
    pub(crate) fn use_to(&self, cursor: *const u8) -> usize {
        let at = cursor.addr().wrapping_sub(self.data().addr());
        let pages = (at / PAGE + 1).min(self.0.bytes / PAGE);
        let used = self.0.used.load(Relaxed);
        self.0.used.store(used.max(pages), Relaxed);
        pages.saturating_sub(used)
    }

    /// A part with records that the owner does not change any more, while the owner goes on behind
    /// them.
    pub(crate) fn part(&self, piece: Piece) -> Part {
        Part::of(Arc::clone(&self.0), piece, piece.len)
    }

    /// The last part of a buffer that its owner has no more use for.
    pub(crate) fn into_part(self, piece: Piece) -> Part {
        let bytes = self.0.bytes;
        Part::of(self.0, piece, bytes)
    }
}

/// Records on their way to the writer.
#[derive(Debug)]
pub(crate) struct Part {
    mapping: Arc<Mapping>,
    piece: Piece,
    keeps: usize,
}

impl Part {
    fn of(mapping: Arc<Mapping>, piece: Piece, keeps: usize) -> Self {
        let end = piece.start.checked_add(piece.len);
        assert!(end.is_some_and(|end| end <= mapping.bytes), "{piece:?} is within the buffer");
        Part { mapping, piece, keeps }
    }

    /// Where the records are in the buffer, and when they were made.
    pub(crate) fn piece(&self) -> Piece {
        self.piece
    }

    /// The bytes of the records.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: parts are within the mapping, which is initialised (at least with the kernel's
        // zeros). Its owner wrote these bytes before it handed them over, and does not change them
        // afterwards.
        unsafe {
            let start = self.mapping.at.add(self.piece.start);
            std::slice::from_raw_parts(start, self.piece.len)
        }
    }

    /// Bytes of memory that cannot be used again before this part is written.
    pub(crate) fn keeps(&self) -> usize {
        self.keeps
    }

    /// Lets go of the buffer. The last of its holders gets the buffer back.
    pub(crate) fn release(self) -> Option<Buffer> {
        Arc::into_inner(self.mapping).map(|mapping| Buffer(Arc::new(mapping)))
    }
}

/// Nothing is in it.
impl From<Buffer> for Part {
    fn from(buffer: Buffer) -> Self {
        buffer.into_part(Piece::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 64 << 10;

    #[test]
    fn a_piece_must_lie_within_the_buffer() {
        let b = Buffer::map(BYTES).unwrap();
        let piece = |start, len| Piece { start, len, ..Piece::default() };
        assert!(b.contains(b.data()) && b.contains(b.limit()));
        assert!(!b.contains(b.data().wrapping_sub(1)));
        for outside in [piece(8, BYTES), piece(usize::MAX, 2)] {
            assert!(std::panic::catch_unwind(|| b.part(outside)).is_err());
        }
        assert_eq!(b.into_part(piece(8, 100)).bytes(), [0; 100]);
    }

    #[test]
    fn a_buffer_comes_back_with_its_last_holder_whoever_that_is() {
        for owner_first in [true, false] {
            let b = Buffer::map(BYTES).unwrap();
            let at = b.data();
            let part = |start, len| b.part(Piece { start, len, ..Piece::default() });
            let (one, two) = (part(0, 10), part(10, 0));
            let owner = Part::from(b);
            let (first, last) = if owner_first { (owner, two) } else { (two, owner) };
            assert!(first.release().is_none());
            assert!(one.release().is_none());
            let back = last.release().unwrap();
            assert_eq!(back.data(), at);
            assert!(Part::from(back).release().is_some(), "as good as new");
        }
    }

    #[test]
    fn a_page_is_new_once() {
        let b = Buffer::map(BYTES).unwrap();
        let at = |n: usize| b.data().wrapping_add(n);
        let cursors = [at(0), at(100), at(2 * PAGE), at(PAGE), b.limit(), b.limit()];
        let used: Vec<usize> = cursors.into_iter().map(|c| b.use_to(c)).collect();
        assert_eq!(used[..4], [1, 0, 2, 0]);
        assert!(used[4] > 0 && used[5] == 0, "{used:?}");
        assert_eq!(b.use_to(at(BYTES)), BYTES / PAGE - used.iter().sum::<usize>());
    }
}
