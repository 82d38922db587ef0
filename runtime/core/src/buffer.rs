#![allow(
    unsafe_code,
    reason = "owns memory mapped from the kernel that instrumented code writes"
)]
//! A trace buffer: mapped memory with a small header, and lists of such buffers that need no
//! allocation (usable in signal handlers).

use std::ptr::NonNull;

use contech_trace::abi::SLACK;

use crate::memory;

/// Bytes at the start of the mapping that hold the header.
pub const HEADER: usize = 64;
/// Most bytes of a buffer that are worth touching: what lies further on is out of the caches again when it is used.
const TOUCHED: usize = 1 << 20;

#[repr(C)]
struct Header {
    next: Option<Buffer>,
    bytes: usize,
    piece: Piece,
}
const _: () = assert!(size_of::<Header>() <= HEADER);

/// The part of a buffer that holds records not yet written, and when they were made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Piece {
    /// Offset of the first byte from the start of the data.
    pub start: usize,
    /// Bytes.
    pub len: usize,
    /// Ticks when it was begun.
    pub first: u64,
    /// Ticks when it was handed over.
    pub last: u64,
    /// Whose records they are: 0 the program's, n the n-th signal handler's on top of it.
    pub level: u8,
}

/// Owns one mapping.
pub struct Buffer(NonNull<Header>);

// SAFETY: a buffer is plain memory with one owner; nothing in it belongs to a thread.
unsafe impl Send for Buffer {}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({:p})", self.0)
    }
}

impl Buffer {
    /// Maps a buffer of `bytes` bytes in all; `None` when memory has run out.
    #[must_use]
    pub fn map(bytes: usize) -> Option<Self> {
        debug_assert!(bytes > HEADER + SLACK);
        let at = NonNull::new(memory::map(bytes)?)?.cast::<Header>();
        let header = Header {
            next: None,
            bytes,
            piece: Piece::default(),
        };
        // SAFETY: the mapping is fresh, page-aligned and larger than a header.
        unsafe { at.write(header) };
        Some(Buffer(at))
    }

    fn header(&self) -> &Header {
        // SAFETY: `map` initialised the header, and only the owner reaches it.
        unsafe { self.0.as_ref() }
    }

    fn header_mut(&mut self) -> &mut Header {
        // SAFETY: as for `header`, and `self` is borrowed exclusively.
        unsafe { self.0.as_mut() }
    }

    /// First byte for records.
    #[must_use]
    pub fn data(&self) -> *mut u8 {
        // SAFETY: the header is smaller than the mapping.
        unsafe { self.0.as_ptr().cast::<u8>().add(HEADER) }
    }

    /// Where records must stop until the next check.
    #[must_use]
    pub fn limit(&self) -> *mut u8 {
        // SAFETY: `map` demands room for header and slack.
        unsafe {
            self.0
                .as_ptr()
                .cast::<u8>()
                .add(self.header().bytes - SLACK)
        }
    }

    /// Whether a cursor into this buffer could be here.
    #[must_use]
    pub fn contains(&self, cursor: *const u8) -> bool {
        let start = self.0.addr().get();
        (start + HEADER..=start + self.header().bytes).contains(&cursor.addr())
    }

    /// Notes which part of the data holds records; `false` (and no change) when it is not within the
    /// buffer.
    pub fn set_piece(&mut self, piece: Piece) -> bool {
        let fits = piece
            .start
            .checked_add(piece.len)
            .is_some_and(|end| end <= self.header().bytes - HEADER);
        if fits {
            self.header_mut().piece = piece;
        }
        fits
    }

    /// The part with records.
    #[must_use]
    pub fn piece(&self) -> Piece {
        self.header().piece
    }

    /// Brings it, as far as `TOUCHED` bytes, into this processor's caches, to be written: its memory may not be there
    /// yet, or be in the caches of the processor the writer runs on. Records in it are lost.
    pub fn touch(&mut self) {
        const LINE: usize = 64;
        for at in (HEADER..self.header().bytes.min(TOUCHED)).step_by(LINE) {
            // SAFETY: within the mapping, of which this is the only owner; volatile, for nobody may ever read it.
            unsafe { self.0.as_ptr().cast::<u8>().add(at).write_volatile(0) };
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn records(&self) -> &[u8] {
        let piece = self.header().piece;
        // SAFETY: `set_piece` keeps the piece within the mapping, which is initialised (the kernel's
        // zeros at least); its owner wrote it before handing the buffer over.
        unsafe { std::slice::from_raw_parts(self.data().add(piece.start), piece.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = self.header().bytes;
        // SAFETY: this is the only owner, and the header (in the mapping) is not used afterwards.
        unsafe { memory::unmap(self.0.as_ptr().cast(), bytes) };
    }
}

/// First-in first-out list of buffers, linked through their headers.
#[derive(Debug, Default)]
pub struct List {
    head: Option<Buffer>,
    tail: Option<NonNull<Header>>,
}

// SAFETY: `tail` points into the list's own last buffer, so it moves with the list.
unsafe impl Send for List {}

impl List {
    /// The empty list.
    #[must_use]
    pub const fn new() -> Self {
        List {
            head: None,
            tail: None,
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Adds a buffer at the end.
    pub fn push(&mut self, mut buffer: Buffer) {
        buffer.header_mut().next = None;
        let tail = buffer.0;
        self.link(buffer, tail);
    }

    /// Moves the other list's buffers to the end of this one.
    pub fn append(&mut self, mut other: List) {
        if let (Some(head), Some(tail)) = (other.head.take(), other.tail.take()) {
            self.link(head, tail);
        }
    }

    fn link(&mut self, head: Buffer, tail: NonNull<Header>) {
        match self.tail {
            // SAFETY: `tail` is the header of the last buffer this list owns.
            Some(mut last) => unsafe { last.as_mut().next = Some(head) },
            None => self.head = Some(head),
        }
        self.tail = Some(tail);
    }

    /// Takes the first buffer.
    pub fn pop(&mut self) -> Option<Buffer> {
        let mut first = self.head.take()?;
        self.head = first.header_mut().next.take();
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

/// Last-in first-out stack of free buffers: the most recently used one is the warmest.
#[derive(Debug, Default)]
pub struct Stack {
    top: Option<Buffer>,
    len: usize,
}

impl Stack {
    /// The empty stack.
    #[must_use]
    pub const fn new() -> Self {
        Stack { top: None, len: 0 }
    }

    /// Buffers in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a buffer on top.
    pub fn push(&mut self, mut buffer: Buffer) {
        buffer.header_mut().next = self.top.take();
        self.top = Some(buffer);
        self.len += 1;
    }

    /// Takes the top one.
    pub fn pop(&mut self) -> Option<Buffer> {
        let mut buffer = self.top.take()?;
        self.top = buffer.header_mut().next.take();
        self.len -= 1;
        Some(buffer)
    }
}

impl Drop for Stack {
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
        let piece = |start, len| Piece {
            start,
            len,
            ..Piece::default()
        };
        assert!(b.set_piece(piece(8, 100)));
        assert_eq!(b.records(), [0; 100]);
        assert!(!b.set_piece(piece(8, BYTES)));
        assert!(!b.set_piece(piece(usize::MAX, 2)));
        assert_eq!(b.records().len(), 100);
        assert!(b.contains(b.data()) && b.contains(b.limit()));
        assert!(!b.contains(b.data().wrapping_sub(1)));
    }

    #[test]
    fn a_buffer_that_was_touched_is_in_memory() {
        let mut b = Buffer::map(BYTES).unwrap();
        let present = |b: &Buffer| {
            let mut pages = [0u8; BYTES / 4096];
            // SAFETY: the mapping is of that many pages, for each of which there is a byte.
            let told = unsafe { libc::mincore(b.0.as_ptr().cast(), BYTES, pages.as_mut_ptr()) };
            assert_eq!(told, 0);
            pages.iter().filter(|&page| page & 1 == 1).count()
        };
        assert!(present(&b) < BYTES / 4096);
        b.touch();
        assert_eq!(present(&b), BYTES / 4096);
    }

    #[test]
    fn lists_keep_order_and_stacks_reverse_it() {
        let buffers: Vec<Buffer> = (0..4).map(|_| Buffer::map(BYTES).unwrap()).collect();
        let at: Vec<*mut u8> = buffers.iter().map(Buffer::data).collect();
        let (mut a, mut b, mut stack) = (List::new(), List::new(), Stack::new());
        for (i, buffer) in buffers.into_iter().enumerate() {
            if i < 2 {
                a.push(buffer)
            } else {
                b.push(buffer)
            }
        }
        a.append(b);
        a.append(List::new());
        for expected in &at {
            let buffer = a.pop().unwrap();
            assert_eq!(buffer.data(), *expected);
            stack.push(buffer);
        }
        assert!(a.is_empty() && a.pop().is_none());
        assert_eq!(stack.len(), 4);
        for expected in at.iter().rev() {
            assert_eq!(stack.pop().unwrap().data(), *expected);
        }
        assert!(stack.pop().is_none());
    }
}
