//! The two streams a thread may write.

/// A stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The recording.
    Stream = 0,
    /// The naive form of the same run, to check it against (`--contech-check`).
    Check = 1,
}

impl Lane {
    /// Both, in this order.
    pub const ALL: [Lane; 2] = [Lane::Stream, Lane::Check];
}
