//! Nests of loops, which analyses take as one, against the same executions one by one.

use crate::graphs::affine::random_contexts;
use contech_backends::analysis::Graph;
use contech_backends::cli::registry::answer;
use serde_json::Value;
use taskgraph::builder::GraphBuilder;
use taskgraph::{Action, AllocKind, Piece, Reader};

/// The same graph, with each execution of a block by itself.
fn one_by_one(graph: &Graph) -> Graph {
    let mut b = GraphBuilder::new();
    *b.info_mut() = graph.info().clone();
    let contexts: Vec<_> = graph.contexts().map(|_| b.context("")).collect();
    for task in graph.tasks() {
        let task = task.expect("readable");
        let context = contexts[task.id().context.index()];
        b.work(context, task.start_ns(), task.end_ns(), |w| {
            let each = task.for_each_action(|action| match action {
                Action::Block(block) => {
                    // Each operation is a load or a store.
                    let operands: Vec<u64> = block.accesses().map(|a| a.addr).collect();
                    w.block(block.id(), &operands);
                }
                Action::Alloc { addr, size, .. } => w.alloc(addr, size, AllocKind::Malloc),
                _ => unreachable!("no other actions"),
            });
            each.expect("readable");
        });
    }
    crate::graphs::graph(b)
}

/// The nests with accesses in a graph.
fn nests(graph: &Graph) -> usize {
    let mut reader = Reader::new(graph, 1).with_nests();
    let mut nests = 0;
    for task in graph.tasks() {
        reader.open(&task.expect("readable"));
        while let Some(batch) = reader.next().expect("readable") {
            let nest = |piece: &Piece<'_>| matches!(piece, Piece::Nest(n) if n.has_operands());
            nests += batch.pieces().filter(nest).count();
        }
    }
    nests
}

#[test]
fn every_analysis_finds_the_same_in_nests_and_in_their_executions_one_by_one() {
    let commands = [
        "blocks",
        "cache",
        "cache --sizes 512,1K..32K --ways 1,2,4,full --line 16",
        "cache --private --sizes 1K,4K --ways 2,full --line 128",
        "cache --sample 0.5",
        "misses",
        "misses --sizes 512,2K,8K --ways 2 --line 32",
        "sharing",
        "races",
        "memuse",
        "memuse --points 3",
        "workspan --metric ops",
        "workspan --metric accesses",
        "critpath",
        "account",
    ];
    let folder = tempfile::tempdir().expect("temporary folder");
    let mut seen = 0;
    for seed in 0..24 {
        let contexts = if seed % 3 == 0 { 3 } else { 1 };
        let graph = random_contexts(seed, contexts, &folder.path().join("graph.tg"));
        let plain = one_by_one(&graph);
        seen += nests(&graph);
        for command in commands {
            let words: Vec<String> = command.split(' ').map(ToOwned::to_owned).collect();
            let of = |graph| {
                let answer = answer(&words[0], &words[1..], graph).expect("an answer");
                let mut data: Value = serde_json::from_str(&answer).expect("data");
                // Of a line with memory of several allocations, a run names the one that it begins
                // in.
                let fields = data.as_object_mut().filter(|_| words[0] == "misses");
                fields.map(|fields| fields.remove("sites"));
                data
            };
            assert!(of(&graph) == of(&plain), "seed {seed}: {command}");
        }
    }
    assert!(seen > 100, "{seen} nests");
}
