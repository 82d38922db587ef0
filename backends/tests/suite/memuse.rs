//! Live heap and working set against the obvious bookkeeping over the same actions.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::collections::{BTreeMap, BTreeSet};

use crate::graphs::found;
use crate::samples::{calls, graph};
use contech_backends::analysis::Graph;
use contech_backends::memuse::{MemUse, Report};
use fastrand::Rng;
use taskgraph::builder::GraphBuilder;
use taskgraph::{Action, AllocKind, BlockId, ContextId, MemOp};

fn report(graph: &Graph, points: u32) -> Report {
    found::<MemUse>(&format!("--points {points}"), graph)
}

fn random_graph(seed: u64) -> Graph {
    let mut random = Rng::with_seed(seed);
    let mut b = GraphBuilder::new();
    let load = b.block("f", "m.c", 3, &[MemOp::load(8)]);
    let sites: Vec<BlockId> = (0..4).map(|i| b.block("make", "m.c", 10 + i, &[])).collect();
    for (&block, line) in sites.iter().zip(20..) {
        calls(&mut b, block, "malloc", line);
    }
    let main = b.context("main");
    b.work(main, 0, 1, |_| {});
    let contexts: Vec<ContextId> =
        (0..3).map(|i| if i == 0 { main } else { b.create(main) }).collect();
    let mut next = 0x10_0000;
    for &context in &contexts {
        let (mut clock, mut own) = (random.u64(..100), Vec::new());
        for _ in 0..6 {
            let length = 1 + random.u64(..5000);
            b.work(context, clock, clock + length, |w| {
                for _ in 0..random.u64(..80) {
                    match random.u64(..4) {
                        0 => {
                            w.block(sites[random.u64(..4) as usize], &[]);
                            let size = random.u64(..3000);
                            w.alloc(next, size, AllocKind::Malloc);
                            own.push(next);
                            next += size.max(1).next_multiple_of(16);
                        }
                        1 if !own.is_empty() => {
                            w.free(own.swap_remove(random.u64(..own.len() as u64) as usize))
                        }
                        _ => w.block(load, &[0x4000 + random.u64(..100_000)]),
                    }
                }
            });
            clock += length + random.u64(..300);
        }
    }
    graph(b)
}

#[test]
fn heap_peak_sites_and_working_set_equal_plain_bookkeeping() {
    for seed in 1..30 {
        let graph = random_graph(seed);
        let report = report(&graph, 16);
        let length = graph.summary().duration_ns.div_ceil(16);
        let mut live: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
        let mut last: BTreeMap<u32, BlockId> = BTreeMap::new();
        let (mut peak, mut at_peak) = ((0, 0), BTreeMap::new());
        let mut lines: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let mut most: BTreeMap<u64, u64> = BTreeMap::new();
        // A block and its accesses, or an allocation or free.
        let see = |action: &Action<'_>| match *action {
            Action::Block(block) => (Some(block.id()), block.accesses().collect(), (0, None)),
            Action::Alloc { addr, size, .. } => (None, Vec::new(), (addr, Some(size))),
            Action::Free { addr } => (None, Vec::new(), (addr, None)),
            _ => (None, Vec::new(), (0, None)),
        };
        crate::by_time::by_time(&graph, 0, see, |context, time, seen| {
            match seen {
                (Some(block), accesses, _) => {
                    last.insert(context, block);
                    for access in accesses {
                        lines
                            .entry(time / length)
                            .or_default()
                            .extend(access.addr / 64..(access.addr + access.size).div_ceil(64));
                    }
                }
                (None, _, (addr, Some(size))) => {
                    let site = graph
                        .info()
                        .block(last[&context])
                        .expect("known")
                        .call
                        .as_ref()
                        .expect("a call")
                        .line;
                    assert_eq!(live.insert(addr, (size, site)), None);
                }
                (None, _, (0, None)) => {}
                (None, _, (addr, None)) => drop(live.remove(&addr).expect("live")),
            }
            let bytes: u64 = live.values().map(|row| row.0).sum();
            let entry = most.entry(time / length).or_default();
            *entry = (*entry).max(bytes);
            if bytes > peak.0 {
                peak = (bytes, time);
                at_peak.clear();
                live.values().for_each(|&(size, site)| *at_peak.entry(site).or_insert(0) += size);
            }
        })
        .expect("readable");
        assert_eq!((report.peak_bytes, report.peak_ns), peak, "seed {seed}");
        assert_eq!(report.end_bytes, live.values().map(|row| row.0).sum::<u64>(), "seed {seed}");
        let held = report
            .sites
            .iter()
            .map(|row| (row.site.place.line, row.peak_bytes))
            .filter(|row| row.1 > 0);
        assert_eq!(
            held.collect::<BTreeMap<_, _>>(),
            at_peak.into_iter().filter(|row| row.1 > 0).collect(),
            "seed {seed}"
        );
        for (at, stretch) in report.stretches.iter().enumerate() {
            let at = at as u64;
            let touched = lines.get(&at).cloned().unwrap_or_default();
            let pages: BTreeSet<u64> = touched.iter().map(|line| line / 64).collect();
            assert_eq!(
                (stretch.lines, stretch.pages),
                (touched.len() as u64, pages.len() as u64),
                "seed {seed}, stretch {at}"
            );
            assert!(
                stretch.heap_bytes >= most.get(&at).copied().unwrap_or(0),
                "seed {seed}, stretch {at}"
            );
        }
        let all: BTreeSet<u64> = lines.into_values().flatten().collect();
        assert_eq!(report.footprint_bytes, 64 * all.len() as u64, "seed {seed}");
        assert_eq!(
            report.stretches.iter().map(|stretch| stretch.heap_bytes).max(),
            Some(peak.0),
            "seed {seed}"
        );
    }
}

#[test]
fn a_leak_shows_at_the_end_and_mapped_memory_apart() {
    let mut b = GraphBuilder::new();
    let site = b.block("leak", "m.c", 5, &[]);
    let main = b.context("main");
    b.work(main, 0, 1000, |w| {
        w.map(0x1_0000, 8192);
        for i in 0..10 {
            w.block(site, &[]);
            w.alloc(0x10_0000 + 1000 * i, 100, AllocKind::Malloc);
        }
        (0..4).for_each(|i| w.free(0x10_0000 + 1000 * i));
        w.unmap(0x1_0000, 4096);
    });
    let report = report(&graph(b), 10);
    assert_eq!(
        (report.peak_bytes, report.end_bytes, report.allocations, report.frees),
        (1000, 600, 10, 4)
    );
    let row = &report.sites[0];
    assert_eq!(
        (row.site.place.line, row.peak_bytes, row.most_bytes, row.end_bytes),
        (5, 1000, 1000, 600)
    );
    assert_eq!(report.stretches.first().map(|stretch| stretch.mapped_bytes), Some(8192));
    assert_eq!(
        report.stretches.last().map(|stretch| stretch.mapped_bytes),
        Some(8192),
        "most in the stretch"
    );
}
