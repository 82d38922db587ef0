//! Provisional names of tasks: their positions in their contexts before barriers are numbered.

/// A position in a context's sequence of tasks and barrier arrivals. Places are ordered by context,
/// then position.
///
/// Positions count every arrival at a barrier, although the arrivals of one generation become a
/// single task of one context. [`crate::renumber`] turns places into task ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place(u64);

impl Place {
    pub(crate) fn new(context: u32, position: u32) -> Self {
        Place(u64::from(context) << 32 | u64::from(position))
    }

    pub(crate) fn from_bits(bits: u64) -> Self {
        Place(bits)
    }

    /// The place as a sort key.
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    pub(crate) fn context(self) -> u32 {
        u32::try_from(self.0 >> 32).unwrap_or(u32::MAX)
    }

    pub(crate) fn position(self) -> u32 {
        u32::try_from(self.0 & 0xffff_ffff).unwrap_or(u32::MAX)
    }

    /// The position before this one in the same context.
    pub(crate) fn before(self) -> Option<Self> {
        (self.position() > 0).then(|| Place(self.0 - 1))
    }

    /// The position after this one in the same context.
    pub(crate) fn after(self) -> Option<Self> {
        (self.position() < u32::MAX).then(|| Place(self.0 + 1))
    }
}
