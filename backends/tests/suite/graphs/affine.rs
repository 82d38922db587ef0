//! Random graphs of affine loops, stored as paths: what reads back as runs.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::path::Path as FilePath;
use std::sync::Arc;

use contech_backends::analysis::{Graph, open};
use taskgraph::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, PathTable, State, Step};
use taskgraph::{
    Action, AllocKind, Block, BlockId, Context, ContextId, ExecutorId, FrameEncoder, FrameSpan,
    Function, GraphWriter, MemOp, Module, RunMeta, Segment, StaticInfo, TaskId, TaskRecord,
};

use fastrand::Rng;

const LOOPS: u32 = 6;
const STRIDES: [u64; 12] = [0, 0, 1, 4, 8, 8, 16, 24, 64, 100, 4096, 8u64.wrapping_neg()];

/// The slots of a function: those of addresses, and those of trip counts.
#[derive(Clone, Copy)]
struct Slots {
    addresses: u32,
    counts: u32,
}

/// One loop for each function, or several in one another, each with a block of a few accesses.
fn program(random: &mut Rng) -> (StaticInfo, Vec<Arc<PathFunction>>, Vec<Slots>) {
    let mut info = StaticInfo {
        modules: vec![Module::default()],
        files: vec!["a.c".into()],
        functions: vec![Function::default()],
        blocks: vec![Block::default()],
        ..StaticInfo::default()
    };
    let (mut functions, mut all) = (Vec::new(), Vec::new());
    for number in 0..LOOPS {
        let depth = 1 + number % 3;
        let mut slots = Slots { addresses: 0, counts: depth };
        let moving: Vec<bool> = (0..depth).map(|_| depth == 1 || random.u8(..3) > 0).collect();
        // A block for each loop, and one that comes after the loop in the outermost one.
        let mut nodes = Vec::new();
        for level in (0..depth).chain(Some(0).filter(|_| depth > 1)) {
            let own = &moving[..=level as usize];
            nodes.push(node(random, &mut info, &mut slots, own));
        }
        let leaf = |slot| Leaf { slot, width: if slot < slots.addresses { 6 } else { 4 } };
        let entry = PathNode {
            block: Some(BlockId::new(0)),
            leaves: (0..slots.addresses + slots.counts).map(leaf).collect(),
            operands: vec![],
        };
        let each = (0..depth).map(|level| {
            let mut body = vec![1 + level];
            body.extend(Some(2 + level).filter(|inner| *inner <= depth));
            body.extend(Some(1 + depth).filter(|_| depth > 1 && level == 0));
            PathLoop::Collapsed {
                last: random.u32(1..=u32::try_from(body.len()).expect("small")),
                body,
                count: Some(Expr::Slot(slots.addresses + level)),
            }
        });
        functions.push(Arc::new(PathFunction {
            slots: slots.addresses + slots.counts,
            loops: each.collect(),
            nodes: [entry].into_iter().chain(nodes).collect(),
        }));
        all.push(slots);
    }
    (info, functions, all)
}

/// A node with a block of a few accesses, which move with the iterations of the loops that it is
/// in, if these move any.
fn node(random: &mut Rng, info: &mut StaticInfo, slots: &mut Slots, moving: &[bool]) -> PathNode {
    let accesses = u32::from(moving.len() == 1) + random.u32(..4);
    let block = BlockId::new(u32::try_from(info.blocks.len()).expect("small"));
    info.blocks.push(Block {
        first_op: u32::try_from(info.ops.len()).expect("small"),
        op_count: accesses,
        ..Block::default()
    });
    let mut operands = Vec::new();
    for _ in 0..accesses {
        let size = [1, 4, 8, 16, 40, 100][random.u64(..6) as usize];
        info.ops.push(if random.u64(..100) < 50 { MemOp::load(size) } else { MemOp::store(size) });
        let mut terms = vec![Expr::Slot(slots.addresses)];
        slots.addresses += 1;
        // Some addresses alternate.
        if !moving[0] && random.bool() {
            let odd = Expr::Zext(1, Box::new(Expr::Iter(0)));
            terms.push(Expr::Mul(Box::new(Expr::Const(2000)), Box::new(odd)));
        }
        for (l, _) in (0..).zip(moving).filter(|(_, moving)| **moving) {
            let mut stride = STRIDES[random.u64(..12) as usize];
            if random.u64(..100) < 10 {
                stride = stride.wrapping_mul(9).wrapping_neg();
            }
            terms.push(Expr::Mul(Box::new(Expr::Const(stride)), Box::new(Expr::Iter(l))));
        }
        operands.push(Expr::Add(terms));
    }
    PathNode { block: Some(block), leaves: vec![], operands }
}

fn path(number: u32) -> Option<Path> {
    let step = Step::Loop { index: 0, cut: false, resumed: false };
    (number < LOOPS).then(|| Path {
        function: number,
        fresh: true,
        steps: vec![Step::Node(0), step],
    })
}

/// A task of some hundred loops in each of several contexts at one time, read from a file that `at`
/// names.
pub(crate) fn random_contexts(seed: u64, contexts: u32, at: &FilePath) -> Graph {
    let mut random = Rng::with_seed(seed);
    let (info, functions, slots) = program(&mut random);
    let info = Arc::new(info);
    let table = Arc::new(PathTable::new(&info, functions, LOOPS as usize).expect("a program"));
    let mut writer = GraphWriter::create(at, Arc::clone(&info)).expect("a writable folder");
    let mut all = Vec::new();
    for id in (0..contexts).map(ContextId::new) {
        let encoder = FrameEncoder::with_paths(Arc::clone(&table));
        let mut record = task(encoder, &slots, &mut random, &mut writer);
        record.id = TaskId::new(id, 0);
        record.executor = ExecutorId::new(id.get());
        if contexts > 1 {
            // Time gives contexts the order that they have in the file.
            record.start_ns = u64::from(id.get()) * 250 + random.u64(..250);
            record.end_ns = record.start_ns + random.u64(..30_000);
        }
        all.push(Context {
            id,
            task_count: 1,
            first_ns: record.start_ns,
            last_ns: record.end_ns,
            ..Context::default()
        });
        writer.put_task(&record, &[]).expect("writable");
    }
    writer.set_paths(&table, path).expect("paths");
    for context in &all {
        writer.put_order(TaskId::new(context.id, 0)).expect("writable");
    }
    writer.finish(all, RunMeta::default()).expect("writable");
    open(at).expect("a graph just written")
}

/// A task of some hundred loops; its frame is written.
fn task(
    mut encoder: FrameEncoder,
    slots: &[Slots],
    random: &mut Rng,
    writer: &mut GraphWriter,
) -> TaskRecord {
    for _ in 0..60 {
        let number = u32::try_from(random.u64(..u64::from(LOOPS))).expect("small");
        let slots = slots[number as usize];
        let mut bytes = Vec::new();
        for _ in 0..slots.addresses {
            let near = [600, 5_000, 70_000][random.u64(..3) as usize];
            let start = 0x7000_0000 + random.u64(..near);
            bytes.extend_from_slice(&start.to_le_bytes()[..6]);
        }
        let most = [120, 14, 7][slots.counts as usize - 1];
        for _ in 0..slots.counts {
            bytes.extend_from_slice(&random.u32(..most).to_le_bytes());
        }
        // A loop is often repeated as it is.
        let repeated = 4 * u64::from(random.u64(..100) < 30);
        for _ in 0..=random.u64(..repeated + 1) {
            let mut state = State::default();
            let taken = encoder.segment(
                Segment { path: number, bytes: &bytes, counts: &[] },
                || &mut state,
                || path(number),
            );
            assert!(taken, "a path that fits");
        }
        if random.u64(..100) < 20 {
            let addr = 0x7000_0000 + random.u64(..5000);
            encoder.action(&Action::Alloc { addr, size: 64, kind: AllocKind::Malloc });
        }
    }
    let counts = encoder.counts();
    let frame = encoder.finish().expect("loops");
    let records = frame.record_count();
    TaskRecord {
        counts,
        frames: vec![FrameSpan {
            frame: writer.put_frame(frame).expect("writable"),
            first_record: 0,
            records,
        }],
        ..TaskRecord::default()
    }
}
