//! What workers find in their shares is, put together, what one process finds: on random graphs,
//! for every analysis that can be divided and for numbers of workers that divide nothing evenly.

use crate::graphs::affine::random_contexts;
use crate::graphs::random::{HEAP, Shape, random};
use crate::graphs::{found, json, options};
use crate::samples::{calls, graph};
use clap::Args;
use contech_backends::analysis::{Divided, Graph, Share, run_share};
use contech_backends::cache::Cache;
use contech_backends::workspan::WorkSpan;
use fastrand::Rng;
use serde::Serialize;
use taskgraph::builder::GraphBuilder;
use taskgraph::{Block, BlockId, MemOp};

const WORKERS: [u32; 3] = [2, 3, 16];

/// Contexts that share lines of many pages, wait for one another, and run several functions in
/// tasks of very different lengths.
fn random_graph(seed: u64) -> Graph {
    let op = |i: u32| {
        let size = [1, 4, 8, 16, 100][i as usize % 5];
        if (i + u32::try_from(seed).expect("small")) % 5 < 3 {
            MemOp::load(size)
        } else {
            MemOp::store(size)
        }
    };
    let ops: Vec<MemOp> = (0..12).map(op).collect();
    // Some lines are at the border of two pages, and some accesses are in both.
    let address = |random: &mut Rng| HEAP + (random.u64(..7) << 14) + random.u64(..300) - 100;
    let mut b = random(seed, &Shape { ops: &ops, address, heap: true, tasks: 70 });
    for i in 0..12 {
        // Each function has a block that begins it, one that calls, one that returns, and one that
        // does both or neither.
        let flags = [Block::ENTRY, 0, Block::RETURN, Block::RETURN * u8::from(i < 11)];
        b.info_mut().blocks[i as usize].flags = flags[i as usize / 3];
        if [1, 3].contains(&(i / 3)) {
            calls(&mut b, BlockId::new(i), &format!("f{}", (i + 1) % 3), 20 + i);
        }
    }
    graph(b)
}

/// Does an analysis in one process and by workers, whose findings go through JSON as in their
/// files. Returns what one process says.
fn check<A>(line: &str, graph: &Graph) -> String
where
    A: Divided<Config: Args, Report: Serialize>,
{
    let analysis = || A::new(options::<A>(line), graph).expect("options");
    let whole = json(&found::<A>(line, graph));
    for of in WORKERS {
        let found = |index| {
            let found = run_share(analysis(), graph, Share { index, of }).expect("readable");
            serde_json::from_str(&json(&found)).expect("what was just written")
        };
        let parts = (0..of).map(found).collect();
        let joined = json(&analysis().join(graph, parts).expect("readable"));
        assert_eq!(joined, whole, "{} {line}, {of} workers", A::NAME);
    }
    whole
}

fn check_all(graph: &Graph) {
    check::<Cache>("--sizes 256,1K,64K --ways 1,2,full", graph);
    check::<Cache>("--sizes 1K,4K --ways 4,16 --private", graph);
    let counted = check::<WorkSpan>("", graph);
    // A changed program is followed invocation by invocation.
    let each = check::<WorkSpan>("--scale f0=0.5 --parallel f1=10", graph);
    let mut each: serde_json::Value = serde_json::from_str(&each).expect("JSON");
    let counted: serde_json::Value = serde_json::from_str(&counted).expect("JSON");
    each.as_object_mut().expect("an object").remove("what_if");
    assert_eq!(each, counted);
}

#[test]
fn workers_find_what_one_process_finds() {
    for seed in 1..40 {
        check_all(&random_graph(seed));
    }
}

#[test]
fn a_task_of_many_frames_is_divided_within_it() {
    let mut b = GraphBuilder::new();
    let block = b.block("f", "s.c", 1, &[MemOp::load(8), MemOp::store(70)]);
    let main = b.context("main");
    let child = b.create(main);
    for (context, seed) in [(main, 1), (child, 7)] {
        b.work(context, 0, 1000, |w| {
            for i in 0..300_000u64 {
                let at = (i ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                // Some lines all the time, and others of a megabyte.
                let near = 0x1000 + at % 9999;
                w.block(block, &[near, 0x10_0000 + (at >> 44)]);
            }
        });
    }
    let graph = graph(b);
    let frames = |context| {
        let tasks = graph.tasks_of(context);
        tasks.map(|task| task.expect("readable").spans().len()).max()
    };
    let frames = [main, child].map(frames);
    assert!(frames.iter().all(|frames| *frames > Some(1)), "{frames:?}");
    let whole = check::<Cache>("--sizes 1K,16K,128K,2M --ways 1,4,full", &graph);
    let whole: serde_json::Value = serde_json::from_str(&whole).expect("JSON");
    // Misses of every cause.
    let points = whole["points"].as_array().expect("points");
    for cause in ["cold", "capacity", "conflict"] {
        assert!(points.iter().any(|point| point[cause].as_i64() > Some(1000)), "{cause}");
    }
    check::<Cache>("--sizes 4K,64K --ways 2,8", &graph);
    check::<Cache>("--sizes 4K,64K --private --ways 1,full", &graph);
}

#[test]
fn loops_that_cross_the_border_of_two_shares_are_divided_exactly() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 1..20 {
        let graph = random_contexts(
            seed,
            1 + u32::try_from(seed % 4).expect("small"),
            &folder.path().join("loops.tg"),
        );
        check::<Cache>("--sizes 256,1K,64K --ways 1,2,full", &graph);
        check::<WorkSpan>("--metric accesses", &graph);
    }
}
