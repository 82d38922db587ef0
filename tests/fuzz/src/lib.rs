//! Fuzzes every reader: no bytes may make a reader panic, hang, or take memory out of proportion to
//! the bytes.
//!
//! libFuzzer chooses inputs by the code they reach. Inputs are files of the formats; a mutation
//! opens a file, changes what is below the compression, and makes lengths, offsets and checksums
//! right again ([`mutate`]), as nothing else would get past them. Each reader has an oracle beyond
//! "does not panic" ([`Target`]). There is no corpus in the tree: [`Target::seeds`] are made by the
//! writers. What once failed stands in `regressions/TARGET/` as hexadecimal text, and `cargo test
//! -p contech-fuzz` reads it again.
//!
//! The program is not built by default. `tests/tests/heavy.rs` builds and runs it for a short
//! while; by hand:
//!
//! ```text
//! cargo run --release -p contech-tests --bin fuzz -- graph -max_total_time=3600
//! ```

mod format;
mod graph;
mod memory;
mod mutate;
mod profile;
#[path = "../../../middle/tests/suite/trace.rs"]
#[allow(dead_code, reason = "the middle layer's tests use all of it")]
mod synthetic;
mod trace;

pub use mutate::mutate;

/// The kind of file that is read, which also names the folder with its inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Chunks, tables and streams of a trace.
    Trace,
    /// The middle layer: `verify` must accept every graph that it writes, whatever the trace.
    Middle,
    /// A graph, read in every possible way. If `verify` accepts the graph, it is read without an
    /// error.
    Graph,
    /// An on-line work/span profile, shown as text and as a page.
    Profile,
}

impl Target {
    pub const ALL: [Self; 4] = [Self::Trace, Self::Middle, Self::Graph, Self::Profile];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Middle => "middle",
            Self::Graph => "graph",
            Self::Profile => "profile",
        }
    }

    /// The target of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Small valid files that the writers made.
    #[must_use]
    pub fn seeds(self) -> Vec<Vec<u8>> {
        match self {
            Self::Trace | Self::Middle => trace::seeds(),
            Self::Graph => graph::seeds(),
            Self::Profile => vec![profile::seed()],
        }
    }

    /// Reads a file; whether it is valid.
    ///
    /// # Panics
    /// When the oracle rejects the result, or when reading takes more memory than 64 MB and 16
    /// times the file.
    #[must_use]
    pub fn read(self, bytes: &[u8]) -> bool {
        memory::within(bytes.len(), || match self {
            Self::Trace => trace::read(bytes),
            Self::Middle => trace::convert(bytes),
            Self::Graph => graph::read(bytes),
            Self::Profile => profile::read(bytes),
        })
    }

    fn format(self) -> Option<format::Format> {
        match self {
            Self::Trace | Self::Middle => Some(trace::FORMAT),
            Self::Graph => Some(graph::FORMAT),
            Self::Profile => None,
        }
    }
}
