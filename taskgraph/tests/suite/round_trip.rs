//! Random graphs are read back as they were written, by every way of reading.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use taskgraph::{
    Access, Action, AllocKind, Block, BlockId, Context, ContextId, ExecutorId, FrameEncoder,
    FrameSpan, Function, GraphWriter, MemOp, Module, OpKind, RunMeta, StaticInfo, SyncOp,
    TaskGraph, TaskId, TaskKind, TaskRecord,
};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Block(u32, Vec<u64>),
    Other(Action<'static>),
}

/// A step of a random run: a task of a context, with edges from any earlier tasks.
#[derive(Clone, Debug)]
struct Step {
    context: usize,
    executor: u32,
    kind: TaskKind,
    op: SyncOp,
    object: u64,
    gap: u64,
    duration: u64,
    acts: Vec<Act>,
    /// Numbers of earlier tasks, modulo how many there are.
    after: Vec<usize>,
    /// Whether to end the frame of the context after this task.
    cut: bool,
}

fn info() -> StaticInfo {
    let mut ops = vec![
        MemOp::load(8),
        MemOp::store(4),
        MemOp::new(OpKind::Rmw, 8, 0),
        MemOp::new(OpKind::Copy, 0, 0),
        MemOp { flags: MemOp::CONST_LEN, const_len: 40, ..MemOp::new(OpKind::Copy, 0, 0) },
        MemOp::new(OpKind::Set, 0, 0),
        MemOp::new(OpKind::MaskedLoad, 4, 8),
        MemOp::new(OpKind::Scatter, 8, 4),
        MemOp::new(OpKind::CompressStore, 4, 16),
        MemOp::new(OpKind::Scan, 0, 0),
    ];
    let block = |first_op, op_count| Block { first_op, op_count, ..Block::default() };
    let mut blocks = vec![block(0, 2), block(2, 3), block(5, 4), block(9, 0)];
    for op in 9..305 {
        blocks.push(block(op, 1));
        ops.push(MemOp::load(op));
    }
    StaticInfo {
        modules: vec![Module { name: "m".into(), unrecorded: vec![("asm".into(), 2)] }],
        files: vec!["a.c".into()],
        functions: vec![Function { name: "f".into(), ..Function::default() }],
        blocks,
        ops,
        ..StaticInfo::default()
    }
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let address =
        prop_oneof![any::<u64>(), 0x1000u64..0x1100, (0u64..8).prop_map(|n| u64::MAX - n)];
    let block =
        (prop_oneof![4 => 0u32..4, 1 => 0u32..300], prop::collection::vec(address.clone(), 16));
    let block = block.prop_map(|(b, mut operands)| {
        operands.truncate(info().operand_count(BlockId::new(b)));
        Act::Block(b, operands)
    });
    let run = (block.clone(), 1u64..40, 0u64..100).prop_map(|(act, n, stride)| {
        let Act::Block(b, operands) = act else {
            return Vec::new();
        };
        let moved = |i| operands.iter().map(|o| o.wrapping_add(i * stride)).collect();
        (0..n).map(|i| Act::Block(b, moved(i))).collect()
    });
    let size = any::<u64>();
    let kind = prop::sample::select(AllocKind::ALL.to_vec());
    let other = prop_oneof![
        (address.clone(), size, kind).prop_map(|(addr, size, kind)| Action::Alloc {
            addr,
            size,
            kind
        }),
        address.clone().prop_map(|addr| Action::Free { addr }),
        (address.clone(), size).prop_map(|(addr, size)| Action::Map { addr, size }),
        (address.clone(), size).prop_map(|(addr, size)| Action::Fresh { addr, size }),
        (address, size).prop_map(|(addr, size)| Action::Unmap { addr, size }),
    ];
    let other = other.prop_map(Act::Other);
    let piece =
        prop_oneof![3 => run, 1 => block.prop_map(|b| vec![b]), 1 => other.prop_map(|o| vec![o])];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let time = || prop_oneof![9 => 0u64..1000, 1 => 0u64..1 << 50];
    let after = prop::collection::vec(any::<usize>(), 0..4);
    let object = prop_oneof![0x7000u64..0x7008, any::<u64>()];
    (
        0usize..5,
        0usize..5,
        1usize..28,
        object,
        time(),
        time(),
        acts(),
        after,
        any::<bool>(),
        prop_oneof![3 => Just(0u32), 1 => 0u32..8],
    )
        .prop_map(|(context, kind, op, object, gap, duration, acts, after, cut, executor)| {
            let kind = TaskKind::ALL[kind];
            let work = kind == TaskKind::Work;
            let op = if work { SyncOp::None } else { SyncOp::ALL[op] };
            let object = if work { 0 } else { object };
            let acts = if work { acts } else { Vec::new() };
            Step { context, executor, kind, op, object, gap, duration, acts, after, cut }
        })
}

/// What was written, for comparison with what is read.
#[derive(Debug, Default)]
struct Model {
    records: BTreeMap<TaskId, TaskRecord>,
    acts: BTreeMap<TaskId, Vec<Act>>,
    incoming: BTreeMap<TaskId, Vec<TaskId>>,
    outgoing: BTreeMap<TaskId, Vec<TaskId>>,
    order: Vec<TaskId>,
    contexts: Vec<Context>,
}

/// Context ids are not dense: 0, 3, 6, ...
fn context_id(context: usize) -> ContextId {
    ContextId::from_index(3 * context).unwrap()
}

fn put(encoder: &mut FrameEncoder, act: &Act) {
    match act {
        Act::Block(b, operands) => encoder.block(BlockId::new(*b), operands),
        Act::Other(action) => encoder.action(action),
    }
}

/// Ends a frame and gives the tasks in it their spans.
fn close(
    encoder: &mut FrameEncoder,
    open: &mut Vec<(TaskId, u32, u32)>,
    writer: &mut GraphWriter,
    records: &mut BTreeMap<TaskId, TaskRecord>,
) {
    if let Some(frame) = encoder.finish() {
        let frame = writer.put_frame(frame).unwrap();
        for &(id, first_record, actions) in open.iter().filter(|o| o.2 > 0) {
            records.get_mut(&id).unwrap().frames.push(FrameSpan {
                frame,
                first_record,
                records: actions,
            });
        }
    }
    open.clear();
}

/// Encodes the actions of each context; frames are cut between and within tasks.
fn write_frames(model: &mut Model, steps: &[(TaskId, Step)], writer: &mut GraphWriter) {
    for context in 0..5 {
        let mut encoder = FrameEncoder::new(writer.info());
        let mut open = Vec::new();
        for (id, step) in steps.iter().filter(|(_, s)| s.context == context) {
            let before = encoder.counts();
            let mut first = encoder.record_count();
            for (i, act) in step.acts.iter().enumerate() {
                put(&mut encoder, act);
                if i % 50 == 49 {
                    open.push((*id, first, encoder.record_count() - first));
                    close(&mut encoder, &mut open, writer, &mut model.records);
                    first = 0;
                }
            }
            open.push((*id, first, encoder.record_count() - first));
            if step.cut {
                close(&mut encoder, &mut open, writer, &mut model.records);
            }
            model.records.get_mut(id).unwrap().counts = encoder.counts().since(before);
        }
        close(&mut encoder, &mut open, writer, &mut model.records);
    }
}

/// Runs the steps in order; each may depend on any task before it.
fn write(steps: Vec<Step>) -> (Model, Vec<u8>) {
    let mut model = Model::default();
    let mut clocks = [0u64; 5];
    let mut counts = [0u32; 5];
    let mut done = Vec::new();
    for step in steps {
        let id = TaskId::new(context_id(step.context), counts[step.context]);
        counts[step.context] += 1;
        let start_ns = clocks[step.context] + step.gap;
        let end_ns = start_ns + step.duration;
        clocks[step.context] = end_ns;
        let (kind, op, object) = (step.kind, step.op, step.object);
        let record = TaskRecord {
            id,
            executor: ExecutorId::new(step.executor),
            kind,
            op,
            object,
            start_ns,
            end_ns,
            ..TaskRecord::default()
        };
        model.records.insert(id, record);
        model.acts.insert(id, step.acts.clone());
        for before in step.after.iter().filter(|_| !model.order.is_empty()) {
            let from = model.order[before % model.order.len()];
            let incoming = model.incoming.entry(id).or_default();
            if !incoming.contains(&from) {
                incoming.push(from);
                model.outgoing.entry(from).or_default().push(id);
            }
        }
        model.order.push(id);
        done.push((id, step));
    }
    let mut writer = GraphWriter::in_memory(Arc::new(info())).unwrap();
    write_frames(&mut model, &done, &mut writer);
    model.incoming.values_mut().for_each(|ids| ids.sort());
    model.outgoing.values_mut().for_each(|ids| ids.sort());
    for (id, record) in &model.records {
        writer.put_task(record, model.incoming.get(id).map_or(&[], Vec::as_slice)).unwrap();
    }
    for (from, to) in &model.outgoing {
        writer.put_dependents(*from, to).unwrap();
    }
    model.order.iter().for_each(|id| writer.put_order(*id).unwrap());
    let context = |c: usize| Context {
        id: context_id(c),
        task_count: counts[c],
        last_ns: clocks[c],
        name: format!("thread {}", c % 2),
        flags: Context::ANNOUNCED,
        ..Context::default()
    };
    model.contexts = (0..5).map(context).collect();
    let bytes = writer.finish_in_memory(model.contexts.clone(), meta()).unwrap();
    (model, bytes)
}

fn meta() -> RunMeta {
    RunMeta {
        command: vec!["./prog".into(), "-x".into()],
        pid: 7,
        complete: true,
        processors: 3,
        ..RunMeta::default()
    }
}

fn read_acts<D: AsRef<[u8]>>(task: &taskgraph::Task<'_, D>) -> Vec<Act> {
    let mut acts = Vec::new();
    let read = task.for_each_action(|action| {
        acts.push(match action {
            Action::Block(b) => Act::Block(b.id().get(), b.operands().to_vec()),
            Action::Alloc { addr, size, kind } => Act::Other(Action::Alloc { addr, size, kind }),
            Action::Free { addr } => Act::Other(Action::Free { addr }),
            Action::Map { addr, size } => Act::Other(Action::Map { addr, size }),
            Action::Fresh { addr, size } => Act::Other(Action::Fresh { addr, size }),
            Action::Unmap { addr, size } => Act::Other(Action::Unmap { addr, size }),
            other => panic!("{other:?}"),
        });
    });
    read.unwrap();
    acts
}

fn check_task<D: AsRef<[u8]>>(model: &Model, task: &taskgraph::Task<'_, D>) {
    let id = task.id();
    assert_eq!(task.record(), model.records[&id]);
    assert_eq!(read_acts(task), model.acts[&id]);
    let known = |edges: &BTreeMap<_, Vec<TaskId>>| edges.get(&id).cloned().unwrap_or_default();
    assert_eq!(task.dependencies().unwrap(), known(&model.incoming));
    assert_eq!(task.dependents().unwrap(), known(&model.outgoing));
    let with = |mut ids: Vec<TaskId>, more: Option<TaskId>| {
        ids.extend(more);
        ids.sort();
        ids.dedup();
        ids
    };
    let next = Some(TaskId::new(id.context, id.seq + 1)).filter(|n| model.records.contains_key(n));
    assert_eq!(task.predecessors().unwrap(), with(known(&model.incoming), id.previous()));
    assert_eq!(task.successors().unwrap(), with(known(&model.outgoing), next));
    let (mut lazily, mut fast) = (Vec::<Access>::new(), Vec::<Access>::new());
    task.for_each_block(|b| lazily.extend(b.accesses())).unwrap();
    task.for_each_access(|a| fast.push(a)).unwrap();
    assert_eq!(lazily, fast);
    assert_eq!(fast.len() as u64, task.access_count());
    assert_eq!(fast.iter().filter(|a| a.write).count() as u64, task.write_count());
    assert_eq!(fast.iter().fold(0u64, |n, a| n.wrapping_add(a.size)), task.bytes_accessed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_graph_reads_back_as_it_was_written(steps in prop::collection::vec(step(), 1..60)) {
        let (model, bytes) = write(steps);
        let graph = TaskGraph::from_bytes(bytes).unwrap();
        prop_assert_eq!(graph.info(), &info());
        prop_assert_eq!(graph.meta(), &meta());
        prop_assert_eq!(graph.contexts().collect::<Vec<_>>(), model.contexts.clone());
        let order: Vec<_> = graph.tasks().map(|t| t.unwrap()).collect();
        prop_assert_eq!(order.iter().map(|t| t.id()).collect::<Vec<_>>(), model.order.clone());
        order.iter().for_each(|t| check_task(&model, t));
        let by_context: Vec<_> =
            graph.contexts().flat_map(|c| graph.tasks_of(c.id)).map(|t| t.unwrap().id()).collect();
        prop_assert_eq!(by_context, model.records.keys().copied().collect::<Vec<_>>());
        // Tasks are read at random in a graph whose caches are empty, the last one first.
        let cold = TaskGraph::from_bytes(graph.bytes()).unwrap();
        model.order.iter().rev().for_each(|id| check_task(&model, &cold.task(*id).unwrap()));
        let verified = graph.verify().unwrap();
        prop_assert_eq!(verified.tasks, model.order.len() as u64);
        prop_assert_eq!(verified.accesses, graph.summary().accesses);
    }
}

/// The graph has many small tasks, so that there are many pages of every kind. Pages begin and end
/// within a context, and some have no edges.
#[test]
fn a_graph_of_many_pages_reads_back() {
    let step = |i: usize| Step {
        context: i % 5,
        executor: [7, 0, 300][i / 300 % 3],
        kind: TaskKind::ALL[i / 5 % 5],
        op: if (i / 5).is_multiple_of(5) { SyncOp::None } else { SyncOp::MutexLock },
        object: if (i / 5).is_multiple_of(5) { 0 } else { 0x7000 + i as u64 % 3000 },
        gap: i as u64 % 7,
        duration: i as u64 % 1000,
        acts: if i.is_multiple_of(50) {
            vec![Act::Block(0, vec![i as u64, 8])]
        } else {
            Vec::new()
        },
        after: (1..15_000).contains(&i).then(|| i - 1).into_iter().collect(),
        cut: i.is_multiple_of(4000),
    };
    let (mut model, bytes) = write((0..30_000).map(step).collect());
    let graph = TaskGraph::from_bytes(bytes).unwrap();
    graph.verify().unwrap();
    for (i, task) in graph.tasks().enumerate() {
        let task = task.unwrap();
        assert_eq!(task.id(), model.order[i]);
        let after = model.outgoing.get(&task.id()).map_or(&[][..], Vec::as_slice);
        assert_eq!(task.dependents().unwrap(), after);
        if i % 97 == 0 {
            check_task(&model, &task);
        }
    }
    model.order.reverse();
    for id in model.order.iter().step_by(1009) {
        check_task(&model, &graph.task(*id).unwrap());
    }
    let counts = graph.par_contexts(|c| Ok(graph.tasks_of(c.id).count())).unwrap();
    assert_eq!(counts, [6000; 5]);
    let missing = graph.task(TaskId::new(context_id(1), 6000)).unwrap_err().to_string();
    assert!(missing.contains("3:6000"), "{missing}");
}

/// The task has several full frames, and every way through it must see the same.
#[test]
fn a_huge_task_spans_frames() {
    let acts = (0..200_000u64).map(|i| Act::Block(0, vec![i * 8, 0x900_0000 - i * 4])).collect();
    let step = Step {
        context: 0,
        executor: 0,
        kind: TaskKind::Work,
        op: SyncOp::None,
        object: 0,
        gap: 0,
        duration: 9,
        acts,
        after: Vec::new(),
        cut: false,
    };
    let (model, bytes) = write(vec![step]);
    assert!(bytes.len() < 450_000, "{} bytes for 400,000 affine accesses", bytes.len());
    let graph = TaskGraph::from_bytes(bytes).unwrap();
    let task = graph.task(TaskId::default()).unwrap();
    assert_eq!(task.spans().len(), 4000);
    check_task(&model, &task);
    graph.verify().unwrap();
}
