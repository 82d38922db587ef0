//! The writer: temporary file, refusal of misuse, errors that name the path.

use std::path::Path;
use std::sync::Arc;

use crate::recorder::info_of;
use taskgraph::builder::GraphBuilder;
use taskgraph::{
    Action, BlockId, Context, ContextId, Executor, ExecutorId, FrameEncoder, GraphWriter, MemOp,
    RunMeta, StaticInfo, TaskGraph, TaskId, TaskRecord,
};

/// The names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

fn info() -> Arc<StaticInfo> {
    info_of(&[1], vec![MemOp::load(8)])
}

fn id(context: u32, seq: u32) -> TaskId {
    TaskId::new(ContextId::new(context), seq)
}

fn task(context: u32, seq: u32) -> TaskRecord {
    TaskRecord { id: id(context, seq), ..TaskRecord::default() }
}

fn context(id: u32, task_count: u32) -> Context {
    Context { id: ContextId::new(id), task_count, ..Context::default() }
}

#[test]
fn the_file_has_its_name_only_when_finished() {
    let folder = tempfile::tempdir().unwrap();
    let files = || files(folder.path());
    let path = folder.path().join("graph.tg");
    let writer = GraphWriter::create(&path, info()).unwrap();
    let [unfinished] = &files()[..] else { panic!("{:?}", files()) };
    assert!(unfinished.starts_with("graph.tg.tmp-"), "{unfinished}");
    drop(writer);
    assert!(files().is_empty());
    let mut b = GraphBuilder::new();
    let main = b.context("main");
    b.work(main, 0, 1, |_| {});
    b.write(&path).unwrap();
    assert_eq!(files(), ["graph.tg"]);
    assert_eq!(taskgraph::map(&path).unwrap().verify().unwrap().tasks, 1);
}

#[test]
fn a_failed_finish_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let writer = GraphWriter::create(&folder.path().join("graph.tg"), info()).unwrap();
    assert!(writer.finish(vec![context(0, 1)], RunMeta::default()).is_err());
    assert!(files(folder.path()).is_empty());
}

#[test]
fn executors_are_read_as_the_table_has_them() {
    let finish = |table: &[u32]| {
        let mut writer = GraphWriter::in_memory(info()).unwrap();
        let record = TaskRecord { executor: ExecutorId::new(2), ..task(0, 0) };
        writer.put_task(&record, &[]).unwrap();
        writer.put_order(id(0, 0)).unwrap();
        let executor =
            |&number: &u32| Executor { id: ExecutorId::new(number), tid: 40 + number, space: 513 };
        writer.set_executors(table.iter().map(executor).collect());
        let bytes = writer.finish_in_memory(vec![context(0, 1)], RunMeta::default()).unwrap();
        TaskGraph::from_bytes(bytes).unwrap()
    };
    let graph = finish(&[0, 1, 2]);
    let task = graph.task(id(0, 0)).unwrap();
    let executor = graph.executor(task.executor()).unwrap();
    assert_eq!((executor.tid, executor.space), (42, 513));
    assert_eq!(graph.executors().count(), 3);
    let error = finish(&[0, 1]).task(id(0, 0)).unwrap_err().to_string();
    assert!(error.contains("executor 2, of 2"), "{error}");
    // Without a table, nothing is known of them.
    let graph = finish(&[]);
    assert_eq!(graph.executors().map(|e| e.tid).collect::<Vec<_>>(), [0; 3]);
}

#[test]
fn a_path_that_cannot_be_written_is_named() {
    for path in ["/nonexistent/graph.tg", "/dev/full", "/"] {
        let error = GraphWriter::create(Path::new(path), info()).unwrap_err().to_string();
        assert!(error.starts_with(path), "{error}");
    }
}

#[test]
fn frames_that_do_not_fit_the_static_tables_are_refused() {
    let refusal = |f: fn(&mut FrameEncoder)| {
        let mut writer = GraphWriter::in_memory(info()).unwrap();
        let mut encoder = FrameEncoder::new(info());
        f(&mut encoder);
        writer.put_frame(encoder.finish().unwrap()).unwrap_err().to_string()
    };
    let unknown = refusal(|e| e.block(BlockId::new(1), &[]));
    assert!(unknown.contains("block 1"), "{unknown}");
    let operands = refusal(|e| e.block(BlockId::new(0), &[1, 2]));
    assert!(operands.contains("2 operands, it has 1"), "{operands}");
    let endless = refusal(|e| (0..1 << 21).for_each(|i| e.block(BlockId::new(0), &[i])));
    assert!(endless.contains("is_full"), "{endless}");
}

#[test]
fn an_encoder_is_full_at_the_documented_sizes() {
    let mut b = GraphBuilder::new();
    let four = b.block("f", "a.c", 3, &[MemOp::load(8); 4]);
    let mut encoder = FrameEncoder::new(Arc::new(std::mem::take(b.info_mut())));
    assert!(encoder.finish().is_none());
    (0..131_071).for_each(|_| encoder.block(four, &[7; 4]));
    assert!(!encoder.is_full());
    encoder.block(four, &[7; 4]);
    assert!(encoder.is_full());
    // A smaller frame would have stored as few bytes per value.
    assert_eq!(encoder.finish().unwrap().record_count(), 131_072);
    assert!(!encoder.is_full() && encoder.record_count() == 0);
    (0..65535).for_each(|addr| encoder.action(&Action::Free { addr }));
    assert!(!encoder.is_full());
    encoder.action(&Action::Free { addr: 0 });
    assert!(encoder.is_full());
    assert_eq!(encoder.counts().blocks, 131_072);
}

#[test]
fn tasks_out_of_order_are_refused() {
    let refused = |ids: &[(u32, u32)], name: &str| {
        let mut writer = GraphWriter::in_memory(info()).unwrap();
        let (last, before) = ids.split_last().unwrap();
        before.iter().for_each(|i| writer.put_task(&task(i.0, i.1), &[]).unwrap());
        let error = writer.put_task(&task(last.0, last.1), &[]).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    };
    refused(&[(0, 1)], "0:1");
    refused(&[(0, 0), (0, 0)], "0:0");
    refused(&[(0, 0), (0, 2)], "0:2");
    refused(&[(1, 0), (0, 0)], "0:0");
    refused(&[(0, 0), (1, 1)], "1:1");
}

#[test]
fn edges_order_and_contexts_that_do_not_agree_are_refused() {
    let finish = |dependents: TaskId, ordered: &[u32], contexts: &[u32]| {
        let mut writer = GraphWriter::in_memory(info()).unwrap();
        writer.put_task(&task(0, 0), &[]).unwrap();
        writer.put_task(&task(1, 0), &[id(0, 0)]).unwrap();
        writer.put_dependents(dependents, &[id(1, 0)]).unwrap();
        ordered.iter().for_each(|context| writer.put_order(id(*context, 0)).unwrap());
        let contexts: Vec<Context> = contexts.iter().map(|c| context(*c, 1)).collect();
        writer.finish_in_memory(contexts, RunMeta::default()).map_err(|e| e.to_string())
    };
    finish(id(0, 0), &[0, 1], &[0, 1]).unwrap();
    for (dependents, ordered, contexts, said) in [
        (id(0, 1), &[0, 1][..], &[0, 1][..], "each other's reverse"),
        (id(0, 0), &[0], &[0, 1], "1 in the order"),
        (id(0, 0), &[0, 1], &[0], "1 by their contexts"),
    ] {
        let error = finish(dependents, ordered, contexts).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}
