//! The two streams that a thread may write.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// The recording.
    Stream = 0,
    /// The naive form of the same run, which the recording is checked against (`--contech-check`).
    Check = 1,
}

impl Lane {
    /// Both streams, in the order of their numbers.
    pub const ALL: [Lane; 2] = [Lane::Stream, Lane::Check];
}
