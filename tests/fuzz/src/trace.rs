//! Traces: chunks behind headers of 64 bytes each (runtime/trace/FORMAT.md).

use std::io::Cursor;

use contech_middle::Options;
use contech_trace::event::AllocKind;
use contech_trace::event::Event;
use contech_trace::event::SyncOp::{Barrier, MutexLock, MutexUnlock};
use contech_trace::fast::{Decoder, Records, Segment};
use contech_trace::file::{
    CHUNK_HEADER_BYTES, CODEC_PACKED, CODEC_RAW, ChunkKind, HEADER_BYTES, ModuleLoad, RankInfo,
    RunInfo, Totals, checksum,
};
use contech_trace::program::Program;
use contech_trace::reader::{ChunkReader, Next};
use contech_trace::table::ModuleTable;

use crate::mutate::{Format, Piece};
use crate::synthetic::{
    BASE, COPY, GATHER, LOAD, LOOP, STORE_LOAD, TraceBuilder, module_with_cuts, module_with_loop,
};

/// A trace's pieces: the file header, then the chunks.
pub(crate) const FORMAT: Format = Format { split, open, shut, join };

/// Offsets of kind, codec, raw length and stored length in a chunk header.
const KIND: usize = 4;
const CODEC: usize = 5;
const RAW_LENGTH: usize = 24;
const STORED_LENGTH: usize = 28;
/// Offsets of the payload's checksum and of the header's own. The file header has its own checksum
/// at the same offset.
const SUM: usize = 48;
const OWN_SUM: usize = 56;

fn split(file: &[u8]) -> Option<Vec<Piece>> {
    let head = file.get(..HEADER_BYTES)?.to_vec();
    let mut pieces = vec![Piece { head, stored: Vec::new(), at: 0 }];
    let mut at = HEADER_BYTES;
    while let Some(head) = file.get(at..at + CHUNK_HEADER_BYTES) {
        let length = head[STORED_LENGTH..].first_chunk().map(|b| u32::from_le_bytes(*b));
        let end = at + CHUNK_HEADER_BYTES + length? as usize;
        let stored = file.get(at + CHUNK_HEADER_BYTES..end)?.to_vec();
        pieces.push(Piece { head: head.to_vec(), stored, at: at as u64 });
        at = end;
    }
    Some(pieces)
}

/// The payload of a chunk; for a module, the list of what is loaded where, and the module's table.
fn open(piece: &Piece) -> Option<Vec<Vec<u8>>> {
    let payload = &piece.stored;
    if piece.head[KIND] == ChunkKind::Module as u8
        && let Ok(mut load) = ModuleLoad::from_bytes(payload)
    {
        let table = std::mem::take(&mut load.table);
        return Some(vec![load.to_bytes(), table]);
    }
    Some(vec![payload.clone()])
}

fn shut(_: &Piece, parts: &[Vec<u8>]) -> Vec<u8> {
    match parts {
        [load, table] => ModuleLoad::from_bytes(load).map_or_else(
            |_| load.clone(),
            |mut load| {
                load.table.clone_from(table);
                load.to_bytes()
            },
        ),
        _ => parts.concat(),
    }
}

fn join(pieces: &[Piece]) -> Vec<u8> {
    let mut file = Vec::new();
    for piece in pieces {
        let mut head = piece.head.clone();
        head.resize(CHUNK_HEADER_BYTES, 0);
        if piece.at > 0 || !file.is_empty() {
            let length = u32::try_from(piece.stored.len()).unwrap_or(u32::MAX);
            if head[CODEC] == CODEC_RAW {
                head[RAW_LENGTH..STORED_LENGTH].copy_from_slice(&length.to_le_bytes());
            }
            head[STORED_LENGTH..STORED_LENGTH + 4].copy_from_slice(&length.to_le_bytes());
            head[SUM..OWN_SUM].copy_from_slice(&checksum(&piece.stored).to_le_bytes());
        }
        let own = checksum(&head[..OWN_SUM]);
        head[OWN_SUM..].copy_from_slice(&own.to_le_bytes());
        file.extend(head);
        file.extend(&piece.stored);
    }
    file
}

/// Traces with every kind of record: in both forms, compressed, and cut in every round of a loop.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let fast = |codec, checked| {
        let mut t = TraceBuilder::empty();
        t.codec = codec;
        t.module(BASE, &module_with_loop());
        t.start(0);
        t.create(0, 1);
        for round in 0..3u64 {
            for context in 0..2 {
                t.block(context, LOAD, &[0x1000 + 8 * round]);
                t.block(context, STORE_LOAD, &[0x2000, 0x3000 + round]);
                // The loop records how often it was repeated.
                t.record(context, LOOP, &[5 + round], 6);
                t.sync(context, MutexLock, 0x10);
                t.block(context, COPY, &[0x5000, 0x6000, 64]);
                t.block(context, GATHER, &[0b101, 0x7000, 0x7100, 0x7200]);
                t.sync(context, MutexUnlock, 0x10);
                if checked {
                    t.naive(context, LOAD, &[0x1000 + 8 * round]);
                    t.naive(context, STORE_LOAD, &[0x2000, 0x3000 + round]);
                }
            }
            for context in 0..2 {
                t.sync_aux(context, Barrier, 0x20, 2);
            }
            t.flush(0);
        }
        let (kind, addr) = (AllocKind::New, 0x9000);
        t.event(0, Event::Alloc { kind, addr, size: 64 });
        t.event(0, Event::Free { addr });
        t.join(0, 1);
        t.end(0);
        t.finish()
    };
    let cut = || {
        let mut t = TraceBuilder::empty();
        t.module(BASE, &module_with_cuts());
        t.start(0);
        t.record(0, LOOP, &[], 6);
        (0..3).for_each(|_| t.record(0, LOOP + 1, &[], 6));
        t.flush(0);
        t.record(0, LOOP + 1, &[], 6);
        t.end(0);
        t.finish()
    };
    vec![fast(CODEC_RAW, false), fast(CODEC_PACKED, true), cut()]
}

/// A receiver of records that keeps none of them.
#[derive(Default)]
struct Nothing(u64);

impl Records for Nothing {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.0 += u64::from(block) ^ operands.len() as u64;
    }
    fn event(&mut self, _: Event, _: bool) {
        self.0 += 1;
    }
    fn segment(&mut self, segment: Segment<'_>) -> bool {
        self.0 += segment.bytes.len() as u64;
        true
    }
}

/// Reads a trace chunk by chunk; whether all of it can be read.
pub(crate) fn read(bytes: &[u8]) -> bool {
    let mut seen = Nothing::default();
    let Ok(Ok((_, mut reader))) = ChunkReader::new(Cursor::new(bytes)) else {
        return false;
    };
    let mut program = Program::default();
    let mut decoders = [Decoder::default(), Decoder::default()];
    let mut sound = true;
    while let Ok(next) = reader.next_chunk() {
        let chunk = match next {
            Next::Chunk(chunk) => chunk,
            Next::Skipped { .. } => {
                sound = false;
                continue;
            }
            Next::End => break,
        };
        let mut raw = Vec::new();
        let payload = match chunk.payload(&mut raw) {
            Ok(payload) => payload,
            Err(_) => {
                sound = false;
                continue;
            }
        };
        sound &= match chunk.header.kind {
            ChunkKind::Run => RunInfo::from_bytes(payload).is_ok(),
            ChunkKind::Rank => RankInfo::from_bytes(payload).is_ok(),
            ChunkKind::End => Totals::from_bytes(payload).is_ok(),
            ChunkKind::Module => ModuleLoad::from_bytes(payload).is_ok_and(|load| {
                ModuleTable::decode(&load.table).is_ok_and(|mut table| {
                    let (base, count) = (load.id_base, load.id_count);
                    program.add(base, count, &mut table, &load.globals, None).is_ok()
                })
            }),
            ChunkKind::Stream | ChunkKind::Check => {
                let decoder = &mut decoders[chunk.header.context as usize & 1];
                decoder.segments(payload, &program, &mut seen).is_ok()
            }
        };
    }
    sound
}

/// Makes a graph of a trace. The graph must be valid, whatever the trace.
pub(crate) fn convert(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a temporary folder");
    let path = folder.path().join("graph.tg");
    let options = Options { memory: 1 << 20, threads: 1, ..Options::default() };
    let Ok(summary) = contech_middle::convert(bytes.to_vec(), &path, &options) else {
        assert!(!path.exists(), "a graph is left behind");
        return false;
    };
    let graph = taskgraph::map(&path).expect("the graph is there");
    let verified = graph.verify().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verified.tasks, summary.tasks.total());
    assert_eq!(verified.edges, summary.edges);
    assert_eq!(summary.graph_bytes, graph.bytes().len() as u64);
    summary.complete
}

/// The graph of a valid trace.
pub(crate) fn graph_of(bytes: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("graph.tg");
    contech_middle::convert(bytes.to_vec(), &path, &Options::default()).expect("the seed is sound");
    std::fs::read(&path).expect("the graph is there")
}
