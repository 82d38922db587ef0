//! Pass 1, the parallel part. One thread reads chunks, workers encode them, and the caller gets the
//! results in file order. A gate bounds the memory of what is between the reader and the caller.

mod reading;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use contech_trace::file::{FileHeader, RankInfo, RunInfo, Totals};
use contech_trace::reader::Chunk;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use self::reading::Reading;
use self::work::work;
use crate::board::Board;
use crate::check::Kept;
use crate::encode::EncodedChunk;
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::input::Source;
use crate::options::Options;
use crate::program::{Program, ProgramBuilder};
use crate::spill::Spill;

/// An item of the trace, in file order.
#[derive(Debug)]
pub(crate) enum Item {
    Run(RunInfo),
    /// The process is an MPI rank.
    Rank(RankInfo),
    Stream(Box<EncodedChunk>),
    /// The frame that is left at the end of a stream.
    Last(Box<EncodedChunk>),
    /// A module was added. The flag says whether any module has blocks.
    Modules(bool),
    /// A naive reference stream was found, although no module is known to be recorded in naive
    /// form.
    Check,
    Totals(Totals),
    /// A chunk or module cannot be used; the text says why.
    Unusable(String),
    /// Bytes were skipped because they belong to no chunk.
    Skipped {
        from: u64,
        to: u64,
        error: String,
    },
    /// The trace could not be read, or the temporary file could not be used.
    Broken(Error),
    /// The file has ended.
    End(Box<End>),
}

/// What is known at the end of a file.
#[derive(Debug)]
pub(crate) struct End {
    /// Length of the file.
    pub(crate) bytes: u64,
    pub(crate) program: Arc<Program>,
    /// What is to be compared.
    pub(crate) kept: Kept,
    /// The modules so far, for the next file.
    pub(crate) builder: ProgramBuilder,
}

/// Bytes that the reader may be ahead of each worker.
const AHEAD: usize = 64 << 20;
/// Number of parts of one chunk's result that may wait for the caller.
const WAITING_PARTS: usize = 4;

/// A message from the reader or a worker to the caller.
enum Message {
    /// The item at place `index` of the file, with the bytes to give back to the gate and the
    /// position after the item.
    Item { index: u64, cost: usize, position: u64, item: Item },
    /// A part of the result for the stream chunk that comes next in file order.
    Part(Box<EncodedChunk>),
    /// A thread panicked, so its results will never come.
    Died,
}

/// Work for a worker; `chunk` is `None` at the end of a stream.
struct Task {
    cost: usize,
    position: u64,
    chunk: Option<Chunk>,
    /// The chunk's last frame goes on in the next chunk of its context.
    spanning: bool,
    program: Arc<Program>,
}

struct Shared {
    board: Board<Task>,
    /// Bounds the bytes of chunks in memory.
    chunks: Gate,
    /// Bounds the parts that are handed over early, and says which chunk may do so.
    parts: Gate,
    /// One part of the code in so many is encoded.
    sample: u32,
}

/// The running threads of pass 1.
pub(crate) struct Pipeline {
    results: Receiver<Message>,
    waiting: BTreeMap<u64, (usize, u64, Item)>,
    next: u64,
    shared: Arc<Shared>,
    options: Options,
    position: u64,
}

impl Pipeline {
    /// Reads the file header and starts the threads.
    pub(crate) fn start(
        source: Source,
        name: &str,
        program: ProgramBuilder,
        options: &Options,
        spill: &Arc<Spill>,
    ) -> Result<(FileHeader, Self)> {
        let threads = options.threads.max(1);
        // A reader that is far ahead only fills memory that is not in the caches.
        let memory = (options.memory / 2).min(threads.saturating_mul(AHEAD));
        let remedy = "give a trace file, a FIFO, or - for standard input";
        let (header, reader) = source.chunks(name, remedy)?;
        let shared = Arc::new(Shared {
            board: Board::new(),
            chunks: Gate::new(memory),
            parts: Gate::new(WAITING_PARTS),
            sample: options.sample,
        });
        let (to_caller, results) = unbounded();
        for _ in 0..threads {
            let (shared, to_caller) = (Arc::clone(&shared), to_caller.clone());
            thread::spawn(move || work(&shared, &to_caller));
        }
        let reading = Reading {
            name: name.to_owned(),
            reader,
            shared: Arc::clone(&shared),
            to_caller,
            checked: false,
            program,
            kept: Kept::new(spill),
            spanning: Vec::new(),
            index: 0,
        };
        thread::spawn(move || reading.run());
        let pipeline = Pipeline {
            results,
            waiting: BTreeMap::new(),
            next: 0,
            shared,
            options: options.clone(),
            position: 0,
        };
        Ok((header, pipeline))
    }

    /// Returns the next item in file order. [`Item::End`] or [`Item::Broken`] is the last one.
    pub(crate) fn next(&mut self) -> Result<Item> {
        loop {
            self.options.check_cancelled()?;
            if let Some((cost, position, item)) = self.waiting.remove(&self.next) {
                self.next += 1;
                self.position = position;
                self.shared.chunks.leave(cost);
                self.shared.parts.set_turn(self.next);
                return Ok(item);
            }
            match self.results.recv_timeout(Duration::from_millis(100)) {
                Ok(Message::Item { index, cost, position, item }) => {
                    self.waiting.insert(index, (cost, position, item));
                }
                Ok(Message::Part(chunk)) => {
                    self.shared.parts.leave(1);
                    return Ok(Item::Stream(chunk));
                }
                Ok(Message::Died) => {
                    return Err(Error::internal("a thread of the reader panicked"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::internal("an encoder thread ended early"));
                }
            }
        }
    }

    /// Number of bytes of the trace that were handed out so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // The reader may be blocked while it reads from a pipe. It is left to end with the process
        // or the pipe.
        self.shared.chunks.close();
        self.shared.parts.close();
        self.shared.board.clear();
    }
}

/// Tells the caller when the thread that holds it panics.
struct Watch(Sender<Message>);

impl Drop for Watch {
    fn drop(&mut self) {
        if thread::panicking() {
            // If the caller is gone, it need not know.
            let _ = self.0.send(Message::Died);
        }
    }
}
