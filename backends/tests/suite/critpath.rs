//! The critical path against an exhaustive search over all paths of small random graphs, and
//! against graphs by hand.
#![allow(clippy::cast_precision_loss, reason = "the numbers are small")]

use std::collections::{BTreeMap, BTreeSet};

use crate::graphs::random::{Shape, random};
use crate::graphs::{found, graph};
use contech_backends::analysis::Graph;
use contech_backends::critpath::{CritPath, Report, Strands, weight};
use taskgraph::builder::GraphBuilder;
use taskgraph::{MemOp, SyncOp, TaskId, TaskKind};

/// At most so many tasks, and what they wait for. The blocks of each function have other numbers
/// of IR operations.
fn random_builder(seed: u64, tasks: u64) -> GraphBuilder {
    let ops = [(); 3].map(|()| MemOp::load(8));
    let mut b = random(seed, &Shape { ops: &ops, address: |_| 0x1000, heap: false, tasks });
    for ops in [2, 3, 4] {
        b.info_mut().blocks[ops as usize - 2].ir_ops = ops;
    }
    b
}

/// Every path from a task without predecessors to any task.
fn all_paths(graph: &Graph) -> Vec<Vec<TaskId>> {
    let before = crate::graphs::predecessors(graph);
    let mut open: Vec<Vec<TaskId>> = before.keys().map(|&id| vec![id]).collect();
    let mut whole = Vec::new();
    while let Some(path) = open.pop() {
        let first = path.last().expect("never empty");
        if before[first].is_empty() {
            whole.push(path.iter().rev().copied().collect());
        }
        for &id in &before[first] {
            open.push(path.iter().copied().chain([id]).collect());
        }
    }
    whole
}

fn weights(graph: &Graph) -> BTreeMap<TaskId, f64> {
    graph
        .tasks()
        .map(|task| task.expect("readable"))
        .map(|task| (task.id(), weight(&task) as f64))
        .collect()
}

/// The length of a path. It leaves an operation for another context where that operation begins.
fn length(path: &[TaskId], graph: &Graph, weights: &BTreeMap<TaskId, f64>) -> f64 {
    let on_path = |(at, id): (usize, &TaskId)| {
        let leaves = path.get(at + 1).is_some_and(|next| next.context != id.context);
        let work = graph.task(*id).expect("readable").kind() == TaskKind::Work;
        if leaves && !work { 0.0 } else { weights[id] }
    };
    path.iter().enumerate().map(on_path).sum()
}

fn longest<'p>(
    paths: impl IntoIterator<Item = &'p Vec<TaskId>>,
    graph: &Graph,
    weights: &BTreeMap<TaskId, f64>,
) -> f64 {
    let lengths = paths.into_iter().map(|path| length(path, graph, weights));
    lengths.fold(0.0, f64::max)
}

fn report(graph: &Graph) -> Report {
    found::<CritPath>("--halve 3", graph)
}

/// Tasks of the path: its parts are without gaps within a context.
fn on_path(report: &Report) -> BTreeSet<TaskId> {
    let parts = report.stretches.iter().map(|part| -> (TaskId, TaskId) {
        (part.first.parse().expect("task id"), part.last.parse().expect("task id"))
    });
    parts
        .flat_map(|(first, last)| {
            (first.seq..=last.seq).map(move |seq| TaskId::new(first.context, seq))
        })
        .collect()
}

#[test]
fn span_and_slack_equal_an_exhaustive_search() {
    for seed in 1..120 {
        let graph = graph(random_builder(seed, 4 + seed % 11));
        let (paths, weights) = (all_paths(&graph), weights(&graph));
        let report = report(&graph);
        assert_eq!(report.span_ns as f64, longest(&paths, &graph, &weights), "seed {seed}");
        assert_eq!(report.work_ns as f64, weights.values().sum::<f64>(), "seed {seed}");

        let strands = Strands::new(&graph).expect("readable");
        for &id in weights.keys() {
            let through = paths.iter().filter(|path| path.contains(&id));
            assert_eq!(
                strands.slack(id) as f64,
                report.span_ns as f64 - longest(through, &graph, &weights),
                "seed {seed}: task {id}"
            );
        }
        let critical = on_path(&report);
        assert_eq!(report.tasks, critical.len() as u64, "seed {seed}");
        let mut same =
            paths.iter().filter(|path| path.iter().copied().collect::<BTreeSet<_>>() == critical);
        let path = same.next().expect("a path of the graph");
        assert_eq!(length(path, &graph, &weights), report.span_ns as f64, "seed {seed}");
    }
}

#[test]
fn the_parts_add_up_to_the_span() {
    for seed in 1..60 {
        let graph = graph(random_builder(seed, 40));
        let report = report(&graph);
        let functions: u64 = report.functions.iter().map(|row| row.critical_ns).sum();
        let overhead: u64 = report.overhead.iter().map(|row| row.ns).sum();
        assert_eq!(functions + overhead, report.span_ns, "seed {seed}");
        let stretches: u64 = report.stretches.iter().map(|part| part.ns).sum();
        assert_eq!(stretches, report.span_ns, "seed {seed}: stretches");
    }
}

/// Who is posted for goes on at a tenth of the call that posts.
#[test]
fn no_path_is_longer_than_the_run() {
    let mut b = GraphBuilder::new();
    let main = b.context("main");
    let child = b.create(main);
    b.work(main, 0, 10, |_| {});
    let post = b.sync_at(main, 0xbeef, SyncOp::SemPost, 10, 1010);
    let wait = b.sync_at(child, 0xbeef, SyncOp::SemWait, 0, 110);
    b.edge(post, wait);
    b.work(child, 110, 1210, |_| {});
    let report = report(&graph(b));
    assert_eq!((report.span_ns, report.duration_ns), (1110, 1210));
}

/// Weights with the time of `function` times `factor`, apportioned by IR operations (a load each,
/// plus one per block).
fn scaled(graph: &Graph, function: &str, factor: f64) -> BTreeMap<TaskId, f64> {
    let info = graph.info();
    let scale = |task: contech_backends::analysis::Task<'_>| {
        let (mut own, mut all) = (0.0, 0.0);
        task.for_each_block(|block| {
            let block = info.block(block.id()).expect("known");
            all += f64::from(block.ir_ops);
            if info.function(block.function).expect("known").name == function {
                own += f64::from(block.ir_ops);
            }
        })
        .expect("readable");
        let share = if all > 0.0 { own / all } else { 0.0 };
        (task.id(), weight(&task) as f64 * (1.0 - share + share * factor))
    };
    graph.tasks().map(|task| scale(task.expect("readable"))).collect()
}

#[test]
fn a_halved_function_gives_the_span_of_the_halved_weights() {
    for seed in 1..40 {
        let graph = graph(random_builder(seed, 12));
        let paths = all_paths(&graph);
        for row in report(&graph).halved {
            let expected = longest(&paths, &graph, &scaled(&graph, &row.function, 0.5));
            // A part of a task is rounded to a nanosecond.
            assert!(
                (row.span_ns as f64 - expected).abs() <= 13.0 * 1.5,
                "seed {seed}: {row:?}, not {expected}"
            );
        }
    }
}

/// Two contexts that hold one lock in turn: 0 holds it 10..110, 1 waits for it from 20 and holds it
/// 110..310; main joins at 400.
fn contended() -> GraphBuilder {
    let mut b = GraphBuilder::new();
    let setup = b.block("setup", "lock.c", 5, &[]);
    let body = b.block("critical_section", "lock.c", 20, &[MemOp::store(8)]);
    let main = b.context("main");
    b.work(main, 0, 10, |w| w.block(setup, &[]));
    let child = b.create(main);
    b.sync_at(main, 0xfeed, SyncOp::MutexLock, 10, 10);
    b.work(main, 10, 110, |w| w.block(body, &[0x1000]));
    let release = b.sync_at(main, 0xfeed, SyncOp::MutexUnlock, 110, 110);
    b.work(child, 10, 20, |w| w.block(setup, &[]));
    let acquire = b.sync_at(child, 0xfeed, SyncOp::MutexLock, 20, 115);
    b.edge(release, acquire);
    b.work(child, 115, 315, |w| w.block(body, &[0x1000]));
    b.sync_at(child, 0xfeed, SyncOp::MutexUnlock, 315, 315);
    b.work(child, 315, 340, |w| w.block(setup, &[]));
    b.work(main, 110, 130, |w| w.block(setup, &[]));
    b.clock(main, 130);
    b.join(main, child);
    b
}

#[test]
fn a_contended_lock_is_on_the_path() {
    let graph = graph(contended());
    let plain = report(&graph);
    // setup 10, held 100, held 200, setup 25
    assert_eq!(plain.span_ns, 335);
    let top = &plain.functions[0];
    assert_eq!(
        (top.place.function.as_str(), top.critical_ns, top.min_slack_ns),
        ("critical_section", 300, 0)
    );
    let causes: Vec<_> =
        plain.crossings.iter().map(|row| (row.cause, row.count, row.waited_ns)).collect();
    assert_eq!(causes, [("join", 1, 210), ("lock", 1, 95)]);
}
