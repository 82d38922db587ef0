#![allow(unsafe_code, reason = "owns memory mapped from the kernel that instrumented code writes")]
//! A trace buffer is mapped memory with a small header. Lists of such buffers need no allocation,
//! so signal handlers can use them.
//!
//! A thread writes records through its [`Buffer`]. What the thread hands over is a [`Part`]. The
//! mapping counts its holders, and only the last one to let go can get the buffer back for another
//! use. So a buffer is never written again from its start while the writer still has to read a part
//! of it.

use std::ptr::NonNull;

use contech_trace::abi::SLACK;

use crate::memory;
use crate::primitive::atomic::{AtomicUsize, Ordering, fence};

/// Bytes at the start of the mapping that hold the header.
pub(crate) const HEADER: usize = 64;
/// Bytes of a page.
const PAGE: usize = 4096;

#[repr(C)]
struct Header {
    /// Counts the buffer of the owner, who makes records in it, and every part of it.
    holders: AtomicUsize,
    bytes: u32,
    /// Pages from the start that were used since the buffer was mapped.
    used: u32,
    next: Option<Buffer>,
    piece: Piece,
}
const _: () = assert!(size_of::<Header>() <= HEADER);

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

/// A hold on a mapping. The last hold to be dropped unmaps it.
struct Hold(NonNull<Header>);

// SAFETY: a buffer is plain memory; nothing in it belongs to a thread. Holders share its counter,
// which is atomic.
unsafe impl Send for Hold {}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:p}", self.0)
    }
}

impl Hold {
    fn holders(&self) -> &AtomicUsize {
        // SAFETY: `Buffer::map` initialised the header, which stays while there is a holder.
        unsafe { &(*self.0.as_ptr()).holders }
    }

    fn bytes(&self) -> usize {
        // SAFETY: the header is initialised as above, and the size never changes.
        unsafe { (*self.0.as_ptr()).bytes as usize }
    }

    fn data(&self) -> *mut u8 {
        // SAFETY: the header is smaller than the mapping.
        unsafe { self.0.as_ptr().cast::<u8>().add(HEADER) }
    }

    fn another(&self) -> Hold {
        self.holders().fetch_add(1, Ordering::Relaxed);
        Hold(self.0)
    }

    /// Lets go of the mapping. Returns whether this was the last holder, which then has the mapping
    /// for itself.
    fn is_last(&self) -> bool {
        let last = self.holders().fetch_sub(1, Ordering::Release) == 1;
        if last {
            // The fence makes sure that whatever other holders did with the bytes is done.
            fence(Ordering::Acquire);
        }
        last
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.is_last() {
            let bytes = self.bytes();
            // SAFETY: there is no other holder, and the header (in the mapping) is not used
            // afterwards.
            unsafe { memory::unmap(self.0.as_ptr().cast(), bytes) };
        }
    }
}

/// A mapping in which its owner makes records.
#[derive(Debug)]
pub(crate) struct Buffer(Hold);

impl Buffer {
    /// Maps a buffer of `bytes` bytes in all; `None` when memory has run out.
    pub(crate) fn map(bytes: usize) -> Option<Self> {
        debug_assert!(bytes > HEADER + SLACK);
        let size = u32::try_from(bytes).ok()?;
        let at = NonNull::new(memory::map(bytes)?)?.cast::<Header>();
        let header = Header {
            holders: AtomicUsize::new(1),
            bytes: size,
            used: 0,
            next: None,
            piece: Piece::default(),
        };
        // SAFETY: the mapping is fresh, page-aligned and larger than a header.
        unsafe { at.write(header) };
        Some(Buffer(Hold(at)))
    }

    fn next(&mut self) -> &mut Option<Buffer> {
        // SAFETY: only the owner of the buffer, borrowed exclusively, reaches this field.
        unsafe { &mut (*self.0.0.as_ptr()).next }
    }

    fn room(&self) -> usize {
        self.0.bytes() - HEADER
    }

    /// The first byte for records.
    pub(crate) fn data(&self) -> *mut u8 {
        self.0.data()
    }

    /// The address at which records must stop until the next check.
    pub(crate) fn limit(&self) -> *mut u8 {
        // SAFETY: `map` demands room for header and slack.
        unsafe { self.data().add(self.room() - SLACK) }
    }

    /// Whether `cursor` lies in this buffer.
    pub(crate) fn contains(&self, cursor: *const u8) -> bool {
        cursor.addr().wrapping_sub(self.data().addr()) <= self.room()
    }

    fn fits(&self, start: usize, len: usize) -> bool {
        start.checked_add(len).is_some_and(|end| end <= self.room())
    }

    /// Notes which part of the data holds records. Returns `false`, and changes nothing, if the
    /// part is not within the buffer.
    pub(crate) fn set_piece(&mut self, piece: Piece) -> bool {
        let fits = self.fits(piece.start, piece.len);
        if fits {
            // SAFETY: only the owner of the buffer, borrowed exclusively, reaches this field.
            unsafe { (*self.0.0.as_ptr()).piece = piece };
        }
        fits
    }

    /// Notes that the pages up to `cursor` are used, and returns how many of them the buffer had
    /// not used before: the kernel had to give them.
    pub(crate) fn use_to(&mut self, cursor: *const u8) -> usize {
        let at = cursor.addr().wrapping_sub(self.0.0.as_ptr().addr());
        let pages = (at / PAGE + 1).min(self.0.bytes() / PAGE);
        // SAFETY: only the owner of the buffer, borrowed exclusively, reaches this field.
        let used = unsafe { &mut (*self.0.0.as_ptr()).used };
        let more = pages.saturating_sub(*used as usize);
        // A buffer has fewer pages than bytes.
        *used += u32::try_from(more).unwrap_or(0);
        more
    }

    /// The part of the data that holds records.
    pub(crate) fn piece(&self) -> Piece {
        // SAFETY: only the owner of the buffer reaches this field.
        unsafe { (*self.0.0.as_ptr()).piece }
    }

    /// A part with records that the owner does not change any more, while the owner goes on behind
    /// them; `None` if they are not within the buffer.
    pub(crate) fn part(&self, piece: Piece) -> Option<Part> {
        let fits = self.fits(piece.start, piece.len);
        fits.then(|| Part { hold: self.0.another(), piece, keeps: piece.len })
    }
}

/// Records on their way to the writer.
#[derive(Debug)]
pub(crate) struct Part {
    hold: Hold,
    piece: Piece,
    keeps: usize,
}

impl Part {
    /// Where the records are in the buffer, and when they were made.
    pub(crate) fn piece(&self) -> Piece {
        self.piece
    }

    /// The bytes of the records.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `Buffer` made parts within the mapping, which is initialised (at least with the
        // kernel's zeros). Its owner wrote these bytes before it handed them over, and does not
        // change them afterwards.
        unsafe {
            let start = self.hold.data().add(self.piece.start);
            std::slice::from_raw_parts(start, self.piece.len)
        }
    }

    /// Bytes of memory that cannot be used again before this part is written.
    pub(crate) fn keeps(&self) -> usize {
        self.keeps
    }

    /// Lets go of the buffer. The last of its holders gets the buffer back.
    pub(crate) fn release(self) -> Option<Buffer> {
        let hold = std::mem::ManuallyDrop::new(self.hold);
        hold.is_last().then(|| {
            hold.holders().store(1, Ordering::Relaxed);
            Buffer(Hold(hold.0))
        })
    }
}

/// The owner has no more use for its buffer, so what remains of it is its last piece.
impl From<Buffer> for Part {
    fn from(buffer: Buffer) -> Self {
        let (piece, keeps) = (buffer.piece(), buffer.0.bytes());
        Part { hold: buffer.0, piece, keeps }
    }
}

/// List of buffers, linked through their headers.
#[derive(Debug, Default)]
pub(crate) struct List {
    head: Option<Buffer>,
    tail: Option<NonNull<Header>>,
}

// SAFETY: `tail` points into the list's own last buffer, so it moves with the list.
unsafe impl Send for List {}

impl List {
    pub(crate) const fn new() -> Self {
        List { head: None, tail: None }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Adds a buffer at the end.
    pub(crate) fn push(&mut self, mut buffer: Buffer) {
        *buffer.next() = None;
        let tail = buffer.0.0;
        self.link(buffer, tail);
    }

    /// Moves the other list's buffers to the end of this one.
    pub(crate) fn append(&mut self, mut other: List) {
        if let (Some(head), Some(tail)) = (other.head.take(), other.tail.take()) {
            self.link(head, tail);
        }
    }

    /// Adds a buffer at the front.
    pub(crate) fn push_front(&mut self, mut buffer: Buffer) {
        let header = buffer.0.0;
        *buffer.next() = self.head.take();
        self.head = Some(buffer);
        self.tail.get_or_insert(header);
    }

    fn link(&mut self, head: Buffer, tail: NonNull<Header>) {
        match self.tail {
            // SAFETY: `tail` is the header of the last buffer this list owns.
            Some(last) => unsafe { (*last.as_ptr()).next = Some(head) },
            None => self.head = Some(head),
        }
        self.tail = Some(tail);
    }

    /// Takes the first buffer.
    pub(crate) fn pop(&mut self) -> Option<Buffer> {
        let mut first = self.head.take()?;
        self.head = first.next().take();
        if self.head.is_none() {
            self.tail = None;
        }
        Some(first)
    }
}

impl Drop for List {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 64 << 10;

    #[test]
    fn a_piece_must_lie_within_the_buffer() {
        let mut b = Buffer::map(BYTES).unwrap();
        let piece = |start, len| Piece { start, len, ..Piece::default() };
        assert!(b.set_piece(piece(8, 100)));
        assert!(!b.set_piece(piece(8, BYTES)));
        assert!(!b.set_piece(piece(usize::MAX, 2)));
        assert!(b.part(piece(8, BYTES)).is_none() && b.part(piece(usize::MAX, 2)).is_none());
        assert!(b.contains(b.data()) && b.contains(b.limit()));
        assert!(!b.contains(b.data().wrapping_sub(1)));
        assert_eq!(Part::from(b).bytes(), [0; 100]);
    }

    #[test]
    fn a_buffer_comes_back_with_its_last_holder_whoever_that_is() {
        for owner_first in [true, false] {
            let b = Buffer::map(BYTES).unwrap();
            let at = b.data();
            let part = |start, len| b.part(Piece { start, len, ..Piece::default() }).unwrap();
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
        let mut b = Buffer::map(BYTES).unwrap();
        let at = |n: usize| b.data().wrapping_add(n);
        let cursors = [at(0), at(100), at(2 * PAGE), at(PAGE), b.limit(), b.limit()];
        let used: Vec<usize> = cursors.into_iter().map(|c| b.use_to(c)).collect();
        assert_eq!(used[..4], [1, 0, 2, 0]);
        assert!(used[4] > 0 && used[5] == 0, "{used:?}");
        assert_eq!(b.use_to(at_end(&b)), BYTES / PAGE - used.iter().sum::<usize>());
    }

    fn at_end(b: &Buffer) -> *mut u8 {
        b.data().wrapping_add(b.room())
    }

    #[test]
    fn lists_keep_order_and_have_two_ends() {
        let buffers: Vec<Buffer> = (0..4).map(|_| Buffer::map(BYTES).unwrap()).collect();
        let at: Vec<*mut u8> = buffers.iter().map(Buffer::data).collect();
        let (mut a, mut b, mut stack) = (List::new(), List::new(), List::new());
        for (i, buffer) in buffers.into_iter().enumerate() {
            if i < 2 { a.push(buffer) } else { b.push(buffer) }
        }
        a.append(b);
        a.append(List::new());
        for expected in &at {
            let buffer = a.pop().unwrap();
            assert_eq!(buffer.data(), *expected);
            stack.push_front(buffer);
        }
        assert!(a.is_empty() && a.pop().is_none());
        a.push_front(stack.pop().unwrap());
        a.append(stack);
        for expected in at.iter().rev() {
            assert_eq!(a.pop().unwrap().data(), *expected);
        }
        assert!(a.is_empty() && a.pop().is_none());
    }
}
