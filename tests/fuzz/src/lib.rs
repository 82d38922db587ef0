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

mod graph;
mod memory;
mod mutate;
mod profile;
#[path = "../../../middle/tests/suite/trace.rs"]
#[allow(dead_code, reason = "the middle layer's tests use all of it")]
mod synthetic;
mod trace;

pub use mutate::mutate;

/// A kind of file that is read.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Also the name of the folder with its inputs.
    pub name: &'static str,
    /// Small valid files that the writers made.
    pub seeds: fn() -> Vec<Vec<u8>>,
    read: fn(&[u8]) -> bool,
    format: Option<mutate::Format>,
}

impl Target {
    pub const ALL: [Self; 4] = [
        // Chunks, tables and streams of a trace.
        Self { name: "trace", seeds: trace::seeds, read: trace::read, format: Some(trace::FORMAT) },
        // The middle layer: `verify` must accept every graph that it writes, whatever the trace.
        Self {
            name: "middle",
            seeds: trace::seeds,
            read: trace::convert,
            format: Some(trace::FORMAT),
        },
        // A graph, read in every possible way. If `verify` accepts the graph, it is read without an
        // error.
        Self { name: "graph", seeds: graph::seeds, read: graph::read, format: Some(graph::FORMAT) },
        // An on-line work/span profile.
        Self { name: "profile", seeds: profile::seeds, read: profile::read, format: None },
    ];

    /// The target of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name == name)
    }

    /// Reads a file; whether it is valid.
    ///
    /// # Panics
    /// When the oracle rejects the result, or when reading takes more memory than 64 MB and 16
    /// times the file.
    #[must_use]
    pub fn read(&self, bytes: &[u8]) -> bool {
        memory::within(bytes.len(), || (self.read)(bytes))
    }
}
