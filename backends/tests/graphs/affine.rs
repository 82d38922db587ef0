//! Random graphs of affine loops, stored as paths: what reads back as runs.

use std::path::Path as FilePath;
use std::sync::Arc;

use contech_backends::analysis::{Graph, open};
use taskgraph::path::{Expr, Leaf, Path, PathFunction, PathLoop, PathNode, PathTable, State, Step};
use taskgraph::{
    AllocKind, Block, BlockId, Context, ContextId, FrameEncoder, FrameSpan, Function, GraphWriter,
    MemOp, Module, RunMeta, Segment, StaticInfo, TaskId, TaskRecord,
};

use fastrand::Rng;

const LOOPS: u32 = 6;
const STRIDES: [u64; 12] = [0, 0, 1, 4, 8, 8, 16, 24, 64, 100, 4096, 8u64.wrapping_neg()];

/// One loop for each function, of one block with a few accesses.
fn program(random: &mut Rng) -> (StaticInfo, Vec<PathFunction>) {
    let mut info = StaticInfo {
        modules: vec![Module::default()],
        files: vec!["a.c".into()],
        functions: vec![Function::default()],
        blocks: vec![Block::default()],
        ..StaticInfo::default()
    };
    let mut functions = Vec::new();
    for _ in 0..LOOPS {
        let accesses = 1 + u32::try_from(random.u64(..5)).expect("small");
        let block = BlockId::new(u32::try_from(info.blocks.len()).expect("small"));
        info.blocks.push(Block {
            first_op: u32::try_from(info.ops.len()).expect("small"),
            op_count: accesses,
            ..Block::default()
        });
        let mut operands = Vec::new();
        for slot in 0..accesses {
            let size = [1, 4, 8, 16, 40, 100][random.u64(..6) as usize];
            info.ops.push(if random.u64(..100) < 50 {
                MemOp::load(size)
            } else {
                MemOp::store(size)
            });
            let mut stride = STRIDES[random.u64(..12) as usize];
            if random.u64(..100) < 10 {
                stride = stride.wrapping_mul(9).wrapping_neg();
            }
            let moved = Expr::Mul(Box::new(Expr::Const(stride)), Box::new(Expr::Iter(0)));
            operands.push(Expr::Add(vec![Expr::Slot(slot), moved]));
        }
        let leaf = |slot| Leaf {
            slot,
            width: if slot == accesses { 4 } else { 6 },
        };
        let entry = PathNode {
            block: Some(BlockId::new(0)),
            leaves: (0..=accesses).map(leaf).collect(),
            operands: vec![],
        };
        let body = PathNode {
            block: Some(block),
            leaves: vec![],
            operands,
        };
        functions.push(PathFunction {
            slots: accesses + 1,
            nodes: vec![entry, body],
            loops: vec![PathLoop::Collapsed {
                body: vec![1],
                last: 1,
                count: Some(Expr::Slot(accesses)),
            }],
        });
    }
    (info, functions)
}

fn path(number: u32) -> Option<Path> {
    let step = Step::Loop {
        index: 0,
        cut: false,
        resumed: false,
    };
    (number < LOOPS).then(|| Path {
        function: number,
        fresh: true,
        steps: vec![Step::Node(0), step],
    })
}

/// One task of some hundred loops, read from a file that `at` names.
pub fn random_graph(seed: u64, at: &FilePath) -> Graph {
    random_contexts(seed, 1, at)
}

/// The same in several contexts at one time.
pub fn random_contexts(seed: u64, contexts: u32, at: &FilePath) -> Graph {
    let mut random = Rng::with_seed(seed);
    let (info, functions) = program(&mut random);
    let (info, slots) = (
        Arc::new(info),
        functions
            .iter()
            .map(|f| f.slots as usize)
            .collect::<Vec<_>>(),
    );
    let table = Arc::new(PathTable::new(&info, functions, LOOPS as usize).expect("a program"));
    let mut writer = GraphWriter::create(at, Arc::clone(&info)).expect("a writable folder");
    let mut all = Vec::new();
    for id in (0..contexts).map(ContextId::new) {
        let encoder = FrameEncoder::with_paths(Arc::clone(&info), Arc::clone(&table));
        let mut record = task(encoder, &slots, &mut random, &mut writer);
        record.id = TaskId::new(id, 0);
        if contexts > 1 {
            record.start_ns = random.u64(..1000);
            record.end_ns = record.start_ns + random.u64(..30_000);
        }
        all.push((
            record.id,
            Context {
                id,
                task_count: 1,
                first_ns: record.start_ns,
                last_ns: record.end_ns,
                ..Context::default()
            },
        ));
        writer.put_task(&record, &[]).expect("writable");
    }
    writer.set_paths(&table, path).expect("paths");
    for (task, _) in &all {
        writer.put_order(*task).expect("writable");
    }
    let contexts = all.into_iter().map(|context| context.1).collect();
    writer
        .finish(contexts, RunMeta::default())
        .expect("writable");
    open(at).expect("a graph just written")
}

/// A task of some hundred loops; its frame is written.
fn task(
    mut encoder: FrameEncoder,
    slots: &[usize],
    random: &mut Rng,
    writer: &mut GraphWriter,
) -> TaskRecord {
    for _ in 0..60 {
        let number = u32::try_from(random.u64(..u64::from(LOOPS))).expect("small");
        let slots = slots[number as usize];
        let mut bytes = Vec::new();
        for _ in 1..slots {
            let near = [600, 5_000, 70_000][random.u64(..3) as usize];
            let start = 0x7000_0000 + random.u64(..near);
            bytes.extend_from_slice(&start.to_le_bytes()[..6]);
        }
        let count = u32::try_from(random.u64(..120)).expect("small");
        bytes.extend_from_slice(&count.to_le_bytes());
        // A loop is often repeated as it is.
        let repeated = 4 * u64::from(random.u64(..100) < 30);
        for _ in 0..=random.u64(..repeated + 1) {
            let mut state = State::default();
            let taken = encoder.segment(
                Segment {
                    path: number,
                    bytes: &bytes,
                    counts: &[],
                },
                || &mut state,
                || path(number),
            );
            assert!(taken, "a path that fits");
        }
        if random.u64(..100) < 20 {
            encoder.alloc(0x7000_0000 + random.u64(..5000), 64, AllocKind::Malloc);
        }
    }
    let counts = encoder.counts();
    let frame = encoder.finish().expect("loops");
    let records = frame.record_count();
    TaskRecord {
        blocks: counts.blocks,
        reads: counts.reads,
        writes: counts.writes,
        bytes: counts.bytes,
        others: counts.others,
        frames: vec![FrameSpan {
            frame: writer.put_frame(frame).expect("writable"),
            first_record: 0,
            records,
        }],
        ..TaskRecord::default()
    }
}
