//! Pass 1, the parallel part: one thread reads chunks, workers encode them, the caller gets the results in
//! file order. The gate bounds what is between reader and caller.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use contech_trace::file::{ChunkKind, FileHeader, ModuleLoad, RankInfo, RunInfo, Totals};
use contech_trace::reader::{Chunk, ChunkReader, Next};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use crate::board::{Board, Job};
use crate::check::Kept;
use crate::encode::{ChunkEncoder, EncodedChunk, payload};
use crate::error::{Error, Result};
use crate::gate::Gate;
use crate::options::Options;
use crate::program::{Program, ProgramBuilder};
use crate::spill::Spill;

/// What the trace holds, in file order.
#[derive(Debug)]
pub(crate) enum Item {
    Run(RunInfo),
    /// The process is an MPI rank.
    Rank(RankInfo),
    Stream(Box<EncodedChunk>),
    /// A module was added; whether any of them has blocks.
    Modules(bool),
    /// A naive reference stream, of nothing that is known to be recorded so.
    Check,
    Totals(Totals),
    /// A chunk or module that cannot be used: why.
    Unusable(String),
    /// Bytes that belong to no chunk.
    Skipped {
        from: u64,
        to: u64,
        error: String,
    },
    /// Reading failed.
    Failed(io::Error),
    /// The temporary file failed.
    Broken(Error),
    /// The end of the file.
    End(Box<End>),
}

/// What is left at the end of a file.
#[derive(Debug)]
pub(crate) struct End {
    /// Its length.
    pub(crate) bytes: u64,
    pub(crate) program: Arc<Program>,
    /// What is to be compared.
    pub(crate) kept: Kept,
    /// For the next file.
    pub(crate) builder: ProgramBuilder,
}

/// What anything but a stream chunk counts.
const SMALL: usize = 256;
/// Parts of one chunk's result that may wait for the caller.
const WAITING_PARTS: usize = 4;

/// From reader or worker to the caller.
enum Message {
    /// The item at this place in the file: bytes to give back to the gate, position after it.
    Item {
        index: u64,
        cost: usize,
        position: u64,
        item: Item,
    },
    /// A part of the stream chunk whose turn it is.
    Part(Box<EncodedChunk>),
    /// A thread panicked: its results will never come.
    Died,
}

/// A chunk for a worker.
struct Task {
    cost: usize,
    position: u64,
    chunk: Chunk,
    program: Arc<Program>,
}

struct Shared {
    board: Board<Task>,
    /// Bounds the chunks in memory.
    chunks: Gate,
    /// Bounds the parts handed over early, and says which chunk may do so.
    parts: Gate,
}

/// Running threads of pass 1.
pub(crate) struct Pipeline {
    results: Receiver<Message>,
    waiting: BTreeMap<u64, (usize, u64, Item)>,
    next: u64,
    shared: Arc<Shared>,
    cancel: Option<Arc<AtomicBool>>,
    position: u64,
}

impl Pipeline {
    /// Reads the file header and starts the threads.
    pub(crate) fn start(
        source: Box<dyn Read + Send>,
        name: &str,
        program: ProgramBuilder,
        options: &Options,
        spill: &Arc<Spill>,
    ) -> Result<(FileHeader, Self)> {
        let (threads, memory) = (options.threads, options.memory / 2);
        let opened = ChunkReader::new(source).map_err(|source| Error::Input {
            action: "read",
            file: name.to_owned(),
            source,
            remedy: "give a trace file, a FIFO, or - for standard input",
        })?;
        let (header, reader) = opened.map_err(|source| Error::Trace {
            file: name.to_owned(),
            source,
        })?;
        let shared = Arc::new(Shared {
            board: Board::new(),
            chunks: Gate::new(memory),
            parts: Gate::new(WAITING_PARTS),
        });
        let (to_caller, results) = unbounded();
        for _ in 0..threads.max(1) {
            let (shared, to_caller) = (Arc::clone(&shared), to_caller.clone());
            thread::spawn(move || work(&shared, &to_caller));
        }
        let reading = Reading {
            reader,
            shared: Arc::clone(&shared),
            to_caller,
            checked: false,
            program,
            kept: Kept::new(spill),
            index: 0,
        };
        thread::spawn(move || reading.run());
        let pipeline = Pipeline {
            results,
            waiting: BTreeMap::new(),
            next: 0,
            shared,
            cancel: options.cancel.clone(),
            position: 0,
        };
        Ok((header, pipeline))
    }

    /// The next item in file order; [`Item::End`], [`Item::Failed`] or [`Item::Broken`] is the last.
    pub(crate) fn next(&mut self) -> Result<Item> {
        loop {
            if self
                .cancel
                .as_ref()
                .is_some_and(|c| c.load(Ordering::Relaxed))
            {
                return Err(Error::Cancelled);
            }
            if let Some((cost, position, item)) = self.waiting.remove(&self.next) {
                self.next += 1;
                self.position = position;
                self.shared.chunks.leave(cost);
                self.shared.parts.set_turn(self.next);
                return Ok(item);
            }
            match self.results.recv_timeout(Duration::from_millis(100)) {
                Ok(Message::Item {
                    index,
                    cost,
                    position,
                    item,
                }) => {
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

    /// Bytes of the trace handed out so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // The reader may be blocked in a read from a pipe: it is left to end with the process or the pipe.
        self.shared.chunks.close();
        self.shared.parts.close();
        self.shared.board.clear();
    }
}

/// Tells the caller when its thread panics.
struct Watch(Sender<Message>);

impl Drop for Watch {
    fn drop(&mut self) {
        if thread::panicking() {
            // A caller that is gone need not know.
            let _ = self.0.send(Message::Died);
        }
    }
}

fn work(shared: &Shared, to_caller: &Sender<Message>) {
    let _watch = Watch(to_caller.clone());
    let mut encoder = ChunkEncoder::default();
    while let Some(job) = shared.board.take() {
        let Job {
            index,
            context,
            what,
            mut stream,
        } = job;
        let Task {
            cost,
            position,
            chunk,
            program,
        } = what;
        let seq = chunk.header.seq;
        let encoded = if seq < stream.next {
            // Seen before; must not disturb what is known.
            EncodedChunk::repeated(&chunk)
        } else {
            if seq > stream.next {
                stream.decoder.forget();
            }
            stream.next = seq.saturating_add(1);
            let mut hand_over = |part| {
                shared.parts.enter_in_turn(1, index);
                // A caller that is gone needs no result.
                let _ = to_caller.send(Message::Part(Box::new(part)));
            };
            encoder.encode(&chunk, &program, &mut stream.decoder, &mut hand_over)
        };
        drop(chunk);
        shared.board.done(context, stream);
        let item = Item::Stream(Box::new(encoded));
        if to_caller
            .send(Message::Item {
                index,
                cost,
                position,
                item,
            })
            .is_err()
        {
            return;
        }
    }
}

/// The conversion stops.
struct Stopped;

struct Reading {
    reader: ChunkReader<Box<dyn Read + Send>>,
    shared: Arc<Shared>,
    to_caller: Sender<Message>,
    program: ProgramBuilder,
    /// A module is recorded in naive form too.
    checked: bool,
    /// Streams to be compared.
    kept: Kept,
    index: u64,
}

impl Reading {
    fn run(mut self) {
        let _watch = Watch(self.to_caller.clone());
        loop {
            let item = match self.reader.next_chunk() {
                Ok(Next::Chunk(chunk)) => match self.chunk(chunk) {
                    Ok(Some(item)) => item,
                    Ok(None) => continue,
                    Err(Stopped) => return,
                },
                Ok(Next::Skipped { from, to, error }) => Item::Skipped {
                    from,
                    to,
                    error: error.to_string(),
                },
                Ok(Next::End) => Item::End(Box::new(End {
                    bytes: self.reader.position(),
                    program: self.program.snapshot(),
                    kept: self.kept.take(),
                    builder: std::mem::take(&mut self.program),
                })),
                Err(e) => Item::Failed(e),
            };
            let last = matches!(item, Item::End(_) | Item::Failed(_) | Item::Broken(_));
            if !self.shared.chunks.enter(SMALL) {
                return;
            }
            let position = self.reader.position();
            let index = self.next_index();
            let message = Message::Item {
                index,
                cost: SMALL,
                position,
                item,
            };
            if self.to_caller.send(message).is_err() || last {
                self.shared.board.close();
                return;
            }
        }
    }

    /// What the caller is to know of a chunk.
    fn chunk(&mut self, chunk: Chunk) -> std::result::Result<Option<Item>, Stopped> {
        let kind = chunk.header.kind;
        if self.checked && matches!(kind, ChunkKind::Stream | ChunkKind::Check) {
            if let Err(e) = self.kept.keep(&chunk) {
                return Ok(Some(Item::Broken(e)));
            }
        } else if kind == ChunkKind::Stream {
            self.kept.began_late = true;
        }
        if kind == ChunkKind::Stream {
            return self.dispatch(chunk).then_some(None).ok_or(Stopped);
        }
        if kind == ChunkKind::Check && self.checked {
            return Ok(None);
        }
        Ok(self.metadata(&chunk))
    }

    fn next_index(&mut self) -> u64 {
        self.index += 1;
        self.index - 1
    }

    /// Hands a stream chunk to the encoders; false when the conversion stops.
    fn dispatch(&mut self, chunk: Chunk) -> bool {
        // Stored bytes, raw bytes, records (four times the raw bytes at most) and frames.
        let raw = chunk.header.raw_len as usize;
        let cost = chunk.stored.len() + raw * 5 + 4096;
        if !self.shared.chunks.enter(cost) {
            return false;
        }
        let position = self.reader.position();
        let (index, context) = (self.next_index(), chunk.header.context);
        let program = self.program.snapshot();
        self.shared.board.add(
            index,
            context,
            Task {
                cost,
                position,
                chunk,
                program,
            },
        );
        true
    }

    fn metadata(&mut self, chunk: &Chunk) -> Option<Item> {
        let unusable = |what: &str, e: String| {
            Some(Item::Unusable(format!(
                "{what} at byte {}: {e}",
                chunk.offset
            )))
        };
        let mut raw = Vec::new();
        let bytes = match payload(chunk, &mut raw) {
            Ok(bytes) => bytes,
            Err(e) => return unusable("chunk", e),
        };
        match chunk.header.kind {
            ChunkKind::Run => match RunInfo::from_bytes(bytes) {
                Ok(run) => Some(Item::Run(run)),
                Err(e) => unusable("run information", e.to_string()),
            },
            ChunkKind::Rank => match RankInfo::from_bytes(bytes) {
                Ok(rank) => Some(Item::Rank(rank)),
                Err(e) => unusable("rank information", e.to_string()),
            },
            ChunkKind::End => match Totals::from_bytes(bytes) {
                Ok(totals) => Some(Item::Totals(totals)),
                Err(e) => unusable("totals", e.to_string()),
            },
            ChunkKind::Module => {
                let added = ModuleLoad::from_bytes(bytes)
                    .map_err(|e| e.to_string())
                    .and_then(|load| self.program.add(load));
                match added {
                    Ok(()) => {
                        self.checked = self.program.has_checked();
                        Some(Item::Modules(self.program.has_blocks()))
                    }
                    Err(e) => unusable("module", e),
                }
            }
            ChunkKind::Check => Some(Item::Check),
            ChunkKind::Stream => None,
        }
    }
}
