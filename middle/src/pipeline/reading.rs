//! The reader hands chunks of streams to the workers, and tells the caller what all other chunks
//! hold.

use std::sync::Arc;

use contech_trace::file::{ChunkKind, ModuleLoad, RankInfo, RunInfo, Totals};
use contech_trace::reader::{Chunk, Next};
use crossbeam_channel::Sender;

use super::{End, Item, Message, Shared, Task, Watch};
use crate::check::Kept;
use crate::error::Error;
use crate::input::{Chunks, UNREADABLE};
use crate::program::ProgramBuilder;

/// Bytes that the gate counts for anything that is not a stream chunk.
const SMALL: usize = 256;
/// Number of contexts whose frames go on from chunk to chunk. Each such frame takes up to 8 MB
/// until it ends.
const MOST_SPANNING: usize = 16;
/// Says that the conversion stops.
struct Stopped;

/// The reader, which starts with the first chunk.
pub(super) struct Reading {
    /// Name of the trace.
    pub(super) name: String,
    pub(super) reader: Chunks,
    pub(super) shared: Arc<Shared>,
    pub(super) to_caller: Sender<Message>,
    pub(super) program: ProgramBuilder,
    /// At least one module is also recorded in naive form.
    pub(super) checked: bool,
    /// The streams that are to be compared.
    pub(super) kept: Kept,
    /// The contexts whose frames go on from chunk to chunk: the first contexts of the file.
    pub(super) spanning: Vec<u32>,
    pub(super) index: u64,
}

impl Reading {
    /// Reads to the end of the file, or until the conversion stops.
    pub(super) fn run(mut self) {
        let _watch = Watch(self.to_caller.clone());
        loop {
            let item = match self.reader.next_chunk() {
                Ok(Next::Chunk(chunk)) => match self.chunk(chunk) {
                    Ok(Some(item)) => item,
                    Ok(None) => continue,
                    Err(Stopped) => return,
                },
                Ok(Next::Skipped { from, to, error }) => {
                    Item::Skipped { from, to, error: error.to_string() }
                }
                Ok(Next::End) => match self.end_streams() {
                    Ok(()) => Item::End(Box::new(End {
                        bytes: self.reader.position(),
                        program: self.program.snapshot(),
                        kept: self.kept.take(),
                        builder: std::mem::take(&mut self.program),
                    })),
                    Err(Stopped) => return,
                },
                Err(e) => Item::Broken(Error::unreadable(&self.name, UNREADABLE)(e)),
            };
            let last = matches!(item, Item::End(_) | Item::Broken(_));
            if self.tell(SMALL, item).is_err() || last {
                self.shared.board.close();
                return;
            }
        }
    }

    /// Hands an item to the caller.
    fn tell(&mut self, cost: usize, item: Item) -> std::result::Result<(), Stopped> {
        if !self.shared.chunks.enter(cost) {
            return Err(Stopped);
        }
        let message = Message::Item {
            index: self.next_index(),
            cost,
            position: self.reader.position(),
            item,
        };
        self.to_caller.send(message).map_err(|_| Stopped)
    }

    /// What the caller must know of a chunk.
    fn chunk(&mut self, chunk: Chunk) -> std::result::Result<Option<Item>, Stopped> {
        let kind = chunk.header.kind;
        if self.checked && matches!(kind, ChunkKind::Stream | ChunkKind::Check) {
            if let Err(e) = self.kept.keep(&chunk, self.program.snapshot()) {
                return Ok(Some(Item::Broken(e)));
            }
        } else if kind == ChunkKind::Stream {
            self.kept.began_late = true;
        }
        if kind == ChunkKind::Stream {
            return self.dispatch(chunk).map(|()| None);
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

    /// Hands a stream chunk to the encoders.
    fn dispatch(&mut self, chunk: Chunk) -> std::result::Result<(), Stopped> {
        // The cost covers the stored bytes, raw bytes, records (at most four times the raw bytes)
        // and frames.
        let raw = chunk.header.raw_len as usize;
        let cost = chunk.stored.len() + raw * 5 + 4096;
        let context = chunk.header.context;
        if self.spanning.len() < MOST_SPANNING && !self.spanning.contains(&context) {
            self.spanning.push(context);
        }
        self.hand_out(context, cost, Some(chunk))
    }

    /// Tells the workers to end the frames that still go on.
    fn end_streams(&mut self) -> std::result::Result<(), Stopped> {
        std::mem::take(&mut self.spanning)
            .into_iter()
            .try_for_each(|context| self.hand_out(context, SMALL, None))
    }

    fn hand_out(
        &mut self,
        context: u32,
        cost: usize,
        chunk: Option<Chunk>,
    ) -> std::result::Result<(), Stopped> {
        if !self.shared.chunks.enter(cost) {
            return Err(Stopped);
        }
        let position = self.reader.position();
        let index = self.next_index();
        let spanning = self.spanning.contains(&context);
        let program = self.program.snapshot();
        self.shared.board.add(index, context, Task { cost, position, chunk, spanning, program });
        Ok(())
    }

    fn metadata(&mut self, chunk: &Chunk) -> Option<Item> {
        let unusable = |what: &str, e: String| {
            Some(Item::Unusable(format!("{what} at byte {}: {e}", chunk.offset)))
        };
        let mut raw = Vec::new();
        let bytes = match chunk.payload(&mut raw) {
            Ok(bytes) => bytes,
            Err(e) => return unusable("chunk", e.to_string()),
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
