//! The threads that executed the tasks: each stream of a trace is one thread's. In the graph they
//! are numbered by trace, then stream. So in a program whose contexts are threads, both have the
//! same numbers.

use rustc_hash::FxHashMap;
use taskgraph::{Executor, ExecutorId};

use crate::contexts::ContextTable;

/// The streams that were read, and the kernel's ids of their threads; 0 where the trace does not
/// say it.
#[derive(Debug, Default)]
pub(crate) struct Streamed(FxHashMap<u32, u32>);

impl Streamed {
    /// Says that there are tasks of this stream.
    pub(crate) fn note(&mut self, stream: u32) {
        self.0.entry(stream).or_default();
    }

    /// Says which thread a stream is of.
    pub(crate) fn thread(&mut self, stream: u32, tid: u32) {
        self.0.insert(stream, tid);
    }

    /// Numbers the executors.
    pub(crate) fn finish(self, contexts: &ContextTable) -> Executors {
        let by_trace = |(stream, tid)| (contexts.trace_of(stream), stream, tid);
        let mut all: Vec<_> = self.0.into_iter().map(by_trace).collect();
        all.sort_unstable();
        let numbered = || (0..).zip(&all);
        let executor =
            |(number, &(space, _, tid))| Executor { id: ExecutorId::new(number), tid, space };
        Executors {
            numbers: numbered().map(|(number, all)| (all.1, number)).collect(),
            table: numbered().map(executor).collect(),
        }
    }
}

/// The executors of the graph.
#[derive(Debug)]
pub(crate) struct Executors {
    numbers: FxHashMap<u32, u32>,
    pub(crate) table: Vec<Executor>,
}

impl Executors {
    /// The executor of a stream's tasks; `None` if the stream was not noted.
    pub(crate) fn of(&self, stream: u32) -> Option<ExecutorId> {
        self.numbers.get(&stream).copied().map(ExecutorId::new)
    }
}
