//! Encode and decode rates per second of CPU time of one thread, and bytes per access in the file, on synthetic streams:
//! `cargo run --release -p contech-taskgraph --example rates [million operands]`.

use std::sync::Arc;

use fastrand::Rng;
use taskgraph::{
    Block, BlockId, Context, ContextId, FrameEncoder, FrameSpan, Function, GraphWriter, MemOp,
    Module, RunMeta, StaticInfo, SyncOp, TaskGraph, TaskId, TaskKind, TaskRecord,
};

type Stream = fn(u64, &mut [u64; 4], &mut Rng) -> u32;

/// A stream fills the operands of the `i`-th execution and names its block.
const STREAMS: [(&str, Stream); 4] = [
    ("affine", |i, operands, _| {
        let (row, column) = (i / 1000, i % 1000);
        *operands = [
            0x1000_0000 + 8 * i,
            0x2000_0000 + 8 * column,
            0x3000_0000 + 8000 * column,
            0x7fff_0000 + 8 * row,
        ];
        u32::from(column == 0)
    }),
    ("list", |_, operands, random| {
        let node = 0x5500_0000_0000 + 64 * (random.u64(..1 << 16));
        *operands = [node, node + 8, node + 16, 0x7fff_0000];
        0
    }),
    ("random-64M", |_, operands, random| {
        operands
            .iter_mut()
            .for_each(|o| *o = 0x1000_0000 + 8 * (random.u64(..1 << 23)));
        0
    }),
    ("branchy", |i, operands, random| {
        *operands = [
            0x1000_0000 + 8 * i,
            0x2000_0000 + 4 * (i / 3),
            0x3000_0000 + random.u64(..4096) * 8,
            0x7fff_0000,
        ];
        u32::try_from(random.u64(..8)).unwrap_or(0)
    }),
];

/// CPU time of this thread, which a busy machine disturbs little; 0 where there is no /proc.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text
        .split_whitespace()
        .next()
        .and_then(|n| n.parse::<f64>().ok());
    1e-9 * nanoseconds.unwrap_or(0.0)
}

fn info() -> StaticInfo {
    StaticInfo {
        modules: vec![Module::default()],
        files: vec!["bench.c".into()],
        functions: vec![Function {
            name: "kernel".into(),
            ..Function::default()
        }],
        blocks: (0..8)
            .map(|b| Block {
                first_op: 4 * b,
                op_count: 4,
                ..Block::default()
            })
            .collect(),
        ops: (0..32)
            .map(|o| {
                if o % 4 == 3 {
                    MemOp::store(8)
                } else {
                    MemOp::load(8)
                }
            })
            .collect(),
    }
}

fn stream(name: &str, stream: Stream, executions: u64) -> taskgraph::Result<()> {
    let info = Arc::new(info());
    let mut writer = GraphWriter::in_memory(Arc::clone(&info))?;
    let mut encoder = FrameEncoder::new(Arc::clone(&info));
    let mut record = TaskRecord {
        end_ns: 1,
        ..TaskRecord::default()
    };
    let (mut random, mut operands) = (Rng::with_seed(7), [0; 4]);
    let trace: Vec<_> = (0..executions)
        .map(|i| (stream(i, &mut operands, &mut random), operands))
        .collect();
    let start = cpu_seconds();
    let mut frames = Vec::new();
    for (block, operands) in &trace {
        encoder.block(BlockId::new(*block), operands);
        if encoder.is_full() {
            frames.extend(encoder.finish());
        }
    }
    frames.extend(encoder.finish());
    let spent = cpu_seconds() - start;
    drop(trace);
    for frame in frames {
        let actions = frame.record_count();
        let frame = writer.put_frame(frame)?;
        record.frames.push(FrameSpan {
            frame,
            first_record: 0,
            records: actions,
        });
    }
    let counts = encoder.counts();
    (record.blocks, record.reads, record.writes, record.bytes) =
        (counts.blocks, counts.reads, counts.writes, counts.bytes);
    writer.put_task(&record, &[])?;
    writer.put_order(record.id)?;
    let context = Context {
        task_count: 1,
        ..Context::default()
    };
    let bytes = writer.finish_in_memory(vec![context], RunMeta::default())?;
    let per_access = bytes.len() as f64 / (counts.reads + counts.writes) as f64;
    let graph = TaskGraph::from_bytes(bytes)?;
    let task = graph.task(TaskId::default())?;
    let rate = |seconds: f64| 4e-6 * counts.blocks as f64 / seconds;
    let (mut blocks, mut sum) = (0, 0u64);
    let start = cpu_seconds();
    task.for_each_block(|b| blocks += 1 + b.operands()[0] % 2)?;
    let by_block = rate(cpu_seconds() - start);
    let start = cpu_seconds();
    task.for_each_access(|a| sum = sum.wrapping_add(a.addr + a.size))?;
    let by_access = rate(cpu_seconds() - start);
    println!(
        "{name:12} encode {:6.0} M operands/s, decode {by_block:6.0} (blocks) {by_access:6.0} (accesses), {per_access:.3} B/access  [{blocks} {sum:x}]",
        rate(spent)
    );
    Ok(())
}

/// Locks and unlocks by four contexts in turn: prints the bytes of a graph that has only synchronisation.
fn syncs(tasks: u32) -> taskgraph::Result<()> {
    let mut writer = GraphWriter::in_memory(Arc::new(info()))?;
    let mut random = Rng::with_seed(1);
    let last = |c: u32, s: u32| {
        if c == 0 {
            s.checked_sub(1).map(|s| TaskId::new(ContextId::new(3), s))
        } else {
            Some(TaskId::new(ContextId::new(c - 1), s))
        }
    };
    for c in 0..4 {
        let mut now = 0;
        for seq in 0..tasks / 4 {
            let lock = seq % 2 == 0;
            let start = now + random.u64(..50);
            now = start + random.u64(..2000);
            let record = TaskRecord {
                id: TaskId::new(ContextId::new(c), seq),
                kind: TaskKind::Sync,
                op: if lock {
                    SyncOp::MutexLock
                } else {
                    SyncOp::MutexUnlock
                },
                object: 0x5555_0000_1000 + 64 * u64::from(seq / 2 % 3),
                start_ns: start,
                end_ns: now,
                ..TaskRecord::default()
            };
            let before = if lock { last(c, seq) } else { None };
            writer.put_task(&record, before.as_slice())?;
        }
    }
    for c in 0..4u32 {
        for seq in 0..tasks / 4 {
            let to = if c == 3 {
                TaskId::new(ContextId::new(0), seq + 1)
            } else {
                TaskId::new(ContextId::new(c + 1), seq)
            };
            if to.seq % 2 == 0 && to.seq < tasks / 4 {
                writer.put_dependents(TaskId::new(ContextId::new(c), seq), &[to])?;
            }
        }
    }
    for seq in 0..tasks / 4 {
        for c in 0..4 {
            writer.put_order(TaskId::new(ContextId::new(c), seq))?;
        }
    }
    let context = |c| Context {
        id: ContextId::new(c),
        task_count: tasks / 4,
        ..Context::default()
    };
    let bytes = writer.finish_in_memory((0..4).map(context).collect(), RunMeta::default())?;
    let per_task = bytes.len() as f64 / f64::from(tasks);
    let start = std::time::Instant::now();
    let graph = TaskGraph::from_bytes(bytes)?;
    let open = start.elapsed().as_secs_f64();
    let start = cpu_seconds();
    let mut n = 0u64;
    for task in graph.tasks() {
        n += u64::from(task?.start_ns() > 0);
    }
    let rate = f64::from(tasks) * 1e-6 / (cpu_seconds() - start);
    println!(
        "syncs        {per_task:.2} B/task with edges and order, open {:.3} ms, {rate:.1} M tasks/s in order [{n}]",
        1e3 * open
    );
    Ok(())
}

fn main() -> taskgraph::Result<()> {
    let millions = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(24);
    for (name, f) in STREAMS {
        stream(
            name,
            f,
            (millions * 1_000_000 / 4u64).next_multiple_of(8192),
        )?;
    }
    syncs(1_000_000)
}
