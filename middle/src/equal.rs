//! Whether a graph holds what its trace recorded: all blocks with their operands and all changes of the address space,
//! context by context, decoded from both.
//!
//! The trace is decoded here by [`Decoder::chunk`], which computes every block execution at once, not by the way
//! records take into the graph.

use std::collections::BTreeMap;
use std::path::Path;

use contech_trace::event::Event;
use contech_trace::fast::{Decoder, Sink};
use contech_trace::file::{ChunkKind, ModuleLoad};
use contech_trace::reader::{Chunk, ChunkReader, Next};
use taskgraph::{Action, ContextId};

use crate::encode::{alloc_kind, payload};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::program::ProgramBuilder;

/// What [`compare_graph`] found equal.
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
        let (a, b) = (
            recorded.get(context).unwrap_or(&none),
            stored.get(context).unwrap_or(&none),
        );
        if a != b {
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
        task?.for_each_action(|action| match action {
            Action::Block(b) => digest.block(b.id().get(), b.operands()),
            Action::Alloc { addr, size, kind } => digest.other(kind as u8, addr, size),
            Action::Free { addr } => digest.other(FREE, addr, 0),
            Action::Map { addr, size } => digest.other(MAP, addr, size),
            Action::Unmap { addr, size } => digest.other(UNMAP, addr, size),
            _ => digest.other(u8::MAX, 0, 0),
        })?;
    }
    Ok(())
}

fn of_trace(trace: Input) -> Result<BTreeMap<u32, Digest>> {
    let name = trace.name();
    let failed = |source| Error::Input {
        action: "read",
        file: name.clone(),
        source,
        remedy: "check the disk",
    };
    let opened = ChunkReader::new(trace.open()?.reader).map_err(failed)?;
    let (_, mut reader) = opened.map_err(|source| Error::Trace {
        file: name.clone(),
        source,
    })?;
    let mut program = ProgramBuilder::default();
    let mut streams: BTreeMap<u32, (u64, Decoder, Digest)> = BTreeMap::new();
    let mut raw = Vec::new();
    loop {
        let chunk = match reader.next_chunk().map_err(failed)? {
            Next::Chunk(chunk) => chunk,
            Next::Skipped { .. } => continue,
            Next::End => break,
        };
        raw.clear();
        match chunk.header.kind {
            ChunkKind::Module => {
                let load = payload(&chunk, &mut raw)
                    .ok()
                    .and_then(|p| ModuleLoad::from_bytes(p).ok());
                // A module that cannot be used has no blocks, here as in the graph.
                let _ = load.map(|load| program.add(load));
            }
            ChunkKind::Stream => {
                let stream = streams.entry(chunk.header.context).or_default();
                of_chunk(&chunk, &mut raw, &mut program, stream);
            }
            _ => {}
        }
    }
    let digests = streams.into_iter().map(|(c, (_, _, digest))| (c, digest));
    Ok(digests.filter(|(_, d)| d.actions > 0).collect())
}

fn of_chunk(
    chunk: &Chunk,
    raw: &mut Vec<u8>,
    program: &mut ProgramBuilder,
    (next, decoder, digest): &mut (u64, Decoder, Digest),
) {
    let seq = chunk.header.seq;
    if seq < *next {
        return;
    }
    if seq > *next {
        decoder.forget();
    }
    *next = seq.saturating_add(1);
    match payload(chunk, raw) {
        // What cannot be read is left out of both.
        Ok(payload) => drop(decoder.chunk(payload, &program.snapshot().ids, digest)),
        Err(_) => decoder.forget(),
    }
}

const FREE: u8 = 32;
const MAP: u8 = 33;
const UNMAP: u8 = 34;
/// Actions between two marks.
const MARK: u64 = 1 << 12;

/// A running hash of the actions of a context, with marks to find a difference by.
#[derive(Debug, Default, PartialEq, Eq)]
struct Digest {
    actions: u64,
    others: u64,
    hash: u64,
    marks: Vec<u64>,
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

    fn other(&mut self, what: u8, addr: u64, size: u64) {
        self.mix(1 << 40 | u64::from(what));
        self.mix(addr);
        self.mix(size);
        self.others += 1;
        self.count();
    }

    /// Between which actions the first difference is.
    fn first_difference(&self, other: &Digest) -> (u64, u64) {
        let same = self
            .marks
            .iter()
            .zip(&other.marks)
            .take_while(|(a, b)| a == b)
            .count() as u64;
        (same * MARK, (same + 1) * MARK)
    }
}

impl Sink for Digest {
    #[inline]
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.mix(u64::from(block));
        for o in operands {
            self.mix(*o);
        }
        self.count();
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Alloc { kind, addr, size } => self.other(alloc_kind(kind) as u8, addr, size),
            Event::Free { addr } => self.other(FREE, addr, 0),
            Event::Map { addr, size } => self.other(MAP, addr, size),
            Event::Unmap { addr, size } => self.other(UNMAP, addr, size),
            _ => {}
        }
    }
}
