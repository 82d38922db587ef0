//! The critical path against an exhaustive search over all paths of small random graphs, and against graphs by hand.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the numbers are small"
)]

use std::collections::{BTreeMap, BTreeSet};

use crate::graphs::graph;
use contech_backends::analysis::{Graph, run};
use contech_backends::critpath::{CritPath, Crossing, Options, Report, Table, weight};
use fastrand::Rng;
use taskgraph::builder::GraphBuilder;
use taskgraph::{BlockId, ContextId, MemOp, SyncOp, TaskId};

const FUNCTIONS: [&str; 3] = ["alpha", "beta(int)", "ns::gamma(ns::T)"];

/// Contexts with random work, locks nobody needs, and random edges from earlier tasks to later ones.
fn random_builder(seed: u64, steps: u64) -> GraphBuilder {
    let mut random = Rng::with_seed(seed);
    let mut b = GraphBuilder::new();
    let blocks: Vec<BlockId> = FUNCTIONS
        .iter()
        .zip(1..)
        .map(|(name, ops)| b.block(name, "a.cpp", 10 * ops, &vec![MemOp::load(8); ops as usize]))
        .collect();
    let mut contexts: Vec<ContextId> = vec![b.context("main")];
    b.work(contexts[0], 0, random.u64(..50), |_| {});
    let mut tasks: Vec<TaskId> = vec![TaskId::new(contexts[0], 0)];
    let mut clocks: BTreeMap<ContextId, u64> = BTreeMap::new();
    for _ in 0..steps {
        let context = contexts[random.u64(..contexts.len() as u64) as usize];
        let start = clocks.get(&context).copied().unwrap_or(0) + random.u64(..10);
        let length = random.u64(..60);
        let id = match random.u64(..8) {
            0 if contexts.len() < 4 => {
                let child = b.create(context);
                b.work(child, start, start + length, |_| {});
                contexts.push(child);
                clocks.insert(child, start);
                TaskId::new(child, 0)
            }
            1 => b.sync_at(context, 0xfeed, SyncOp::MutexLock, start, start + length),
            2 => b.sync_at(
                context,
                0xfeed,
                SyncOp::MutexUnlock,
                start,
                start + random.u64(..3),
            ),
            3 => b.sync_at(context, 0xbeef, SyncOp::SemPost, start, start + length),
            _ => b.work(context, start, start + length, |w| {
                for (i, &block) in blocks.iter().enumerate() {
                    for _ in 0..random.u64(..3) {
                        w.block(block, &vec![0x1000; i + 1]);
                    }
                }
            }),
        };
        for _ in 0..random.u64(..3) {
            let from = tasks[random.u64(..tasks.len() as u64) as usize];
            if from.context != id.context {
                b.edge(from, id);
            }
        }
        let clock = clocks.entry(id.context).or_default();
        *clock = start.max(*clock) + length;
        tasks.push(id);
    }
    b
}

/// Every path from a task without predecessors to one without successors.
fn all_paths(graph: &Graph) -> Vec<Vec<TaskId>> {
    let before = crate::graphs::predecessors(graph);
    let inner: BTreeSet<TaskId> = before.values().flatten().copied().collect();
    let mut open: Vec<Vec<TaskId>> = before
        .keys()
        .filter(|id| !inner.contains(id))
        .map(|&id| vec![id])
        .collect();
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

fn weights(graph: &Graph) -> BTreeMap<TaskId, u64> {
    graph
        .tasks()
        .map(|task| task.expect("readable"))
        .map(|task| (task.id(), weight(&task)))
        .collect()
}

fn longest<'p>(
    paths: impl IntoIterator<Item = &'p Vec<TaskId>>,
    weights: &BTreeMap<TaskId, f64>,
) -> f64 {
    paths
        .into_iter()
        .map(|path| path.iter().map(|id| weights[id]).sum())
        .fold(0.0, f64::max)
}

fn as_float(weights: &BTreeMap<TaskId, u64>) -> BTreeMap<TaskId, f64> {
    weights.iter().map(|(&id, &ns)| (id, ns as f64)).collect()
}

fn options() -> Options {
    Options {
        near: 5,
        halve: 3,
        ..Options::default()
    }
}

fn report(graph: &Graph, options: Options) -> Report {
    run::<CritPath>(options, graph).expect("a readable graph")
}

/// Tasks of the path: its parts are without gaps within a context.
fn on_path(report: &Report) -> BTreeSet<TaskId> {
    let parts = report.stretches.iter().map(|part| -> (TaskId, TaskId) {
        (
            part.first.parse().expect("task id"),
            part.last.parse().expect("task id"),
        )
    });
    parts
        .flat_map(|(first, last)| {
            (first.seq..=last.seq).map(move |seq| TaskId::new(first.context, seq))
        })
        .collect()
}

#[test]
fn span_slack_and_the_best_detour_equal_an_exhaustive_search() {
    for seed in 1..120 {
        let graph = graph(random_builder(seed, 4 + seed % 11));
        let (paths, weights) = (all_paths(&graph), weights(&graph));
        let float = as_float(&weights);
        let report = report(&graph, options());
        assert_eq!(
            report.span_ns as f64,
            longest(&paths, &float),
            "seed {seed}"
        );
        assert_eq!(report.work_ns, weights.values().sum::<u64>(), "seed {seed}");

        let table = Table::new(&graph).expect("readable");
        for &id in weights.keys() {
            let through = longest(paths.iter().filter(|path| path.contains(&id)), &float);
            assert_eq!(
                table.slack(id) as f64,
                report.span_ns as f64 - through,
                "seed {seed}: task {id}"
            );
        }
        let critical = on_path(&report);
        let length: u64 = critical.iter().map(|id| weights[id]).sum();
        assert_eq!(
            (length, report.tasks),
            (report.span_ns, critical.len() as u64),
            "seed {seed}"
        );
        assert!(
            paths
                .iter()
                .any(|path| path.iter().copied().collect::<BTreeSet<_>>() == critical),
            "seed {seed}"
        );

        let others: Vec<_> = paths
            .iter()
            .filter(|path| path.iter().any(|id| !critical.contains(id)))
            .collect();
        assert_eq!(report.near.is_empty(), others.is_empty(), "seed {seed}");
        if let Some(best) = report.near.first() {
            assert_eq!(
                best.length_ns as f64,
                longest(others, &float),
                "seed {seed}"
            );
        }
        assert!(
            report
                .near
                .is_sorted_by_key(|detour| std::cmp::Reverse(detour.length_ns)),
            "seed {seed}"
        );
    }
}

#[test]
fn the_parts_add_up_to_the_whole() {
    for seed in 1..60 {
        let graph = graph(random_builder(seed, 40));
        let report = report(&graph, options());
        let functions: u64 = report.functions.iter().map(|row| row.critical_ns).sum();
        let overhead: u64 = report.overhead.iter().map(|row| row.ns).sum();
        assert_eq!(functions + overhead, report.span_ns, "seed {seed}: span");
        assert_eq!(
            report.slack.iter().map(|band| band.ns).sum::<u64>(),
            report.work_ns,
            "seed {seed}: slack"
        );
        let parts: u64 = report.observed.parts.iter().map(|part| part.ns).sum();
        assert_eq!(parts, report.observed.end_ns, "seed {seed}: observed");
        assert_eq!(
            report.observed.end_ns, report.duration_ns,
            "seed {seed}: run"
        );
        let chain: u64 = report.functions.iter().map(|row| row.observed_ns).sum();
        let work = report
            .observed
            .parts
            .iter()
            .find(|part| part.what == "work")
            .map_or(0, |part| part.ns);
        assert_eq!(chain, work, "seed {seed}: work of the observed chain");
    }
}

/// Weights with the time of `function` times `factor`, apportioned by IR operations (a load each, plus one per block).
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
        (
            task.id(),
            weight(&task) as f64 * (1.0 - share + share * factor),
        )
    };
    graph
        .tasks()
        .map(|task| scale(task.expect("readable")))
        .collect()
}

#[test]
fn a_scaled_function_gives_the_span_of_the_scaled_weights() {
    for seed in 1..40 {
        let graph = graph(random_builder(seed, 12));
        let paths = all_paths(&graph);
        for (typed, name, factor) in [
            ("alpha", FUNCTIONS[0], 0.5),
            ("beta", FUNCTIONS[1], 0.0),
            ("gamma", FUNCTIONS[2], 3.0),
        ] {
            let scale = vec![format!("{typed}={factor}").parse().expect("valid")];
            let report = report(
                &graph,
                Options {
                    scale,
                    ..Options::default()
                },
            );
            let then = report.what_if.expect("asked for");
            let expected = longest(&paths, &scaled(&graph, name, factor));
            // A part of a task is rounded to a nanosecond.
            assert!(
                (then.span_ns as f64 - expected).abs() <= 13.0 * 1.5,
                "seed {seed} {name}: {} {expected}",
                then.span_ns
            );
        }
    }
}

#[test]
fn halving_a_function_is_the_same_as_scaling_it_by_a_half() {
    let graph = graph(random_builder(7, 60));
    let report = report(&graph, options());
    assert!(!report.halved.is_empty());
    for row in &report.halved {
        let name = row
            .change
            .strip_suffix(" takes half its time")
            .expect("wording");
        let scale = vec![format!("{name}=0.5").parse().expect("valid")];
        let asked = self::report(
            &graph,
            Options {
                scale,
                ..Options::default()
            },
        )
        .what_if
        .expect("asked for");
        assert_eq!(
            (row.span_ns, row.work_ns),
            (asked.span_ns, asked.work_ns),
            "{name}"
        );
    }
}

/// Two contexts that hold one lock in turn: 0 holds it 10..110, 1 waits for it from 20 and holds it 110..310; main
/// joins at 400.
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
fn a_contended_lock_is_on_the_path_and_can_be_wished_away() {
    let graph = graph(contended());
    let plain = report(&graph, options());
    // setup 10, held 100, held 200, setup 25
    assert_eq!(plain.span_ns, 335);
    let top = &plain.functions[0];
    assert_eq!(
        (
            top.place.function.as_str(),
            top.critical_ns,
            top.min_slack_ns
        ),
        ("critical_section", 300, 0)
    );
    let causes: Vec<_> = plain
        .crossings
        .iter()
        .map(|row| (row.cause, row.count, row.waited_ns))
        .collect();
    assert_eq!(causes, [(Crossing::Join, 1, 210), (Crossing::Lock, 1, 95)]);
    let observed: Vec<_> = plain
        .observed
        .parts
        .iter()
        .map(|part| (part.what.as_str(), part.ns))
        .collect();
    assert_eq!(observed, [("work", 335), ("handover lock", 5)]);

    let with = |options: Options| report(&graph, options).what_if.expect("asked for").span_ns;
    let held = |text: &str| Options {
        scale_lock: vec![text.parse().expect("valid")],
        ..Options::default()
    };
    assert_eq!(with(held("0xfeed=0")), 45); // setup 10, 10, 25
    assert_eq!(with(held("0xfeed=0.5")), 185);
    // Not ordered any more: setup 10, setup 10, held 200, setup 25.
    assert_eq!(
        with(Options {
            drop_lock: vec![0xfeed],
            ..Options::default()
        }),
        245
    );
}

#[test]
fn a_graph_without_tasks_or_blocks_has_a_clear_answer() {
    let empty = report(&graph(GraphBuilder::new()), options());
    assert_eq!(
        (empty.span_ns, empty.tasks, empty.functions.len()),
        (0, 0, 0)
    );

    let mut b = GraphBuilder::new();
    b.block("f", "f.c", 1, &[]);
    let main = b.context("main");
    b.work(main, 0, 70, |_| {});
    let sync_only = graph(b);
    let bare = report(&sync_only, options());
    assert_eq!(
        (bare.span_ns, bare.functions[0].place.function.as_str()),
        (70, "(no code recorded)")
    );
    let scale = Options {
        scale: vec!["f=0".parse().expect("valid")],
        ..Options::default()
    };
    let error = run::<CritPath>(scale, &sync_only)
        .expect_err("no times of functions")
        .to_string();
    assert!(error.contains("sync mode"), "{error}");
}

#[test]
fn a_function_nobody_has_is_refused() {
    let scale = Options {
        scale: vec!["nobody=0".parse().expect("valid")],
        ..Options::default()
    };
    let error = run::<CritPath>(scale, &graph(contended()))
        .expect_err("no such function")
        .to_string();
    assert!(
        error.contains("no function of the program has that name"),
        "{error}"
    );
}

#[test]
fn a_lock_nobody_took_is_refused() {
    let scaled = Options {
        scale_lock: vec!["0xbad=0".parse().expect("valid")],
        ..Options::default()
    };
    let dropped = Options {
        drop_lock: vec![0xbad],
        ..Options::default()
    };
    for (options, option) in [(scaled, "--scale-lock"), (dropped, "--drop-lock")] {
        let error = run::<CritPath>(options, &graph(contended()))
            .expect_err("no such lock")
            .to_string();
        let said = format!("{option} 0xbad: the program took no lock");
        assert!(error.contains(&said), "{error}");
    }
}
