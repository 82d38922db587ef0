//! Synthetic traces in a few lines, made with the encoders of contech-trace.

use std::collections::BTreeMap;

use contech_program::path::{Expr, PathLoop, PathNode};
use contech_program::{BlockId, MemOp, OpKind};
use contech_trace::event::{EndReason, Event, MAX_EVENT, SyncOp};
use contech_trace::fast::{Edge, FastFunction, LoopStep, Start, Target};
use contech_trace::file::{
    CODEC_PACKED, CODEC_RAW, ChunkHeader, ChunkKind, FileHeader, ModuleLoad, RunInfo, Totals,
    checksum,
};
use contech_trace::pack;
use contech_trace::table::{Block, Call, Function, ModuleTable};

/// Id of block 0.
pub(crate) const BASE: u32 = 0x40_0000;
/// Blocks of the synthetic module, by what they record.
pub(crate) const PLAIN: u32 = 0;
pub(crate) const LOAD: u32 = 1;
pub(crate) const STORE_LOAD: u32 = 2;
pub(crate) const COPY: u32 = 3;
pub(crate) const GATHER: u32 = 4;

fn op(kind: OpKind, size: u32, lanes: u16) -> MemOp {
    MemOp { kind, size, lanes, flags: 0, const_len: 0, line: 7, inlined: 0 }
}

/// The module all synthetic programs consist of.
pub(crate) fn module() -> ModuleTable {
    let block = |line, ops: Vec<MemOp>| Block { line, ir_ops: 3, ops, ..Block::default() };
    let mut blocks = vec![
        block(10, vec![]),
        block(11, vec![op(OpKind::Load, 8, 0)]),
        block(12, vec![op(OpKind::Store, 4, 0), op(OpKind::Load, 4, 0)]),
        block(13, vec![op(OpKind::Copy, 0, 0)]),
        block(14, vec![op(OpKind::Gather, 4, 3)]),
    ];
    blocks[0].call = Some(Call { callee: "_Z3foov".into(), line: 10, inlined: 0 });
    ModuleTable {
        name: "program.cpp".into(),
        functions: vec![Function { name: "_Z4workPi".into(), file: "program.cpp".into(), line: 9 }],
        blocks,
        ..ModuleTable::default()
    }
}

/// The module with a function in fast form: a loop over [`LOAD`] at 0x1000, 0x1008, ...; its path
/// id is [`LOOP`], and records how often the loop went back.
pub(crate) fn module_with_loop() -> ModuleTable {
    let address = Expr::Add(vec![
        Expr::Const(0x1000),
        Expr::Mul(Box::new(Expr::Const(8)), Box::new(Expr::Iter(0))),
    ]);
    let leave = Edge { target: Target::End, increment: 0, step: LoopStep::None };
    let header =
        PathNode { block: Some(BlockId::new(LOAD)), leaves: Vec::new(), operands: vec![address] };
    let start = Start { node: 0, fresh: true, base: 0, paths: 1, resumes: None };
    let collapsed = PathLoop::Collapsed { body: vec![0], last: 1, count: None };
    let function =
        FastFunction::new(0, 0, vec![(header, vec![leave])], vec![collapsed], vec![start]);
    ModuleTable { fast: vec![function], ..module() }
}

/// The module with a function in fast form that is cut in every round of its loop: segments
/// [`LOOP`], then any number of the one after it, each a block [`PLAIN`].
pub(crate) fn module_with_cuts() -> ModuleTable {
    let block = || PathNode { block: Some(BlockId::new(PLAIN)), ..PathNode::default() };
    let edge = Edge { target: Target::Cut(1), increment: 0, step: LoopStep::None };
    let node = || (block(), vec![edge]);
    let start = |node| Start { node, fresh: node == 0, base: node, paths: 1, resumes: None };
    let function =
        FastFunction::new(0, 0, vec![node(), node()], Vec::new(), vec![start(0), start(1)]);
    ModuleTable { fast: vec![function], ..module() }
}

/// Path id of the loop, counted from [`BASE`].
pub(crate) const LOOP: u32 = 5;

/// A chunk to be written.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) kind: ChunkKind,
    pub(crate) context: u32,
    pub(crate) seq: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) waited: u64,
    pub(crate) payload: Vec<u8>,
    pub(crate) codec: u8,
    pub(crate) level: u8,
}

impl Piece {
    /// The chunk's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let stored = match self.codec {
            CODEC_PACKED => packed(&self.payload),
            _ => self.payload.clone(),
        };
        let header = ChunkHeader {
            kind: self.kind,
            codec: self.codec,
            level: self.level,
            context: self.context,
            waited: self.waited,
            seq: self.seq,
            raw_len: u32::try_from(self.payload.len()).unwrap(),
            stored_len: u32::try_from(stored.len()).unwrap(),
            first: self.first,
            last: self.last,
            payload_sum: checksum(&stored),
        };
        [header.encode().as_slice(), &stored].concat()
    }
}

/// The packed form by its definition, with a distance that changes from group to group.
pub(crate) fn packed(raw: &[u8]) -> Vec<u8> {
    let (whole, rest) = raw.as_chunks::<{ pack::GROUP }>();
    let mut packed = Vec::new();
    for (n, group) in whole.iter().enumerate() {
        let from = n * pack::GROUP;
        let distance = match n * 37 % 251 {
            d @ pack::LEAST.. if d <= from => d,
            _ => 0,
        };
        let before = |i: usize| {
            if distance == 0 { 0 } else { raw[from + i - distance] }
        };
        let differing: Vec<u8> = (0..group.len()).map(|i| group[i] ^ before(i)).collect();
        let mask = (0..group.len()).map(|i| u64::from(differing[i] != 0) << i);
        packed.push(u8::try_from(distance).unwrap());
        packed.extend(mask.sum::<u64>().to_le_bytes());
        packed.extend(differing.iter().filter(|d| **d != 0));
    }
    packed.extend(rest);
    packed
}

#[derive(Default)]
struct Stream {
    payload: Vec<u8>,
    first: u64,
    seq: u64,
}

/// Builds a trace. Every event takes the next 10 ticks of one clock, and the next ticket of its
/// object, so the order of calls is the recorded order.
pub(crate) struct TraceBuilder {
    pub(crate) codec: u8,
    /// Level of the chunks that are cut.
    pub(crate) level: u8,
    pub(crate) clock: u64,
    pub(crate) totals: Option<Totals>,
    streams: BTreeMap<u32, Stream>,
    /// The naive forms of `--contech-check`.
    naive: BTreeMap<u32, Stream>,
    tickets: BTreeMap<u64, u64>,
    pub(crate) pieces: Vec<Piece>,
}

impl TraceBuilder {
    /// A trace with run information, the module, and context 0 started.
    pub(crate) fn new() -> Self {
        let mut t = Self::empty();
        t.module(BASE, &module());
        t.start(0);
        t
    }

    /// A trace with run information only.
    pub(crate) fn empty() -> Self {
        let mut t = TraceBuilder {
            codec: CODEC_RAW,
            level: 0,
            clock: 0,
            totals: Some(Totals { complete: true, clock_hz: 1_000_000_000, ..Totals::default() }),
            streams: BTreeMap::new(),
            naive: BTreeMap::new(),
            tickets: BTreeMap::new(),
            pieces: Vec::new(),
        };
        let run = RunInfo {
            command: vec!["program".into(), "-x".into()],
            host: "here".into(),
            version: "0.1.0".into(),
            ..RunInfo::default()
        };
        t.metadata(ChunkKind::Run, run.to_bytes());
        t
    }

    fn metadata(&mut self, kind: ChunkKind, payload: Vec<u8>) {
        let seq = self.pieces.iter().filter(|p| p.kind == kind).count() as u64;
        let now = self.clock;
        let codec = CODEC_RAW;
        self.pieces.push(Piece {
            kind,
            context: 0,
            seq,
            first: now,
            last: now,
            waited: 0,
            payload,
            codec,
            level: 0,
        });
    }

    pub(crate) fn module(&mut self, base: u32, table: &ModuleTable) {
        let starts = table.fast.iter().flat_map(|f| &f.starts);
        let paths: u32 = starts.map(|s| s.paths).sum();
        let load = ModuleLoad {
            id_base: base,
            id_count: u32::try_from(table.blocks.len()).unwrap() + paths,
            object: "/bin/program".into(),
            load_address: 0,
            table: table.encode(),
            globals: Vec::new(),
        };
        self.metadata(ChunkKind::Module, load.to_bytes());
    }

    fn stream(&mut self, context: u32) -> &mut Stream {
        let now = self.clock;
        let s = self.streams.entry(context).or_default();
        if s.payload.is_empty() {
            s.first = now;
        }
        s
    }

    pub(crate) fn tick(&mut self) -> u64 {
        self.clock += 10;
        self.clock
    }

    pub(crate) fn event(&mut self, context: u32, event: Event) {
        let mut buffer = [0; MAX_EVENT];
        let n = event.encode(&mut buffer);
        self.raw(context, &buffer[..n]);
    }

    /// Starts a context that context 0 announced.
    pub(crate) fn start(&mut self, context: u32) {
        self.start_as(context, true);
    }

    pub(crate) fn start_as(&mut self, context: u32, announced: bool) {
        let at = self.tick();
        let tid = 100 + context;
        self.event(context, Event::ContextStart { context, creator: 0, announced, tid, at });
    }

    pub(crate) fn end(&mut self, context: u32) {
        self.end_as(context, EndReason::Finished);
    }

    pub(crate) fn end_as(&mut self, context: u32, reason: EndReason) {
        let at = self.tick();
        self.event(context, Event::ContextEnd { reason, at });
    }

    /// Bytes as they are.
    pub(crate) fn raw(&mut self, context: u32, bytes: &[u8]) {
        self.stream(context).payload.extend_from_slice(bytes);
    }

    /// A block without operands.
    pub(crate) fn work(&mut self, context: u32) {
        self.block(context, PLAIN, &[]);
    }

    /// Operands in program order; the mask of GATHER is 8 bytes, all else 6.
    pub(crate) fn block(&mut self, context: u32, block: u32, operands: &[u64]) {
        let first = if block == GATHER { 8 } else { 6 };
        self.record(context, block, operands, first);
    }

    /// A block whose first operand takes `first` bytes, the others 6.
    pub(crate) fn record(&mut self, context: u32, block: u32, operands: &[u64], first: usize) {
        put_record(&mut self.stream(context).payload, block, operands, first);
    }

    /// A block in the naive form.
    pub(crate) fn naive(&mut self, context: u32, block: u32, operands: &[u64]) {
        let first = if block == GATHER { 8 } else { 6 };
        let stream = self.naive.entry(context).or_default();
        put_record(&mut stream.payload, block, operands, first);
    }

    /// A block in both forms.
    pub(crate) fn both(&mut self, context: u32, block: u32, operands: &[u64]) {
        self.block(context, block, operands);
        self.naive(context, block, operands);
    }

    /// Cuts the context's chunk of the naive form.
    pub(crate) fn flush_naive(&mut self, context: u32) {
        self.cut(ChunkKind::Check, context);
    }

    pub(crate) fn ticket(&mut self, object: u64) -> u64 {
        let t = self.tickets.entry(object).or_default();
        *t += 1;
        *t
    }

    /// The last ticket of an object.
    pub(crate) fn last_ticket(&self, object: u64) -> u64 {
        self.tickets.get(&object).copied().unwrap_or(0)
    }

    pub(crate) fn sync(&mut self, context: u32, op: SyncOp, object: u64) {
        self.sync_aux(context, op, object, 0);
    }

    pub(crate) fn sync_aux(&mut self, context: u32, op: SyncOp, object: u64, aux: u64) {
        let ticket = self.ticket(object);
        self.sync_at(context, op, object, ticket, aux);
    }

    /// An event with a ticket of one's own choice.
    pub(crate) fn sync_at(&mut self, context: u32, op: SyncOp, object: u64, ticket: u64, aux: u64) {
        let before = self.tick();
        let duration = 5;
        self.event(context, Event::Sync { op, object, ticket, aux, before, duration });
    }

    /// Creates and starts a child.
    pub(crate) fn create(&mut self, parent: u32, child: u32) {
        self.sync(parent, SyncOp::ThreadCreate, child.into());
        self.start(child);
    }

    /// Ends a child and joins it.
    pub(crate) fn join(&mut self, parent: u32, child: u32) {
        self.end(child);
        self.sync(parent, SyncOp::ThreadJoin, child.into());
    }

    /// Cuts the chunks of at least this many bytes.
    pub(crate) fn flush_full(&mut self, bytes: usize) {
        let full = self.streams.iter().filter(|(_, s)| s.payload.len() >= bytes);
        for context in full.map(|(c, _)| *c).collect::<Vec<_>>() {
            self.flush(context);
        }
    }

    /// Cuts the context's chunk.
    pub(crate) fn flush(&mut self, context: u32) {
        self.cut(ChunkKind::Stream, context);
    }

    /// Makes a chunk of what a stream holds, unless that is nothing.
    fn cut(&mut self, kind: ChunkKind, context: u32) {
        let streams = match kind {
            ChunkKind::Check => &mut self.naive,
            _ => &mut self.streams,
        };
        let s = streams.entry(context).or_default();
        if s.payload.is_empty() {
            return;
        }
        self.pieces.push(Piece {
            kind,
            context,
            seq: s.seq,
            first: s.first,
            last: self.clock,
            waited: 0,
            payload: std::mem::take(&mut s.payload),
            codec: self.codec,
            level: self.level,
        });
        s.seq += 1;
    }

    /// Flushes all contexts and adds the end.
    pub(crate) fn close(&mut self) {
        for context in self.streams.keys().copied().collect::<Vec<_>>() {
            self.flush(context);
        }
        for context in self.naive.keys().copied().collect::<Vec<_>>() {
            self.flush_naive(context);
        }
        if let Some(mut totals) = self.totals.take() {
            let streams = self.pieces.iter().filter(|p| p.kind == ChunkKind::Stream);
            totals.bytes = streams.map(|p| p.payload.len() as u64).sum();
            self.metadata(ChunkKind::End, totals.to_bytes());
        }
    }

    /// The file.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.close();
        assemble(&self.pieces)
    }
}

fn put_record(payload: &mut Vec<u8>, block: u32, operands: &[u64], first: usize) {
    for (i, o) in operands.iter().enumerate() {
        let width = if i == 0 { first } else { 6 };
        payload.extend_from_slice(&o.to_le_bytes()[..width]);
    }
    payload.extend_from_slice(&(BASE + block).to_le_bytes());
}

/// A file of these chunks.
pub(crate) fn assemble(pieces: &[Piece]) -> Vec<u8> {
    let header = FileHeader { pid: 77, start_ticks: 1, start_unix_ns: 5, clock_hz: 1_000_000_000 };
    let mut bytes = header.encode().to_vec();
    for p in pieces {
        bytes.extend(p.bytes());
    }
    bytes
}
