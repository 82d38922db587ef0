//! Prints how fast the decoder is on affine, gather and branchy streams made here:
//! `cargo run --release -p contech-trace --example decode_rate`.

use std::time::Instant;

use contech_trace::event::Event;
use contech_trace::fast::{
    Affine, Count, Decoder, Edge, Expr, FastFunction, Leaf, Loop, LoopStep, Node, Sink, Start,
    Target,
};
use contech_trace::op::{Op, OpKind};
use contech_trace::program::Program;
use contech_trace::table::{Block, Function, ModuleTable};

const BASE: u32 = 0x5000_0000;

/// Adds everything up, so that nothing is optimised away.
#[derive(Default)]
struct Total {
    accesses: u64,
    sum: u64,
}

impl Sink for Total {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.accesses += operands.len() as u64;
        self.sum = operands
            .iter()
            .fold(self.sum ^ u64::from(block), |s, o| s.wrapping_add(*o));
    }
    fn event(&mut self, _: Event) {}
}

/// The same, taking affine runs whole.
#[derive(Default)]
struct Compact(Total);

impl Sink for Compact {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.0.block(block, operands);
    }
    fn event(&mut self, _: Event) {}
    fn affine(&mut self, run: &Affine<'_>, _: &mut Vec<u64>) {
        self.0.accesses += run.starts.len() as u64 * run.iterations;
    }
}

fn edge(target: Target, increment: u32, step: LoopStep) -> Edge {
    Edge {
        target,
        increment,
        step,
    }
}

fn at(slot: u32, l: u32, stride: u64) -> Expr {
    let scaled = Expr::Mul(Box::new(Expr::Const(stride)), Box::new(Expr::Iter(l)));
    Expr::Add(vec![Expr::Slot(slot), scaled])
}

fn node(block: u32, leaves: &[(u32, u8)], operands: Vec<Expr>, edges: Vec<Edge>) -> Node {
    let leaves = leaves
        .iter()
        .map(|(slot, width)| Leaf {
            slot: *slot,
            width: *width,
        })
        .collect();
    Node {
        block: Some(block),
        leaves,
        operands,
        edges,
    }
}

fn program(f: FastFunction) -> Program {
    let op = Op {
        kind: OpKind::Load,
        size: 8,
        lanes: 0,
        flags: 0,
        const_len: 0,
        line: 0,
    };
    let blocks: Vec<Block> = f
        .nodes
        .iter()
        .map(|n| Block {
            ops: vec![op; n.operands.len()],
            ..Block::default()
        })
        .collect();
    let paths: u32 = f.starts.iter().map(|s| s.paths).sum();
    let count = u32::try_from(blocks.len()).expect("few") + paths;
    let functions = vec![Function::default()];
    let table = ModuleTable {
        functions,
        blocks,
        fast: vec![f],
        ..ModuleTable::default()
    };
    let mut p = Program::default();
    p.add(BASE, count, &table, &[]).expect("a sound table");
    p
}

/// entry, one collapsed loop over three arrays (with a gathered index when `leaf`), exit.
fn looped(leaf: bool, count: Count) -> FastFunction {
    let leaves: &[(u32, u8)] = if leaf { &[(2, 4)] } else { &[] };
    let third = if leaf {
        Expr::Add(vec![Expr::Slot(0), Expr::Slot(2)])
    } else {
        at(0, 0, 16)
    };
    FastFunction {
        slots: 3,
        nodes: vec![
            node(
                0,
                &[(0, 6), (1, 4)],
                vec![],
                vec![edge(Target::Node(1), 0, LoopStep::None)],
            ),
            node(
                1,
                leaves,
                vec![at(0, 0, 8), at(1, 0, 8), third],
                vec![edge(Target::Node(2), 0, LoopStep::None)],
            ),
            node(2, &[], vec![], vec![edge(Target::End, 0, LoopStep::None)]),
        ],
        loops: vec![Loop::Collapsed {
            header: 1,
            body: vec![1],
            last: 1,
            count,
        }],
        starts: vec![Start {
            node: 0,
            fresh: true,
            base: 0,
            paths: 1,
            resumes: None,
        }],
        ..FastFunction::default()
    }
}

/// A loop of two paths, each iteration an id and one 6-byte leaf of two accesses.
fn branchy() -> FastFunction {
    let plus = |c| Expr::Add(vec![Expr::Slot(0), Expr::Const(c)]);
    FastFunction {
        slots: 1,
        nodes: vec![
            node(
                0,
                &[],
                vec![],
                vec![edge(Target::Node(1), 0, LoopStep::Enter(0))],
            ),
            node(
                1,
                &[(0, 6)],
                vec![plus(0)],
                vec![
                    edge(Target::Node(2), 0, LoopStep::None),
                    edge(Target::Node(3), 1, LoopStep::None),
                ],
            ),
            node(
                2,
                &[],
                vec![plus(8)],
                vec![edge(Target::Cut(1), 0, LoopStep::Next(0))],
            ),
            node(
                3,
                &[],
                vec![plus(16)],
                vec![edge(Target::Cut(1), 0, LoopStep::Next(0))],
            ),
        ],
        loops: vec![Loop::Plain],
        starts: vec![
            Start {
                node: 0,
                fresh: true,
                base: 0,
                paths: 2,
                resumes: None,
            },
            Start {
                node: 1,
                fresh: false,
                base: 2,
                paths: 2,
                resumes: None,
            },
        ],
        ..FastFunction::default()
    }
}

fn report<S: Sink + Default>(name: &str, p: &Program, chunk: &[u8], total: impl Fn(&S) -> u64) {
    let mut best = f64::MAX;
    let mut accesses = 0;
    // The first chunk makes the decoder's working memory.
    let mut decoder = Decoder::default();
    for _ in 0..9 {
        let mut sink = S::default();
        let start = Instant::now();
        decoder.chunk(chunk, p, &mut sink).expect("a sound stream");
        best = best.min(start.elapsed().as_secs_f64());
        accesses = std::hint::black_box(total(&sink));
    }
    let rate = accesses as f64 / best / 1e6;
    let bytes = chunk.len() as f64 / accesses as f64;
    println!("{name:24} {rate:9.0} M accesses/s  {bytes:.3} bytes/access");
}

fn main() {
    let id = |k: u32| (BASE + k).to_le_bytes();
    let p = program(looped(false, Count::Computed(Expr::Slot(1))));
    let mut chunk = Vec::new();
    for _ in 0..1000 {
        chunk.extend(&0x7000_0000_u64.to_le_bytes()[..6]);
        chunk.extend(10_000_u32.to_le_bytes());
        chunk.extend(id(3));
    }
    report::<Total>("affine, expanded", &p, &chunk, |t| t.accesses);
    report::<Compact>("affine, compact", &p, &chunk, |t| t.0.accesses);
    let p = program(looped(true, Count::Recorded));
    let mut chunk = Vec::new();
    for _ in 0..100 {
        chunk.extend(&0x7000_0000_u64.to_le_bytes()[..6]);
        chunk.extend(10_000_u32.to_le_bytes());
        for i in 0..=10_000_u32 {
            chunk.extend(i.wrapping_mul(0x9e37_79b9).to_le_bytes());
        }
        chunk.extend(&10_000_u64.to_le_bytes()[..6]);
        chunk.extend(id(3));
    }
    report::<Total>("gather", &p, &chunk, |t| t.accesses);
    let p = program(branchy());
    let mut chunk = Vec::new();
    chunk.extend(&[0; 6]);
    chunk.extend(id(4));
    // As many as a buffer of 1 MiB takes.
    for i in 0..100_000_u64 {
        chunk.extend(&(i * 0x9e37).to_le_bytes()[..6]);
        let bit = u32::from(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63 != 0);
        chunk.extend(id(6 + bit));
    }
    report::<Total>("branchy, a leaf each", &p, &chunk, |t| t.accesses);
}
