//! Checks whether a graph holds what its trace recorded. All blocks with their operands, all
//! changes of the address space, and all synchronisation are decoded from both and compared context
//! by context.
//!
//! The trace is decoded here by [`Decoder::chunk`], which computes every block execution at once.
//! The records take another way into the graph.

use std::collections::BTreeMap;
use std::path::Path;

use contech_trace::event::{Event, SyncOp};
use contech_trace::fast::{Decoder, Sink};
use contech_trace::file::{ChunkKind, ModuleLoad};
use contech_trace::reader::{Chunk, Next};
use taskgraph::{Action, ContextId};

use crate::encode::{action, change};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::program::ProgramBuilder;
use crate::streams::piece_after;

/// The totals that [`compare_graph`] found equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Equal {
    /// Contexts with actions.
    pub contexts: u64,
    /// Executions of blocks.
    pub blocks: u64,
    /// Allocations, frees and mappings.
    pub others: u64,
}

/// Compares the actions of a graph with those of the trace it was made from.
///
/// # Errors
/// [`Error::Differs`] says where; or one of the files cannot be read.
pub fn compare_graph(trace: impl Into<Input>, graph: &Path) -> Result<Equal> {
    let trace = trace.into();
    let (name, recorded) = (trace.name(), of_trace(trace)?);
    let graph = taskgraph::map(graph)?;
    let mut stored: BTreeMap<u32, Digest> = BTreeMap::new();
    for context in graph.contexts() {
        let digest = stored.entry(context.id.get()).or_default();
        of_context(&graph, context.id, digest)?;
    }
    stored.retain(|_, d| d.actions > 0);
    let mut equal = Equal::default();
    for context in recorded.keys().chain(stored.keys()) {
        let none = Digest::default();
        let (a, b) = (recorded.get(context).unwrap_or(&none), stored.get(context).unwrap_or(&none));
        if !a.equals(b) {
            return Err(Error::Differs {
                file: name,
                context: *context,
                place: a.first_difference(b),
                recorded: a.actions,
                stored: b.actions,
            });
        }
    }
    for d in recorded.values() {
        equal.contexts += 1;
        equal.blocks += d.actions - d.others;
        equal.others += d.others;
    }
    Ok(equal)
}

fn of_context<D: AsRef<[u8]>>(
    graph: &taskgraph::TaskGraph<D>,
    context: ContextId,
    digest: &mut Digest,
) -> Result<()> {
    for task in graph.tasks_of(context) {
        task?.for_each_action(|action| digest.action(&action))?;
    }
    Ok(())
}

fn of_trace(trace: Input) -> Result<BTreeMap<u32, Digest>> {
    let name = trace.name();
    let (_, mut reader) = trace.open()?.chunks(&name, "check the disk")?;
    let mut program = ProgramBuilder::default();
    let mut streams: BTreeMap<u32, (u64, Decoder)> = BTreeMap::new();
    let mut digests: BTreeMap<u32, Digest> = BTreeMap::new();
    let mut raw = Vec::new();
    loop {
        let next = reader.next_chunk();
        let chunk = match next.map_err(Error::unreadable(&name, "check the disk"))? {
            Next::Chunk(chunk) => chunk,
            Next::Skipped { .. } => continue,
            Next::End => break,
        };
        raw.clear();
        match chunk.header.kind {
            ChunkKind::Module => {
                let load =
                    chunk.payload(&mut raw).ok().and_then(|p| ModuleLoad::from_bytes(p).ok());
                // A module that cannot be used has no blocks here, and none in the graph.
                let _ = load.map(|load| program.add(load));
            }
            ChunkKind::Stream => {
                let stream = streams.entry(chunk.header.context).or_default();
                let mut split = Split::new(chunk.header.context, &mut digests);
                of_chunk(&chunk, &mut raw, &mut program, stream, &mut split);
                split.finish();
            }
            _ => {}
        }
    }
    digests.retain(|_, d| d.actions > 0);
    Ok(digests)
}

fn of_chunk(
    chunk: &Chunk,
    raw: &mut Vec<u8>,
    program: &mut ProgramBuilder,
    (next, decoder): &mut (u64, Decoder),
    split: &mut Split<'_>,
) {
    let seq = chunk.header.seq;
    if seq < *next {
        return;
    }
    if seq > *next {
        decoder.forget();
    }
    *next = seq.saturating_add(1);
    match chunk.payload(raw) {
        // What cannot be read is missing in both.
        Ok(payload) => drop(decoder.chunk(payload, &program.snapshot().ids, split)),
        Err(_) => decoder.forget(),
    }
}

const FREE: u8 = 32;
const MAP: u8 = 33;
const UNMAP: u8 = 34;
const FRESH: u8 = 35;
/// Number of actions between two marks.
const MARK: u64 = 1 << 12;

/// A running hash of the actions of a context, with marks that serve to find a difference.
#[derive(Debug, Default, PartialEq, Eq)]
struct Digest {
    actions: u64,
    others: u64,
    syncs: u64,
    hash: u64,
    marks: Vec<u64>,
    /// The last piece, for a context that goes from thread to thread.
    piece: u32,
    /// The pieces do not stand in order in the file, so the hash says nothing.
    unordered: bool,
}

impl Digest {
    #[inline]
    fn mix(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    #[inline]
    fn count(&mut self) {
        self.actions += 1;
        if self.actions.is_multiple_of(MARK) {
            self.marks.push(self.hash);
        }
    }

    #[inline]
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.mix(u64::from(block));
        for o in operands {
            self.mix(*o);
        }
        self.count();
    }

    fn action(&mut self, action: &Action<'_>) {
        match *action {
            Action::Block(b) => self.block(b.id().get(), b.operands()),
            Action::Alloc { addr, size, kind } => self.other(kind as u8, addr, size),
            Action::Free { addr } => self.other(FREE, addr, 0),
            Action::Map { addr, size } => self.other(MAP, addr, size),
            Action::Fresh { addr, size } => self.other(FRESH, addr, size),
            Action::Unmap { addr, size } => self.other(UNMAP, addr, size),
            Action::Sync { op, object } => self.sync(op, object),
            _ => self.other(u8::MAX, 0, 0),
        }
    }

    fn other(&mut self, what: u8, addr: u64, size: u64) {
        self.mix(1 << 40 | u64::from(what));
        self.mix(addr);
        self.mix(size);
        self.others += 1;
        self.count();
    }

    /// A synchronisation that may be an action or a task.
    fn sync(&mut self, op: SyncOp, object: u64) {
        self.mix(1 << 41 | op as u64);
        self.mix(object);
        self.syncs += 1;
    }

    fn equals(&self, other: &Digest) -> bool {
        let counts = |d: &Digest| (d.actions, d.others, d.syncs);
        let counts = counts(self) == counts(other);
        let hashes = (self.hash, &self.marks) == (other.hash, &other.marks);
        counts && (hashes || self.unordered || other.unordered)
    }

    /// The numbers of two actions between which the first difference is.
    fn first_difference(&self, other: &Digest) -> (u64, u64) {
        let same = self.marks.iter().zip(&other.marks).take_while(|(a, b)| a == b).count() as u64;
        (same * MARK, (same + 1) * MARK)
    }
}

/// Gives the records of a stream to the contexts they belong to.
struct Split<'a> {
    stream: u32,
    context: u32,
    digest: Digest,
    digests: &'a mut BTreeMap<u32, Digest>,
}

impl<'a> Split<'a> {
    fn new(stream: u32, digests: &'a mut BTreeMap<u32, Digest>) -> Self {
        Split {
            stream,
            context: stream,
            digest: digests.remove(&stream).unwrap_or_default(),
            digests,
        }
    }

    fn finish(self) {
        self.digests.insert(self.context, self.digest);
    }

    fn enter(&mut self, context: u32) {
        if context == self.context {
            return;
        }
        let next = self.digests.remove(&context).unwrap_or_default();
        let left = std::mem::replace(&mut self.digest, next);
        self.digests.insert(self.context, left);
        self.context = context;
    }
}

impl Sink for Split<'_> {
    #[inline]
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.digest.block(block, operands);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Switch { context, piece, .. } => {
                self.enter(context);
                let before = std::mem::replace(&mut self.digest.piece, piece);
                self.digest.unordered |= piece != before && piece != piece_after(before);
            }
            Event::ContextEnd { .. } if self.context != self.stream => self.enter(u32::MAX),
            event => {
                let action = change(&event).unwrap_or_else(|| action(&event));
                action.iter().for_each(|action| self.digest.action(action));
            }
        }
    }
}
