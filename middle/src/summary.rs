//! What a conversion produced.

use std::fmt;

use serde::Serialize;
use taskgraph::AccessesOf;

/// Totals of a conversion. The JSON names are part of the command line's contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Number of contexts.
    pub contexts: u64,
    /// Number of tasks by kind.
    pub tasks: taskgraph::TaskCounts,
    /// Number of stored edges, which are the edges between contexts.
    pub edges: u64,
    /// Number of executions of basic blocks.
    pub blocks: u64,
    /// Number of memory accesses.
    pub accesses: u64,
    pub trace_bytes: u64,
    pub graph_bytes: u64,
    /// Whether the trace was complete: nothing was lost.
    pub complete: bool,
    /// Which blocks and accesses are missing because the user or a limit wanted so: `of` is
    /// `limit`, `region` or `sample`, and `since_ns` is when a limit was reached. `None` if none
    /// are.
    pub unrecorded: Option<taskgraph::Unrecorded>,
    /// Number of bytes known to be lost or unreadable.
    pub lost_bytes: u64,
    /// Comparison of the fast and the naive recording; `None` if the trace holds no naive
    /// recording.
    pub check: Option<Check>,
    /// Latest end of a task, in nanoseconds since the start of the run.
    pub duration_ns: u64,
    /// Remarks about the trace.
    pub notes: Vec<taskgraph::Note>,
}

/// Comparison of the two recordings of `--contech-check`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Number of block executions that were compared.
    pub compared: u64,
    /// Number of block executions that differ. A context is not compared beyond the first place
    /// where the blocks themselves differ.
    pub mismatches: u64,
    /// The first differences, in words.
    pub differences: Vec<String>,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let t = &self.tasks;
        writeln!(f, "contexts   {}", self.contexts)?;
        writeln!(
            f,
            "tasks      {} ({} work, {} create, {} join, {} sync, {} barrier)",
            t.total(),
            t.work,
            t.create,
            t.join,
            t.sync,
            t.barrier
        )?;
        writeln!(f, "edges      {}", self.edges)?;
        writeln!(f, "blocks     {}", self.blocks)?;
        writeln!(f, "accesses   {}", self.accesses)?;
        writeln!(f, "trace      {} bytes", self.trace_bytes)?;
        writeln!(f, "graph      {} bytes", self.graph_bytes)?;
        if self.complete {
            write!(f, "complete   yes")?;
            if let Some(unrecorded) = self.unrecorded {
                let why = match unrecorded.of {
                    AccessesOf::Limit => "after the limit",
                    AccessesOf::Region => "outside of the region of interest",
                    AccessesOf::Sample => "outside of the sample",
                };
                write!(f, ", but for the accesses {why}")?;
            }
        } else if self.lost_bytes > 0 {
            write!(f, "complete   no, {} bytes lost", self.lost_bytes)?;
        } else {
            write!(f, "complete   no")?;
        }
        if let Some(check) = &self.check {
            write!(
                f,
                "\ncheck      {} blocks compared, {} mismatches",
                check.compared, check.mismatches
            )?;
            for difference in &check.differences {
                write!(f, "\nmismatch   {difference}")?;
            }
        }
        for note in &self.notes {
            write!(f, "\nnote       {note}")?;
        }
        Ok(())
    }
}
