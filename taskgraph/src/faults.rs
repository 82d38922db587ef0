//! Tests with graphs that no writer would make: each breaks one rule.

use std::sync::Arc;

use crate::builder::GraphBuilder;
use crate::unit::FILE_HEADER;
use crate::{
    BlockId, Context, ContextId, Counts, Executor, ExecutorId, FrameEncoder, FrameRef, FrameSpan,
    GraphWriter, MemOp, RunMeta, StaticInfo, SyncOp, TaskGraph, TaskId, TaskKind, TaskRecord,
};

fn id(context: u32, seq: u32) -> TaskId {
    TaskId::new(ContextId::new(context), seq)
}

/// The parts of a small valid graph, to be broken one at a time: 0:0 work, 0:1 create, 0:2 join;
/// 1:0 work.
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
            frames: vec![FrameSpan { frame, first_record, records }],
            counts: Counts {
                blocks: records.into(),
                reads: records.into(),
                bytes: 8 * u64::from(records),
                ..Counts::default()
            },
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
                (other(id(0, 1), TaskKind::Create, SyncOp::ThreadCreate), vec![]),
                (other(id(0, 2), TaskKind::Join, SyncOp::ThreadJoin), vec![id(1, 0)]),
                (work(id(1, 0), 6, 4), vec![id(0, 1)]),
            ],
            dependents: vec![(id(0, 1), vec![id(1, 0)]), (id(1, 0), vec![id(0, 2)])],
            order: vec![id(0, 0), id(0, 1), id(1, 0), id(0, 2)],
            contexts: vec![context(0, 3, None), context(1, 1, Some(id(0, 1)))],
            stray_frame: false,
        }
    }

    fn write(&self) -> Vec<u8> {
        let mut writer = GraphWriter::in_memory(static_info()).unwrap().without_rules();
        writer.put_frame(encoder().finish().unwrap()).unwrap();
        if self.stray_frame {
            writer.put_frame(encoder().finish().unwrap()).unwrap();
        }
        self.tasks.iter().for_each(|(t, d)| writer.put_task(t, d).unwrap());
        self.dependents.iter().for_each(|(f, t)| writer.put_dependents(*f, t).unwrap());
        self.order.iter().for_each(|id| writer.put_order(*id).unwrap());
        let executors =
            (0..2).map(|number| Executor { id: ExecutorId::new(number), ..Executor::default() });
        writer.set_executors(executors.collect());
        writer.finish_in_memory(self.contexts.clone(), RunMeta::default()).unwrap()
    }
}

#[test]
fn verify_finds_every_planted_fault() {
    Parts::new().write();
    TaskGraph::from_bytes(Parts::new().write()).unwrap().verify().unwrap();
    type Fault = fn(&mut Parts);
    let faults: &[(Fault, &str)] = &[
        (|p| p.dependents[0].1[0] = id(0, 2), "1:0: depends on 0:1"),
        (|p| p.dependents.truncate(1), "0:2: depends on 1:0"),
        (|p| p.dependents.insert(0, (id(0, 0), vec![id(1, 0)])), "0:0: has 1:0 as dependent"),
        (|p| p.tasks[3].1[0] = id(0, 9), "an edge from 0:9"),
        (|p| p.tasks[3].1[0] = id(7, 0), "an edge from 7:0"),
        (|p| p.dependents[0].1 = vec![id(1, 0), id(1, 0)], "not sorted"),
        (|p| p.dependents.swap(0, 1), "ascend"),
        (|p| p.tasks[3].1 = vec![id(0, 1), id(0, 0)], "not sorted"),
        (|p| p.order.swap(2, 3), "0:2 comes before 1:0"),
        (|p| p.order.swap(0, 2), "1:0 comes before 0:1"),
        (|p| p.order.truncate(3), "3 of 4 tasks"),
        (|p| p.order[3] = id(1, 0), "no task 1:1"),
        (|p| p.tasks[0].0.counts.reads += 1, "task 0:0: its totals"),
        (|p| p.tasks[3].0.counts.blocks = 0, "task 1:0: its totals"),
        (|p| p.tasks[3].0.frames[0].first_record = 5, "exactly one task"),
        (|p| p.tasks[3].0.frames[0].first_record = 7, "records up to 11 of the 10"),
        (|p| p.tasks[3].0.frames[0].frame.0 += 1, "frame"),
        (|p| p.tasks[3].0.frames[0].frame.0 = u64::MAX, "frame"),
        (|p| p.stray_frame = true, "20 actions, the tasks have 10"),
        (|p| p.tasks[2].0.executor = ExecutorId::new(2), "executor 2, of 2"),
        (|p| p.tasks[1].0.op = SyncOp::None, "0:1: a create task with operation none"),
        (|p| p.tasks[1].0.kind = TaskKind::Join, "creator 0:1 is a join task"),
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
        let error = result.expect_err(&format!("fault {i} ({expected}) is not found")).to_string();
        assert!(error.contains(expected), "fault {i}: {error:?} does not say {expected:?}");
    }
}
