//! Decides which chunk a worker takes next. Chunks of one context are taken one after the other,
//! and chunks of different contexts at the same time. A worker always takes the chunk that came
//! first in the file.

use std::collections::{BTreeMap, VecDeque};

use contech_trace::fast::Decoder;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustc_hash::FxHashMap;
use taskgraph::FrameEncoder;

use crate::sample::Sample;

/// Work on one chunk, `T`, with its number in the file.
#[derive(Debug)]
pub(crate) struct Job<T> {
    pub(crate) index: u64,
    pub(crate) context: u32,
    pub(crate) what: T,
    /// What is known at the end of the context's previous chunk.
    pub(crate) stream: Box<Stream>,
}

/// The state of a context's stream as far as it was decoded.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// Number of the chunk that comes next.
    pub(crate) next: u64,
    pub(crate) decoder: Decoder,
    /// The encoder whose frame goes on in the next chunk, and the version of its program.
    pub(crate) encoder: Option<(u64, FrameEncoder)>,
    pub(crate) sample: Sample,
}

/// The jobs. Because workers take the job that came first, one of them is always working on the
/// first unfinished chunk of the file, whatever the other workers wait for.
#[derive(Debug)]
pub(crate) struct Board<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// By their numbers.
    ready: BTreeMap<u64, Job<T>>,
    contexts: FxHashMap<u32, Line<T>>,
    closed: bool,
}

#[derive(Debug)]
struct Line<T> {
    /// None while a worker has a chunk of this context or is about to take one.
    stream: Option<Box<Stream>>,
    /// The chunks that wait for that worker.
    waiting: VecDeque<(u64, T)>,
}

impl<T> Board<T> {
    pub(crate) fn new() -> Self {
        Board {
            state: Mutex::new(State {
                ready: BTreeMap::new(),
                contexts: FxHashMap::default(),
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds work. The indices must ascend.
    pub(crate) fn add(&self, index: u64, context: u32, what: T) {
        let mut state = self.state.lock();
        let new = || Line { stream: Some(Box::default()), waiting: VecDeque::new() };
        let line = state.contexts.entry(context).or_insert_with(new);
        match line.stream.take() {
            Some(stream) => self.ready(state, Job { index, context, what, stream }),
            None => line.waiting.push_back((index, what)),
        }
    }

    fn ready(&self, mut state: MutexGuard<'_, State<T>>, job: Job<T>) {
        state.ready.insert(job.index, job);
        drop(state);
        self.changed.notify_one();
    }

    /// Waits for work. Returns `None` when the board is closed and empty.
    pub(crate) fn take(&self) -> Option<Job<T>> {
        let mut state = self.state.lock();
        let nothing = |s: &mut State<T>| s.ready.is_empty() && !s.closed;
        self.changed.wait_while(&mut state, nothing);
        state.ready.pop_first().map(|(_, job)| job)
    }

    /// Says that the work on a chunk of `context` is done.
    pub(crate) fn done(&self, context: u32, stream: Box<Stream>) {
        let mut state = self.state.lock();
        let Some(line) = state.contexts.get_mut(&context) else {
            return;
        };
        match line.waiting.pop_front() {
            Some((index, what)) => self.ready(state, Job { index, context, what, stream }),
            None => line.stream = Some(stream),
        }
    }

    /// Says that no more work comes. The workers end when the work that is left is done.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Throws away the work that is left and closes the board.
    pub(crate) fn clear(&self) {
        let mut state = self.state.lock();
        state.ready.clear();
        state.contexts.clear();
        drop(state);
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_of_one_context_are_worked_on_one_after_the_other() {
        let board = Board::new();
        for (index, context) in [(0, 7), (1, 7), (2, 8), (3, 7)] {
            board.add(index, context, ());
        }
        let first = board.take().unwrap();
        let other = board.take().unwrap();
        assert_eq!((first.index, other.index), (0, 2));
        board.done(7, first.stream);
        let second = board.take().unwrap();
        assert_eq!(second.index, 1);
        board.done(7, second.stream);
        board.close();
        assert_eq!(board.take().map(|j| j.index), Some(3));
        assert!(board.take().is_none());
    }
}
