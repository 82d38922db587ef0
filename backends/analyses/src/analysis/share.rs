//! Which part of the work is a worker's.

/// A worker's share: one of so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// From 0 on.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Share {
    /// Everything.
    pub const ALL: Self = Self { index: 0, of: 1 };

    /// Log2 of the bytes of a page: neighbours in memory are in one share.
    pub const PAGE_SHIFT: u32 = 14;

    /// Whether a page of memory, by number, is in this share.
    #[inline]
    pub(crate) fn has_page(self, page: u64) -> bool {
        // This is Fibonacci hashing, which puts neighbours into different shares. The hash is a
        // fraction of 2^64.
        let hash = page.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (u128::from(hash) * u128::from(self.of)) >> 64 == u128::from(self.index)
    }

    /// Its two halves.
    pub(crate) fn halves(self) -> [Self; 2] {
        [0, 1].map(|low| Self { index: self.index << 1 | low, of: self.of << 1 })
    }

    /// The share, of so many, of what comes after `before` of all.
    pub(super) fn of_place(before: u64, all: u64, of: u32) -> u32 {
        let place = u128::from(before) * u128::from(of) / u128::from(all.max(1));
        u32::try_from(place).unwrap_or(of).min(of - 1)
    }
}
