//! Live heap and working set against the obvious bookkeeping over the same actions.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::collections::{BTreeMap, BTreeSet};

use crate::graphs::random::{Shape, random};
use crate::graphs::{found, graph};
use crate::samples::calls;
use contech_backends::analysis::Graph;
use contech_backends::memuse::{MemUse, Report};
use fastrand::Rng;
use taskgraph::builder::{GraphBuilder, WorkBuilder};
use taskgraph::{Action, AllocKind, Block, BlockId, MemOp};

fn report(graph: &Graph, points: u32) -> Report {
    found::<MemUse>(&format!("--points {points}"), graph)
}

fn random_graph(seed: u64) -> Graph {
    let address = |random: &mut Rng| 0x4000 + random.u64(..100_000);
    graph(random(seed, &Shape { ops: &[MemOp::load(8)], address, heap: true, tasks: 20 }))
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
        // By stretch: the lines that are touched, and the most bytes.
        let mut stretches: BTreeMap<u64, (BTreeSet<u64>, u64)> = BTreeMap::new();
        // A block and its accesses, or an allocation or free.
        let see = |action: &Action<'_>| match *action {
            Action::Block(block) => (Some(block.id()), block.accesses().collect(), (0, None)),
            Action::Alloc { addr, size, .. } => (None, Vec::new(), (addr, Some(size))),
            Action::Free { addr } => (None, Vec::new(), (addr, None)),
            _ => (None, Vec::new(), (0, None)),
        };
        crate::by_time::by_time(&graph, 0, see, |context, time, seen| {
            let (lines, most) = stretches.entry(time / length).or_default();
            match seen {
                (Some(block), accesses, _) => {
                    last.insert(context, block);
                    for access in accesses {
                        lines.extend(access.addr / 64..(access.addr + access.size).div_ceil(64));
                    }
                }
                (None, _, (addr, Some(size))) => {
                    let site = graph.info().block(last[&context]).expect("known");
                    let line = site.call.as_ref().expect("a call").line;
                    assert_eq!(live.insert(addr, (size, line)), None);
                }
                (None, _, (0, None)) => {}
                (None, _, (addr, None)) => drop(live.remove(&addr).expect("live")),
            }
            let bytes: u64 = live.values().map(|row| row.0).sum();
            *most = bytes.max(*most);
            if bytes > peak.0 {
                peak = (bytes, time);
                at_peak.clear();
                live.values().for_each(|&(size, site)| *at_peak.entry(site).or_insert(0) += size);
            }
        })
        .expect("readable");
        let end: u64 = live.values().map(|row| row.0).sum();
        let found = [report.peak_bytes, report.peak_ns, report.end_bytes];
        assert_eq!(found, [peak.0, peak.1, end], "seed {seed}");
        at_peak.retain(|_, bytes| *bytes > 0);
        let sites = report.sites.iter().map(|row| (row.site.place.line, row.peak_bytes));
        let held: BTreeMap<u32, u64> = sites.filter(|row| row.1 > 0).collect();
        assert_eq!(held, at_peak, "seed {seed}");
        for (at, found) in (0..).zip(&report.stretches) {
            let (lines, most) = stretches.get(&at).cloned().unwrap_or_default();
            let pages: BTreeSet<u64> = lines.iter().map(|line| line / 64).collect();
            let expected = (lines.len() as u64, pages.len() as u64);
            assert_eq!((found.lines, found.pages), expected, "seed {seed}, stretch {at}");
            assert!(found.heap_bytes >= most, "seed {seed}, stretch {at}");
        }
        let all: BTreeSet<u64> = stretches.into_values().flat_map(|stretch| stretch.0).collect();
        assert_eq!(report.footprint_bytes, 64 * all.len() as u64, "seed {seed}");
        let most = report.stretches.iter().map(|stretch| stretch.heap_bytes).max();
        assert_eq!(most, Some(peak.0), "seed {seed}");
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

/// A library's function allocates for two lines of the program, and a wrapper for two others; a
/// function that calls itself has one origin.
#[test]
fn allocations_have_the_programs_lines_and_the_calls_above_them() {
    let mut b = GraphBuilder::new();
    let mut block = |function: &str, file: &str, line, flags, callee: &str| {
        let id = b.block(function, file, line, &[]);
        b.info_mut().blocks[id.index()].flags = flags;
        if !callee.is_empty() {
            calls(&mut b, id, callee, line);
        }
        id
    };
    const HEADER: &str = "/usr/include/c++/12/bits/vector.tcc";
    let begins = block("main", "main.cpp", 10, Block::ENTRY, "");
    let [one, two] = [12, 20].map(|line| block("main", "main.cpp", line, 0, "vector::push_back"));
    let grow = block("vector::push_back", HEADER, 137, Block::ENTRY, "operator new");
    let grown = block("vector::push_back", HEADER, 138, Block::RETURN, "");
    let [first, second] = [30, 31].map(|line| block("main", "main.cpp", line, 0, "take"));
    let take = block("take", "util.cpp", 9, Block::ENTRY, "malloc");
    let taken = block("take", "util.cpp", 10, Block::RETURN, "");
    let tree = block("tree", "tree.cpp", 5, Block::ENTRY, "tree");
    let leaf = block("tree", "tree.cpp", 6, 0, "malloc");
    let up = block("tree", "tree.cpp", 7, Block::RETURN, "");
    let plant = block("main", "main.cpp", 40, 0, "tree");
    let main = b.context("main");
    let mut next = 0x1000;
    b.work(main, 0, 1000, |w| {
        let mut allocate = |w: &mut WorkBuilder, size| {
            w.alloc(next, size, AllocKind::Malloc);
            next += 0x1000;
        };
        w.block(begins, &[]);
        for (line, way, size) in [
            (one, [grow, grown], 64),
            (two, [grow, grown], 8),
            (one, [grow, grown], 64),
            (first, [take, taken], 100),
            (second, [take, taken], 200),
        ] {
            w.block(line, &[]);
            w.block(way[0], &[]);
            allocate(w, size);
            w.block(way[1], &[]);
        }
        for depth in 1..4 {
            w.block(plant, &[]);
            (0..depth).for_each(|_| w.block(tree, &[]));
            w.block(leaf, &[]);
            allocate(w, 16);
            (0..depth).for_each(|_| w.block(up, &[]));
        }
    });
    let report = report(&graph(b), 10);
    let mut found: Vec<_> = report
        .sites
        .iter()
        .map(|row| {
            let site = &row.site;
            let callers: Vec<String> = site.callers.iter().map(|place| place.short()).collect();
            let words = [site.place.short(), site.callee.clone(), site.allocator.clone()];
            (words.join(" "), callers.join(" "), site.allocations, row.peak_bytes)
        })
        .collect();
    found.sort();
    let row = |words: &str, callers: &str, times, bytes| {
        (words.to_owned(), callers.to_owned(), times, bytes)
    };
    let expected = [
        row("main.cpp:12 vector::push_back operator new", "", 2, 128),
        row("main.cpp:20 vector::push_back operator new", "", 1, 8),
        row("tree.cpp:6 malloc malloc", "main.cpp:40", 3, 48),
        row("util.cpp:9 malloc malloc", "main.cpp:30", 1, 100),
        row("util.cpp:9 malloc malloc", "main.cpp:31", 1, 200),
    ];
    assert_eq!(found, expected);
}
