//! Tests with graphs that no writer would make: graphs that break rules, and damage under valid checksums.

use std::sync::Arc;

use crate::builder::GraphBuilder;
use crate::codec::{MAX_PAGE, Packer, Unpacker};
use crate::frame::{DecodedFrame, FrameDecoder, FrameIndex, Layout, MAX_PART, PARTS};
use crate::page::{DependentsPage, OrderPage, TaskPage, pack, unpack};
use crate::path::PathSet;
use crate::text::{TextOptions, to_text};
use crate::unit::{FILE_HEADER, TRAILER, Tag, UNIT_HEADER, Unit, header};
use crate::wire::{Reader, put_varint};
use crate::{
    AllocKind, BlockId, Context, ContextId, FrameEncoder, FrameRef, FrameSpan, GraphWriter, MemOp,
    OpKind, RunMeta, StaticInfo, SyncOp, TaskGraph, TaskId, TaskKind, TaskRecord, static_table,
};

fn id(context: u32, seq: u32) -> TaskId {
    TaskId::new(ContextId::new(context), seq)
}

/// The parts of a small valid graph, to be broken one at a time: 0:0 work, 0:1 create, 0:2 join; 1:0 work.
struct Parts {
    tasks: Vec<(TaskRecord, Vec<TaskId>)>,
    dependents: Vec<(TaskId, Vec<TaskId>)>,
    order: Vec<TaskId>,
    contexts: Vec<Context>,
    /// Whether the frame is written a second time, with no task that uses it.
    stray_frame: bool,
}

fn static_info() -> Arc<StaticInfo> {
    let mut b = GraphBuilder::new();
    b.block("f", "a.c", 3, &[MemOp::load(8)]);
    Arc::new(std::mem::take(b.info_mut()))
}

fn encoder() -> FrameEncoder {
    let mut encoder = FrameEncoder::new(static_info());
    (0..10).for_each(|i| encoder.block(BlockId::new(0), &[8 * i]));
    encoder
}

impl Parts {
    fn new() -> Self {
        let frame = FrameRef(FILE_HEADER as u64);
        let work = |id, first_record, records: u32| TaskRecord {
            id,
            end_ns: 5,
            frames: vec![FrameSpan {
                frame,
                first_record,
                records,
            }],
            blocks: records.into(),
            reads: records.into(),
            bytes: 8 * u64::from(records),
            ..TaskRecord::default()
        };
        let other = |id, kind, op| TaskRecord {
            id,
            kind,
            op,
            object: 1,
            start_ns: 5,
            end_ns: 6,
            ..TaskRecord::default()
        };
        let context = |id, task_count, creator| Context {
            id: ContextId::new(id),
            task_count,
            creator,
            ..Context::default()
        };
        Self {
            tasks: vec![
                (work(id(0, 0), 0, 6), vec![]),
                (
                    other(id(0, 1), TaskKind::Create, SyncOp::ThreadCreate),
                    vec![],
                ),
                (
                    other(id(0, 2), TaskKind::Join, SyncOp::ThreadJoin),
                    vec![id(1, 0)],
                ),
                (work(id(1, 0), 6, 4), vec![id(0, 1)]),
            ],
            dependents: vec![(id(0, 1), vec![id(1, 0)]), (id(1, 0), vec![id(0, 2)])],
            order: vec![id(0, 0), id(0, 1), id(1, 0), id(0, 2)],
            contexts: vec![context(0, 3, None), context(1, 1, Some(id(0, 1)))],
            stray_frame: false,
        }
    }

    fn write(&self) -> Vec<u8> {
        let mut writer = GraphWriter::in_memory(static_info())
            .unwrap()
            .without_rules();
        writer.put_frame(encoder().finish().unwrap()).unwrap();
        if self.stray_frame {
            writer.put_frame(encoder().finish().unwrap()).unwrap();
        }
        self.tasks
            .iter()
            .for_each(|(t, d)| writer.put_task(t, d).unwrap());
        self.dependents
            .iter()
            .for_each(|(f, t)| writer.put_dependents(*f, t).unwrap());
        self.order
            .iter()
            .for_each(|id| writer.put_order(*id).unwrap());
        writer
            .finish_in_memory(self.contexts.clone(), RunMeta::default())
            .unwrap()
    }
}

#[test]
fn verify_finds_every_planted_fault() {
    Parts::new().write();
    TaskGraph::from_bytes(Parts::new().write())
        .unwrap()
        .verify()
        .unwrap();
    type Fault = fn(&mut Parts);
    let faults: &[(Fault, &str)] = &[
        (|p| p.dependents[0].1[0] = id(0, 2), "1:0: depends on 0:1"),
        (|p| p.dependents.truncate(1), "0:2: depends on 1:0"),
        (
            |p| p.dependents.insert(0, (id(0, 0), vec![id(1, 0)])),
            "0:0: has 1:0 as dependent",
        ),
        (|p| p.tasks[3].1[0] = id(0, 9), "an edge from 0:9"),
        (|p| p.tasks[3].1[0] = id(7, 0), "an edge from 7:0"),
        (
            |p| p.dependents[0].1 = vec![id(1, 0), id(1, 0)],
            "not sorted",
        ),
        (|p| p.dependents.swap(0, 1), "ascend"),
        (|p| p.tasks[3].1 = vec![id(0, 1), id(0, 0)], "not sorted"),
        (|p| p.order.swap(2, 3), "0:2 comes before 1:0"),
        (|p| p.order.swap(0, 2), "1:0 comes before 0:1"),
        (|p| p.order.truncate(3), "3 of 4 tasks"),
        (|p| p.order[3] = id(1, 0), "no task 1:1"),
        (|p| p.tasks[0].0.reads += 1, "task 0:0: its totals"),
        (|p| p.tasks[3].0.blocks = 0, "task 1:0: its totals"),
        (
            |p| p.tasks[3].0.frames[0].first_record = 5,
            "exactly one task",
        ),
        (
            |p| p.tasks[3].0.frames[0].first_record = 7,
            "records up to 11 of the 10",
        ),
        (|p| p.tasks[3].0.frames[0].frame.0 += 1, "frame"),
        (|p| p.tasks[3].0.frames[0].frame.0 = u64::MAX, "frame"),
        (|p| p.stray_frame = true, "20 actions, the tasks have 10"),
        (
            |p| p.tasks[1].0.op = SyncOp::None,
            "0:1: a create task with operation none",
        ),
        (
            |p| p.tasks[1].0.kind = TaskKind::Join,
            "creator 0:1 is a join task",
        ),
        (|p| p.contexts[0].task_count = 4, "no task 0:3"),
        (|p| p.contexts[1].task_count = 0, "edge from 1:0"),
        (|p| p.contexts.swap(0, 1), "not sorted"),
        (|p| p.tasks[3].0.id.seq = 1, "no task 1:0"),
        (|p| p.tasks.swap(2, 3), "ascend"),
    ];
    for (i, (plant, expected)) in faults.iter().enumerate() {
        let mut parts = Parts::new();
        plant(&mut parts);
        let result = TaskGraph::from_bytes(parts.write()).and_then(|g| g.verify());
        let error = result
            .expect_err(&format!("fault {i} ({expected}) is not found"))
            .to_string();
        assert!(
            error.contains(expected),
            "fault {i}: {error:?} does not say {expected:?}"
        );
    }
}

/// The generator Xorshift, with the distributions that the tests need.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }

    /// Changes, inserts or removes a few bytes.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let value = [0, 1, 0x7f, 0x80, 0xff, self.next().to_le_bytes()[0]][self.below(6)];
            match self.below(4) {
                _ if bytes.is_empty() => bytes.push(value),
                0 => bytes.insert(at, value),
                1 => drop(bytes.remove(at)),
                _ => bytes[at] = value,
            }
        }
    }
}

fn rich() -> Vec<u8> {
    let mut b = GraphBuilder::new();
    let body = b.block("loop", "a.c", 7, &[MemOp::load(8), MemOp::store(4)]);
    let copy = b.block(
        "main",
        "a.c",
        9,
        &[
            MemOp::new(OpKind::Copy, 0, 0),
            MemOp::new(OpKind::Gather, 8, 4),
        ],
    );
    let main = b.context("main");
    b.work(main, 0, 10, |w| {
        w.alloc(0x500, 64, AllocKind::Calloc);
        (0..100)
            .for_each(|i| w.block(body, &[0x500 + 8 * i, (i * 0x1234_5678_9abc) % 0xffff_ffff]));
        w.block(copy, &[0x500, 0x600, 24, 0b101, 1, 2, 3, 4]);
        w.free(0x500);
    });
    let children: Vec<_> = (0..6).map(|_| b.create(main)).collect();
    for (i, &child) in (0u64..).zip(&children) {
        b.work(child, 12 + i, 20, |w| w.block(body, &[1 << 45, 1 << 20]));
        let lock = b.sync(child, 0xbeef + i / 2, SyncOp::MutexLock);
        b.edge(id(0, 1), lock);
    }
    b.barrier(&children, 0xbaa);
    for c in children {
        b.join(main, c);
    }
    b.bytes().unwrap()
}

/// The offsets of all units.
fn units(bytes: &[u8]) -> Vec<(Tag, usize, usize)> {
    let mut units = Vec::new();
    let mut at = FILE_HEADER as u64;
    while usize::try_from(at).unwrap() < bytes.len() - TRAILER {
        let unit = Unit::at(bytes, at, "unit").unwrap();
        units.push((
            unit.tag,
            usize::try_from(at).unwrap() + UNIT_HEADER,
            unit.payload.len(),
        ));
        at = unit.end();
    }
    units
}

/// Uses everything that a reader offers, whatever the outcome.
fn read_all(bytes: &[u8]) {
    let Ok(graph) = TaskGraph::from_bytes(bytes) else {
        return;
    };
    let _ = graph.verify();
    let options = TextOptions {
        times: true,
        counts: true,
        blocks: true,
        addresses: true,
    };
    let _ = to_text(&graph, options);
    let _ = graph.dag(1000);
    for task in graph.tasks().flatten() {
        let _ = (
            task.successors(),
            task.predecessors(),
            task.duration_ns(),
            task.access_count(),
        );
        let _ = task
            .actions()
            .map(|mut a| while let Ok(Some(_)) = a.next() {});
    }
}

#[test]
fn damage_under_valid_checksums_never_panics() {
    let good = rich();
    let units = units(&good);
    let mut random = Random(7);
    for round in 0..4000 {
        let mut bytes = good.clone();
        let (tag, start, length) = units[round % units.len()];
        for _ in 0..=random.below(3) {
            let at = start + random.below(length);
            bytes[at] = random.next().to_le_bytes()[0];
        }
        let sealed = header(tag, &bytes[start..start + length]).unwrap();
        bytes[start - UNIT_HEADER..start].copy_from_slice(&sealed);
        read_all(&bytes);
    }
}

#[test]
fn damage_under_the_compression_never_panics() {
    let good = rich();
    let graph = TaskGraph::from_bytes(&good[..]).unwrap();
    let mut decoder = {
        let layout = Arc::new(Layout::new(graph.info()));
        FrameDecoder::new(layout, Arc::new(PathSet::default()))
    };
    let mut random = Random(11);
    for (tag, start, length) in units(&good) {
        let payload = &good[start..start + length];
        for _ in 0..1500 {
            if tag == Tag::Frame {
                let _ = decoder.decode(
                    &damaged_frame(payload, &mut random),
                    &mut DecodedFrame::default(),
                );
                continue;
            }
            let Ok(mut raw) = unpack("test", payload, MAX_PAGE) else {
                break;
            };
            random.damage(&mut raw);
            let damaged = pack(&raw, MAX_PAGE, &mut Packer::new(1).unwrap()).unwrap();
            match tag {
                Tag::TaskPage => drop(TaskPage::decode(&damaged)),
                Tag::DependentsPage => drop(DependentsPage::decode(&damaged)),
                Tag::OrderPage => drop(OrderPage::decode(&damaged)),
                Tag::FrameIndex => drop(FrameIndex::decode(&damaged)),
                Tag::Info => drop(static_table::decode(&damaged).map(|info| Layout::new(&info))),
                _ => break,
            }
        }
    }
}

/// The frame with its columns damaged before compression, and mostly with lengths that fit.
fn damaged_frame(payload: &[u8], random: &mut Random) -> Vec<u8> {
    let mut r = Reader::new("test", payload);
    let records = r.varint().unwrap() + random.below(3) as u64;
    let tables = r.varint().unwrap() + random.below(3) as u64;
    let lengths: Vec<(usize, usize)> = (0..PARTS)
        .map(|_| {
            (
                r.varint32().unwrap() as usize,
                r.varint32().unwrap() as usize,
            )
        })
        .collect();
    let state = r.varint32().unwrap() as usize;
    let mut columns: Vec<Vec<u8>> = lengths
        .into_iter()
        .map(|(raw, packed)| {
            let mut column = Vec::new();
            Unpacker::new()
                .unpack("test", r.take(packed).unwrap(), raw, MAX_PART, &mut column)
                .unwrap();
            column
        })
        .collect();
    let mut initial = r.take(state).unwrap().to_vec();
    match random.below(PARTS + 1) {
        PARTS => random.damage(&mut initial),
        column => random.damage(&mut columns[column]),
    }
    let mut packer = Packer::new(1).unwrap();
    let (mut out, mut body) = (Vec::new(), Vec::new());
    put_varint(&mut out, records.saturating_sub(1));
    put_varint(&mut out, tables.saturating_sub(1));
    for column in &columns {
        let packed = packer.pack(column, &mut body).unwrap();
        put_varint(&mut out, column.len() as u64);
        put_varint(&mut out, packed as u64);
    }
    put_varint(&mut out, initial.len() as u64);
    out.append(&mut body);
    out.append(&mut initial);
    out
}
