//! Mutated traces, graphs and observations: no bytes make a reader panic, hang, or take memory that the bytes do not
//! account for.
//!
//! A mutational fuzzer that runs on the stable toolchain, the same inputs for the same seed. The tests run a short slice;
//! `cargo run --release -p contech-middle --example fuzz -- trace|graph|observation EXECUTIONS [SEED]` runs any number.
//! Mutations happen below the checksums, which are then made right: otherwise nothing would get past them.

use std::io::Cursor;

use contech_observation::{Lane, Model, Module, Observation, Phase, Place, State, Times, WaitSite};
use contech_trace::event::Event;
use contech_trace::event::SyncOp::{Barrier, MutexLock, MutexUnlock};
use contech_trace::fast::{Decoder, Records, Segment};
use contech_trace::file::{ChunkKind, ModuleLoad, RankInfo, RunInfo, Totals};
use contech_trace::program::Program;
use contech_trace::reader::{ChunkReader, Next};
use contech_trace::table::ModuleTable;
use taskgraph::{TaskGraph, TaskId};

use crate::memory::within;
use crate::trace::{BASE, COPY, GATHER, LOAD, LOOP, Piece, STORE_LOAD, TraceBuilder, assemble};

/// Numbers that are the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap_or(0)
    }

    /// Changes, repeats, inserts or removes a few bytes.
    pub(crate) fn mutate(&mut self, bytes: &mut Vec<u8>) {
        const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xf7, 0xf8, 0xfe, 0xff];
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len().max(1));
            match (self.below(7), bytes.is_empty()) {
                (0, false) => bytes[at] ^= 1 << self.below(8),
                (1, false) => bytes[at] = EDGES[self.below(EDGES.len())],
                (2, false) => bytes[at] = self.next().to_le_bytes()[0],
                (3, false) => bytes.truncate(at),
                (4, false) => drop(bytes.drain(at..(at + 1 + self.below(8)).min(bytes.len()))),
                (5, false) => {
                    let piece = bytes[at..(at + self.below(24)).min(bytes.len())].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => {
                    let new: Vec<u8> = (0..self.below(9)).map(|_| EDGES[self.below(8)]).collect();
                    bytes.splice(at..at, new);
                }
            }
        }
    }
}

/// A trace with every kind of record, in both forms.
pub(crate) fn seed() -> TraceBuilder {
    let mut t = TraceBuilder::empty();
    t.module(BASE, &crate::trace::module_with_loop());
    t.start(0);
    t.create(0, 1);
    for round in 0..3u64 {
        for context in 0..2 {
            t.block(context, LOAD, &[0x1000 + 8 * round]);
            t.block(context, STORE_LOAD, &[0x2000, 0x3000 + round]);
            // The loop records how often it went back.
            t.record(context, LOOP, &[5 + round], 6);
            t.sync(context, MutexLock, 0x10);
            t.block(context, COPY, &[0x5000, 0x6000, 64]);
            t.block(context, GATHER, &[0b101, 0x7000, 0x7100, 0x7200]);
            t.sync(context, MutexUnlock, 0x10);
        }
        for context in 0..2 {
            t.sync_aux(context, Barrier, 0x20, 2);
        }
        t.flush(0);
    }
    t.event(
        0,
        Event::Alloc {
            kind: contech_trace::event::AllocKind::New,
            addr: 0x9000,
            size: 64,
        },
    );
    t.event(0, Event::Free { addr: 0x9000 });
    t.join(0, 1);
    t.end(0);
    t.close();
    t
}

/// Takes records and keeps nothing.
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

/// Reads a trace as the middle does, chunk by chunk; what it says of the bytes does not matter.
pub(crate) fn read_trace(bytes: &[u8]) -> u64 {
    let mut seen = Nothing::default();
    let Ok(Ok((_, mut reader))) = ChunkReader::new(Cursor::new(bytes)) else {
        return 0;
    };
    let mut program = Program::default();
    let mut decoders = [Decoder::default(), Decoder::default()];
    while let Ok(next) = reader.next_chunk() {
        let chunk = match next {
            Next::Chunk(chunk) => chunk,
            Next::Skipped { .. } => continue,
            Next::End => break,
        };
        let payload = &chunk.stored;
        match chunk.header.kind {
            ChunkKind::Run => drop(RunInfo::from_bytes(payload)),
            ChunkKind::Rank => drop(RankInfo::from_bytes(payload)),
            ChunkKind::End => drop(Totals::from_bytes(payload)),
            ChunkKind::Module => {
                if let Ok(load) = ModuleLoad::from_bytes(payload)
                    && let Ok(table) = ModuleTable::decode(&load.table)
                {
                    drop(program.add(load.id_base, load.id_count, &table, &load.globals));
                }
            }
            ChunkKind::Stream | ChunkKind::Check => {
                let decoder = &mut decoders[chunk.header.context as usize & 1];
                drop(decoder.segments(payload, &program, &mut seen));
            }
        }
    }
    seen.0
}

/// One execution: a mutation of one or two pieces of the seed, or of the file.
pub(crate) fn trace_once(seed: &[Piece], random: &mut Random) -> u64 {
    let mut pieces = seed.to_vec();
    for _ in 0..=random.below(2) {
        let at = random.below(pieces.len());
        match random.below(12) {
            0 => drop(pieces.remove(at)),
            1 => pieces.push(pieces[at].clone()),
            2 => pieces[at].context = u32::from(random.next().to_le_bytes()[0]),
            3 => pieces[at].seq = random.next() >> random.below(64),
            _ => random.mutate(&mut pieces[at].payload),
        }
    }
    let mut bytes = assemble(&pieces);
    if random.below(8) == 0 {
        random.mutate(&mut bytes);
    }
    within(bytes.len(), || read_trace(&bytes))
}

/// Most executions of blocks that are worth reading in one task.
const MOST_BLOCKS: u64 = 20_000;

/// Reads a graph in every way there is; what it says of the bytes does not matter.
pub(crate) fn read_graph(bytes: &[u8]) -> u64 {
    let Ok(graph) = TaskGraph::from_bytes(bytes) else {
        return 0;
    };
    let mut seen = 0u64;
    drop(graph.verify());
    for task in graph.tasks().take(40) {
        let Ok(task) = task else { break };
        seen += task.predecessors().map_or(0, |p| p.len() as u64);
        seen += task.successors().map_or(0, |p| p.len() as u64);
        if task.block_count() > MOST_BLOCKS {
            continue;
        }
        drop(task.for_each_access(|a| seen = seen.wrapping_add(a.addr)));
        let Ok(mut actions) = task.actions() else {
            break;
        };
        while let Ok(Some(_)) = actions.next() {
            seen = seen.wrapping_add(1);
        }
    }
    for context in graph.contexts().take(4) {
        drop(graph.task(TaskId::new(context.id, context.task_count)));
        seen += graph.tasks_of(context.id).take(40).count() as u64;
    }
    seen
}

/// Where a graph's units are: tag, offset and length of the payload.
pub(crate) fn units(graph: &[u8]) -> Vec<(u32, usize, usize)> {
    const HEADER: usize = 32;
    const UNIT: usize = 16;
    let word = |at: usize| {
        graph[at..]
            .first_chunk()
            .map_or(0, |b| u32::from_le_bytes(*b))
    };
    let (mut at, mut found) = (HEADER, Vec::new());
    while at + UNIT < graph.len() - HEADER {
        let length = word(at + 4) as usize;
        found.push((word(at), at + UNIT, length));
        at += UNIT + length;
    }
    found
}

/// One execution: bytes of one or two units changed in place, their checksums made right; now and then any byte.
pub(crate) fn graph_once(seed: &[u8], units: &[(u32, usize, usize)], random: &mut Random) -> u64 {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(2) {
        let (tag, start, length) = units[random.below(units.len())];
        for _ in 0..=random.below(3) {
            let at = start + random.below(length);
            bytes[at] = match random.below(3) {
                0 => random.next().to_le_bytes()[0],
                1 => bytes[at] ^ 1 << random.below(8),
                _ => [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            };
        }
        let seed = u64::from(tag) << 32 ^ length as u64;
        let sum = xxhash_rust::xxh3::xxh3_64_with_seed(&bytes[start..start + length], seed);
        bytes[start - 8..start].copy_from_slice(&sum.to_le_bytes());
    }
    if random.below(16) == 0 {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
    within(bytes.len(), || read_graph(&bytes))
}

/// An observation with everything in it.
pub(crate) fn observation() -> Vec<u8> {
    let place = Place {
        module: Some(0),
        offset: 64,
        symbol: "sweep".into(),
    };
    let times = Times([300; State::COUNT]);
    let phase = Phase {
        place: place.clone(),
        model: Model::OpenMp,
        count: 1,
        wall_ns: 800,
        threads: 2,
        times,
        slowest_ns: 700,
        first_ns: 5,
        dynamic: true,
        alone_ns: 0,
        pieces: 3,
    };
    let wait = WaitSite {
        place,
        state: State::Lock,
        count: 9,
        ns: 70,
    };
    let lane = Lane {
        threads: 1,
        times,
        bins: vec![times; 3],
        ..Lane::default()
    };
    let observation = Observation {
        complete: true,
        bin_ns: 10,
        notes: vec!["seen".into()],
        lanes: vec![lane; 2],
        phases: vec![phase],
        waits: vec![wait],
        modules: vec![Module {
            path: "/bin/program".into(),
        }],
        ..Observation::default()
    };
    observation.encode().unwrap_or_default()
}

/// One execution: a mutation of the body, its length and checksum made right.
pub(crate) fn observation_once(seed: &[u8], random: &mut Random) -> u64 {
    const HEADER: usize = 32;
    let mut body = seed[HEADER..].to_vec();
    random.mutate(&mut body);
    let mut bytes = seed[..HEADER].to_vec();
    bytes[16..24].copy_from_slice(&(body.len() as u64).to_le_bytes());
    bytes[24..32].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(&body).to_le_bytes());
    bytes.extend(body);
    let read = within(bytes.len(), || Observation::decode(&bytes));
    read.map_or(0, |o| 1 + o.lanes.len() as u64)
}
