//! Tests of the decoder on hand-made functions.

use contech_program::path::{Expr, Leaf, PathLoop, PathNode};
use contech_program::{BlockId, MemOp};

use super::*;
use crate::Reader;
use crate::event::Event;
use crate::program::Program;
use crate::table::{Block, Function, ModuleTable};

const BASE: u32 = 0x5000_0000;

#[derive(Default, Debug, PartialEq)]
struct Seen(Vec<(u32, Vec<u64>)>);

impl Sink for Seen {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.0.push((block, operands.to_vec()));
    }
    fn event(&mut self, _: Event) {}
}

fn table(loads: &[usize], fast: Vec<FastFunction>) -> ModuleTable {
    let block = |n: &usize| Block { ops: vec![MemOp::load(8); *n], ..Block::default() };
    ModuleTable {
        functions: vec![Function::default()],
        blocks: loads.iter().map(block).collect(),
        fast,
        ..ModuleTable::default()
    }
}

fn edge(target: Target, increment: u32) -> Edge {
    Edge { target, increment, step: LoopStep::None }
}

fn node(
    block: u32,
    leaves: &[(u32, u8)],
    operands: Vec<Expr>,
    edges: Vec<Edge>,
) -> (PathNode, Vec<Edge>) {
    let leaves = leaves.iter().map(|&(slot, width)| Leaf { slot, width });
    let node = PathNode { block: Some(BlockId::new(block)), leaves: leaves.collect(), operands };
    (node, edges)
}

fn start(node: u32, fresh: bool, base: u32, paths: u32) -> Start {
    Start { node, fresh, base, paths, resumes: None }
}

fn strided(slot: u32, l: u32, stride: u64) -> Expr {
    let product = Expr::Mul(Box::new(Expr::Const(stride)), Box::new(Expr::Iter(l)));
    Expr::Add(vec![Expr::Slot(slot), product])
}

fn program(loads: &[usize], f: FastFunction) -> Program {
    let mut bytes = Vec::new();
    f.encode(&mut bytes);
    assert_eq!(FastFunction::decode(&mut Reader::new("test", &bytes)).unwrap(), f, "encoding");
    let paths: u32 = f.starts.iter().map(|s| s.paths).sum();
    let count = u32::try_from(loads.len()).unwrap() + paths;
    let mut p = Program::default();
    p.add(BASE, count, &mut table(loads, vec![f]), &[0x9000], None).unwrap();
    p
}

struct Stream(Vec<u8>, u32);

impl Stream {
    fn new(blocks: u32) -> Self {
        Stream(Vec::new(), blocks)
    }
    fn value(mut self, v: u64, width: usize) -> Self {
        self.0.extend(&v.to_le_bytes()[..width]);
        self
    }
    fn path(mut self, k: u32) -> Self {
        self.0.extend((BASE + self.1 + k).to_le_bytes());
        self
    }
}

fn decode(p: &Program, chunks: &[&[u8]]) -> crate::Result<Vec<(u32, Vec<u64>)>> {
    let (mut d, mut seen) = (Decoder::default(), Seen::default());
    for c in chunks {
        d.chunk(c, p, &mut seen)?;
    }
    Ok(seen.0)
}

/// if/else whose arms access base+8 and a global; base is a leaf of the first block.
fn diamond() -> FastFunction {
    let plus = |c| Expr::Add(vec![Expr::Slot(0), Expr::Const(c)]);
    FastFunction::new(
        0,
        1,
        vec![
            node(
                0,
                &[(0, 6)],
                vec![plus(0)],
                vec![edge(Target::Node(1), 0), edge(Target::Node(2), 1)],
            ),
            node(1, &[], vec![plus(8)], vec![edge(Target::End, 0)]),
            node(2, &[], vec![Expr::Global(0)], vec![edge(Target::End, 0)]),
        ],
        vec![],
        vec![start(0, true, 0, 2)],
    )
}

/// A nest whose counts are leaves: outer i < slot 1 + 1, inner j < 3. It accesses base + 100 i + 8
/// j.
fn nest() -> Program {
    let address = Expr::Add(vec![
        strided(0, 0, 100),
        Expr::Mul(Box::new(Expr::Const(8)), Box::new(Expr::Iter(1))),
    ]);
    let f = FastFunction::new(
        0,
        2,
        vec![
            node(0, &[(0, 6), (1, 4)], vec![], vec![edge(Target::Node(1), 0)]),
            node(1, &[], vec![], vec![edge(Target::Node(4), 0)]),
            node(2, &[], vec![address], vec![]),
            node(3, &[], vec![], vec![]),
            node(4, &[], vec![], vec![edge(Target::End, 0)]),
        ],
        vec![
            PathLoop::Collapsed { body: vec![1, 2, 3], last: 3, count: Some(Expr::Slot(1)) },
            PathLoop::Collapsed { body: vec![2], last: 1, count: Some(Expr::Const(2)) },
        ],
        vec![start(0, true, 0, 1)],
    );
    program(&[0, 0, 1, 0, 0], f)
}

#[test]
fn trip_counts_no_program_has_are_errors_and_end() {
    let p = nest();
    let absurd = Stream::new(5).value(0x1000, 6).value(0xffff_ffff, 4);
    let error = decode(&p, &[&absurd.path(0).0]).unwrap_err().to_string();
    assert!(error.contains("its loops have no end"), "{error}");
}

/// A gather loop: the leaf of each iteration is recorded, and the count last. The loop may be cut
/// and resumed.
fn gather_loop() -> FastFunction {
    let address = Expr::Add(vec![
        Expr::Slot(0),
        Expr::Mul(Box::new(Expr::Const(8)), Box::new(Expr::Sext(32, Box::new(Expr::Slot(1))))),
    ]);
    FastFunction::new(
        0,
        2,
        vec![
            node(0, &[(0, 6)], vec![], vec![edge(Target::Node(1), 0)]),
            node(
                1,
                &[(1, 4)],
                vec![strided(0, 0, 4), address],
                vec![edge(Target::Node(2), 0), edge(Target::LoopCut(0), 1)],
            ),
            node(2, &[], vec![], vec![edge(Target::End, 0)]),
        ],
        vec![PathLoop::Collapsed { body: vec![1], last: 1, count: None }],
        vec![
            start(0, true, 0, 2),
            Start { node: 1, fresh: false, base: 2, paths: 2, resumes: Some(0) },
        ],
    )
}

#[test]
fn no_cut_or_flipped_stream_or_table_panics() {
    let p = program(&[0, 2, 0], gather_loop());
    let s = Stream::new(3).value(0x800, 6).value(5, 4).value(1, 4).value(7, 4).value(2, 6).path(0);
    for n in 0..s.0.len() {
        let _ = decode(&p, &[&s.0[n..]]);
        let _ = decode(&p, &[&s.0[..n]]);
    }
    let mut bytes = Vec::new();
    gather_loop().encode(&mut bytes);
    for bit in 0..bytes.len() * 8 {
        let mut b = bytes.clone();
        b[bit / 8] ^= 1 << (bit % 8);
        let Ok(f) = FastFunction::decode(&mut Reader::new("test", &b)) else {
            continue;
        };
        let mut p = Program::default();
        if p.add(BASE, 7, &mut table(&[0, 2, 0], vec![f]), &[], None).is_ok() {
            // A damaged computed count could run for ever. Recorded counts are bounded by the
            // bytes.
            let f = p.function(0);
            let computed = |l: &PathLoop| matches!(l, PathLoop::Collapsed { count: Some(_), .. });
            if !f.code.loops.iter().any(computed) {
                let _ = decode(&p, &[&s.0]);
            }
        }
    }
}

#[test]
fn again_repeats_the_records_before_it() {
    let p = program(&[1, 1, 1], diamond());
    let again = |bytes: u32, count: u64, s: Stream| {
        let mut event = [0; crate::event::MAX_EVENT];
        let n = Event::Again { bytes, count }.encode(&mut event);
        Stream([&s.0, &event[..n]].concat(), s.1)
    };
    let once = |s: Stream| s.value(0x1000, 6).path(0).value(0x2000, 6).path(1);
    let turn = decode(&p, &[&once(Stream::new(3)).0]).unwrap();
    let s = once(again(20, 3, once(Stream::new(3)))).0;
    let five: Vec<_> = std::iter::repeat_n(turn, 5).flatten().collect();
    assert_eq!(decode(&p, &[&s]).unwrap(), five);
    let last = again(10, 2, once(Stream::new(3))).0;
    assert_eq!(decode(&p, &[&last]).unwrap().len(), 4 + 2 * 2);
    // A repetition of nothing would take time, however often, and say nothing.
    for (bytes, count) in [(21, 1), (11, 1), (20, 1 << 40), (0, 1), (0, 1 << 47)] {
        let bad = again(bytes, count, once(Stream::new(3))).0;
        assert!(decode(&p, &[&bad]).is_err(), "{bytes} {count}");
    }
    let nested = again(34, 1, again(20, 1, once(Stream::new(3)))).0;
    assert!(decode(&p, &[&nested]).is_err());
}
