//! Misses by instruction and site against a simulator that does one cache at a time, and against
//! `cache`.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::collections::BTreeMap;

use crate::cache::Lists;
use crate::graphs::random::{HEAP, Shape, random};
use crate::graphs::{graph, json, options};
use contech_backends::analysis::{Graph, run};
use contech_backends::cache::{self, Cache, Ways};
use contech_backends::cli::registry::answer;
use contech_backends::misses::{Misses, Options, Report};
use fastrand::Rng;
use serde_json::Value;
use taskgraph::builder::GraphBuilder;
use taskgraph::{Action, BlockId, ContextId, MemOp, OpKind};

fn report(graph: &Graph, sizes: &str, ways: Ways) -> Report {
    let sizes = options::<Misses>(&format!("--sizes {sizes}"));
    run::<Misses>(Options { ways, ..sizes }, graph).expect("a readable graph")
}

/// Contexts that allocate, access and free; instructions at lines of their own.
fn random_graph(seed: u64) -> Graph {
    let [exchange, copy] =
        [(OpKind::Rmw, 4), (OpKind::Copy, 0)].map(|op| MemOp::new(op.0, op.1, 0));
    let kinds = [MemOp::load(8), MemOp::store(16), exchange, copy];
    let ops: Vec<MemOp> = kinds.into_iter().cycle().take(12).collect();
    let address = |random: &mut Rng| HEAP + random.u64(..70_000);
    graph(random(seed, &Shape { ops: &ops, address, heap: true, tasks: 60 }))
}

/// Misses of one cache by (line, op kind) of the instruction, and by line of the allocating call (0
/// outside).
fn brute_force(graph: &Graph, size: u64, ways: Ways) -> (BTreeMap<u32, u64>, BTreeMap<u32, u64>) {
    let mut lists = Lists::new(size / 64, ways);
    let mut live: Vec<(u64, u64, u32)> = Vec::new();
    let (mut by_line, mut by_site) = (BTreeMap::new(), BTreeMap::new());
    let mut last: BTreeMap<ContextId, BlockId> = BTreeMap::new();
    for task in graph.tasks() {
        let task = task.expect("readable");
        task.for_each_action(|action| match action {
            Action::Block(block) => {
                last.insert(task.id().context, block.id());
                block.for_each_access(|access| {
                    for line in access.addr / 64..(access.addr + access.size).div_ceil(64) {
                        if !lists.hits(line) {
                            let first = access.addr.max(line * 64);
                            let site = live
                                .iter()
                                .find(|(start, size, _)| (*start..start + size).contains(&first));
                            *by_line
                                .entry(graph.info().op(access.op).expect("known").line)
                                .or_default() += 1;
                            *by_site.entry(site.map_or(0, |site| site.2)).or_default() += 1;
                        }
                    }
                });
            }
            Action::Alloc { addr, size, .. } => {
                let block = graph.info().block(last[&task.id().context]).expect("known");
                live.push((addr, size, block.call.as_ref().expect("a call").line));
            }
            Action::Free { addr } => live.retain(|(start, ..)| *start != addr),
            _ => {}
        })
        .expect("readable");
    }
    (by_line, by_site)
}

#[test]
fn every_instruction_and_site_has_the_misses_of_a_simulation_of_each_cache() {
    for seed in 1..12 {
        let graph = random_graph(seed);
        for ways in [Ways::Full, Ways::Set(1), Ways::Set(4)] {
            let report = report(&graph, "512,1K..32K", ways);
            for (at, &size) in report.sizes.iter().enumerate() {
                let (by_line, by_site) = brute_force(&graph, size, ways);
                let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
                for row in report.instructions.iter().filter(|row| row.misses[at] > 0) {
                    *lines.entry(row.place.line).or_default() += row.misses[at];
                }
                assert_eq!(lines, by_line, "seed {seed}, {size} bytes, {ways:?}");
                let misses = |row: &contech_backends::misses::Site| {
                    (row.site.as_ref().map_or(0, |site| site.place.line), row.misses[at])
                };
                let sites: BTreeMap<u32, u64> =
                    report.sites.iter().map(misses).filter(|row| row.1 > 0).collect();
                assert_eq!(sites, by_site, "seed {seed}, {size} bytes, {ways:?}");
            }
        }
    }
}

#[test]
fn a_length_is_a_claim_that_costs_nothing() {
    let mut b = GraphBuilder::new();
    let fill = b.block("fill", "f.c", 7, &[MemOp::new(OpKind::Set, 0, 0)]);
    let load = b.block("load", "f.c", 9, &[MemOp::load(8)]);
    let main = b.context("main");
    let (start, length) = (0x1000_0000, 1 << 46);
    b.work(main, 0, 1, |w| w.block(load, &[start]));
    let contexts = [main, b.create(main)];
    for context in contexts {
        b.work(context, 1, 10, |w| {
            w.block(fill, &[start, length]);
            w.block(fill, &[start + 64, 128]);
            w.block(load, &[start + (1 << 40)]);
        });
    }
    let graph = graph(b);
    let report = report(&graph, "1K,32K", Ways::Full);
    let rows = report.instructions.iter();
    let rows: Vec<_> = rows.map(|row| (row.access, row.accesses, &row.misses[..])).collect();
    assert_eq!(rows, [("fill", 2 * 3, &[2; 2][..]), ("read", 3, &[2; 2])]);
    for (command, looked_up) in
        [("cache", Some("/points/0/accesses")), ("sharing", None), ("memuse", None)]
    {
        let answer = answer(command, &[], &graph).expect("an answer");
        let data: Value = serde_json::from_str(&answer).expect("data");
        let found = looked_up.map(|place| data.pointer(place).and_then(Value::as_u64));
        assert!(found.is_none_or(|found| found == Some(9)), "{command}: {found:?}");
        let footprint = data.get("footprint_bytes").and_then(Value::as_u64);
        assert!(footprint.is_none_or(|bytes| bytes == 4 * 64), "{footprint:?}");
    }
}

#[test]
fn an_array_that_is_swept_again_and_again_fits_in_a_cache_of_its_size() {
    let mut b = GraphBuilder::new();
    let sweep = b.block("sweep", "s.c", 7, &[MemOp::load(8)]);
    let stream = b.block("stream", "s.c", 9, &[MemOp::load(8)]);
    let main = b.context("main");
    b.work(main, 0, 10, |w| {
        for _ in 0..20 {
            (0..1536).for_each(|i| w.block(sweep, &[0x10_0000 + 8 * i])); // 12 KB
        }
        (0..20_000).for_each(|i| w.block(stream, &[0x100_0000 + 64 * i]));
    });
    let report = report(&graph(b), "1K..1M", Ways::Full);
    let fits = |name: &str| {
        report.instructions.iter().find(|row| row.place.function == name).expect("known").fits
    };
    assert_eq!((fits("sweep"), fits("stream")), (Some(16 << 10), None));
}

#[test]
fn curves_of_the_same_pass_are_those_of_cache_and_change_no_misses() {
    for seed in 1..8 {
        let graph = random_graph(seed);
        for sample in [None, Some(0.5)] {
            let curves = || cache::Options { sample, ..options::<Cache>("--sizes 2K..64K") };
            let sizes = || options::<Misses>("--sizes 1K,4K,6K,1M");
            let misses = |curves| Options { sample, curves, ..sizes() };
            let both = run::<Misses>(misses(Some(curves())), &graph).expect("readable");
            let alone = run::<Misses>(misses(None), &graph).expect("readable");
            assert_eq!(json(&both), json(&alone), "seed {seed}, {sample:?}");
            let alone = run::<Cache>(curves(), &graph).expect("readable");
            let both = both.curves.expect("asked for");
            assert_eq!(json(&both), json(&alone), "seed {seed}, {sample:?}");
        }
    }
}
