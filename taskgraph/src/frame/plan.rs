//! How the records of a table are executed.

/// No script, and no function.
pub(crate) const NONE: u32 = u32::MAX;

/// What is needed to know of each record of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// As in the table.
    pub(super) symbol: u32,
    /// The number of its script; `NONE` where no block is executed.
    pub(super) script: u32,
    /// Number of accesses of one record.
    pub(super) accesses: u32,
    /// The function of a path; `NONE` for a block.
    pub(super) function: u32,
    /// Whether the path begins the function.
    pub(super) fresh: bool,
    pub(super) how: How,
}

/// How a record is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By its template, which needs nothing but the record and leaves nothing.
    Straight,
    /// By its template.
    Flow,
    /// It is a path that is walked.
    Path,
    /// It is a block whose accesses have sizes of their own.
    Block,
    /// It is an action that executes nothing.
    Other,
}
