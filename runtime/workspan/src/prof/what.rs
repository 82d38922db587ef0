//! What a profile owns, in two words.

/// The number of no array: the first array is never used.
pub(super) const NO_ARRAY: u32 = 0;

/// What a profile owns: two words, which are passed in registers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct What {
    /// The newest list element and, in the upper half, the oldest one, if there are any. They are read and written as
    /// one word, which is faster than two.
    pub(super) ends: u64,
    /// Number of elements in the list and, in the upper half, the number of the array. One comparison tells whether
    /// there is a short list and no array.
    pub(super) size: u64,
}

#[allow(clippy::cast_possible_truncation, reason = "halves of words")]
impl What {
    #[inline(always)]
    pub(super) fn is_empty(self) -> bool {
        self.size == 0
    }

    #[inline(always)]
    pub(super) fn first(self) -> u32 {
        self.ends as u32
    }

    #[inline(always)]
    pub(super) fn last(self) -> u32 {
        (self.ends >> 32) as u32
    }

    /// Number of elements in the list.
    #[inline(always)]
    pub(super) fn listed(self) -> u32 {
        self.size as u32
    }

    #[inline(always)]
    pub(super) fn array(self) -> u32 {
        (self.size >> 32) as u32
    }

    /// The same list with another array.
    #[inline(always)]
    pub(super) fn with_array(self, array: u32) -> Self {
        Self {
            size: u64::from(self.listed()) | u64::from(array) << 32,
            ..self
        }
    }

    /// The same with the element at this place in front of the list.
    #[inline(always)]
    pub(super) fn with_first(self, at: u32) -> Self {
        let first = u64::from(at);
        let last = if self.listed() == 0 {
            first << 32
        } else {
            self.ends & !u64::from(u32::MAX)
        };
        Self {
            ends: first | last,
            size: self.size + 1,
        }
    }
}
