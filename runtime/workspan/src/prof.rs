//! The profiles of all paths: one list of the invocations on them (section 5; Figure 4 has a list
//! for each path).
//!
//! The execution is serial, so what a frame logs comes after what the frames around it logged. Its
//! part of the list has three pieces: the prefix, the longest child and the continuation. A child
//! that was called leaves its path in the continuation of its caller; a spawned one becomes the
//! longest child, or is dropped. A piece that is on no longest path any more is cut out, and what
//! comes after it moves down.
//!
//! What is like the newest element, as the next call of a leaf in a loop is, is added to it. A
//! piece of twice as many elements as there are different ones is added up in place: at least half
//! of its elements go, which pays for it. So a frame takes O(S) space for S call sites.

use std::ops::Range;

use crate::measure::{Above, Invocation, Measure};

/// The place of no element.
const NONE: usize = usize::MAX;
/// Shorter pieces are not added up.
const SHORTEST: usize = 64;

/// The list.
#[derive(Debug, Default)]
pub(crate) struct Log {
    elements: Vec<Invocation>,
    /// A piece of this length is added up.
    longest: usize,
    /// While a piece is added up, the place of each key's element; otherwise none.
    of_key: Vec<usize>,
}

impl Log {
    /// Where the next element goes.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.elements.len()
    }

    /// Elements that there is memory for.
    pub(crate) fn room(&self) -> usize {
        self.elements.capacity()
    }

    /// Makes a call site known.
    pub(crate) fn discover(&mut self, site: u32) {
        let keys = (site as usize + 1) * Above::KINDS;
        if keys > self.of_key.len() {
            self.of_key.resize(keys, NONE);
            self.longest = SHORTEST.max(2 * keys);
        }
    }

    /// UPDATE: adds invocations of a call site that is known to the last piece, which begins at
    /// `from`.
    #[inline(always)]
    pub(crate) fn add(&mut self, from: usize, value: Invocation) {
        if let Some(newest) = self.elements.get_mut(from..).and_then(<[_]>::last_mut)
            && newest.key() == value.key()
        {
            return newest.add(value);
        }
        self.elements.push(value);
        self.settle(from..self.end());
    }

    /// Forgets everything from `from` on.
    #[inline(always)]
    pub(crate) fn drop_from(&mut self, from: usize) {
        self.elements.truncate(from);
    }

    /// Cuts a piece out; returns its length.
    #[inline(always)]
    pub(crate) fn cut(&mut self, piece: Range<usize>) -> usize {
        let length = piece.len();
        if length > 0 {
            self.elements.drain(piece);
        }
        length
    }

    /// Adds up a piece that is too long. Returns how many elements it has less.
    #[inline(always)]
    pub(crate) fn settle(&mut self, piece: Range<usize>) -> usize {
        if piece.len() < self.longest { 0 } else { self.add_up(piece) }
    }

    /// Adds up the elements with the same key.
    #[cold]
    #[inline(never)]
    fn add_up(&mut self, piece: Range<usize>) -> usize {
        let mut end = piece.start;
        for at in piece.clone() {
            let element = self.elements[at];
            let known = &mut self.of_key[element.key()];
            if *known == NONE {
                *known = end;
                self.elements[end] = element;
                end += 1;
            } else {
                self.elements[*known].add(element);
            }
        }
        for element in &self.elements[piece.start..end] {
            self.of_key[element.key()] = NONE;
        }
        self.cut(end..piece.end)
    }

    /// PRINT: calls `each` with the call site and a part of what was measured of it, for each
    /// element of a piece. Those of one call site add up.
    pub(crate) fn print(&self, piece: Range<usize>, mut each: impl FnMut(u32, Measure)) {
        for element in &self.elements[piece] {
            let mut value = Measure::default();
            value += *element;
            each(element.site, value);
        }
    }
}
