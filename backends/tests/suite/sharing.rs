//! Sharing and communication against a simulation that keeps the history of every byte, and on
//! planted cases.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::collections::BTreeMap;

use crate::graphs::found;
use crate::graphs::random::{Shape, random};
use crate::samples::{calls, graph};
use contech_backends::analysis::Graph;
use contech_backends::sharing::{Report, Sharing};
use fastrand::Rng;
use taskgraph::builder::GraphBuilder;
use taskgraph::{Access, Action, AllocKind, ContextId, MemOp};

fn report(graph: &Graph, line: &str, slice: u64) -> Report {
    found::<Sharing>(&format!("--line {line} --slice {slice}"), graph)
}

/// Contexts that share a few lines.
fn random_graph(seed: u64) -> Graph {
    let ops: Vec<MemOp> =
        [1, 2, 4, 8, 16].into_iter().flat_map(|n| [MemOp::load(n), MemOp::store(n)]).collect();
    let address = |random: &mut Rng| 0x1000 + random.u64(..300);
    graph(random(seed, &Shape { ops: &ops, address, heap: false, tasks: 16 }))
}

/// All accesses in the order the analysis sees them.
fn accesses(graph: &Graph, slice: u64) -> Vec<(u32, Access)> {
    let mut all = Vec::new();
    let see = |action: &Action<'_>| match action {
        Action::Block(block) => block.accesses().collect(),
        _ => Vec::new(),
    };
    crate::by_time::by_time(graph, slice, see, |context, _, seen: Vec<Access>| {
        all.extend(seen.into_iter().map(|access| (context, access)));
    })
    .expect("readable");
    all
}

#[derive(Default)]
struct Expected {
    /// (line address, source line of the miss) to (true, false) misses.
    misses: BTreeMap<(u64, u32), (u64, u64)>,
    matrix: BTreeMap<(u32, u32), u64>,
    cold: u64,
}

/// The definition, from the history of every byte: when it was written last and by whom.
fn brute_force(graph: &Graph, line: u64, slice: u64) -> Expected {
    let mut expected = Expected::default();
    let mut written: BTreeMap<u64, (usize, u32)> = BTreeMap::new();
    let mut read: BTreeMap<(u32, u64), usize> = BTreeMap::new();
    // By context and line: whether it has the line, when it last got news, and its open miss.
    let mut copies: BTreeMap<(u32, u64), (bool, usize, Option<u32>)> = BTreeMap::new();
    for (now, (context, access)) in (1..).zip(accesses(graph, slice)) {
        let source = graph.info().op(access.op).expect("known").line;
        for at in access.addr / line..(access.addr + access.size).div_ceil(line) {
            let end = (access.addr + access.size).min((at + 1) * line);
            let bytes = access.addr.max(at * line)..end;
            let mut count = |source: u32, useful: bool| {
                let entry = expected.misses.entry((at * line, source)).or_default();
                *(if useful { &mut entry.0 } else { &mut entry.1 }) += 1;
            };
            let (has, since, open) = copies.entry((context, at)).or_insert_with(|| {
                expected.cold += 1;
                (true, now, None)
            });
            if !std::mem::replace(has, true) {
                *open = Some(source);
            }
            let is_news = |&(when, who): &(usize, u32)| who != context && when > *since;
            if bytes.clone().any(|byte| written.get(&byte).is_some_and(is_news)) {
                *since = now;
                open.take().into_iter().for_each(|missed| count(missed, true));
            }
            for byte in bytes {
                if access.write {
                    written.insert(byte, (now, context));
                    continue;
                }
                let seen = read.insert((context, byte), now).unwrap_or(0);
                if let Some(&(when, who)) = written.get(&byte)
                    && who != context
                    && when > seen
                {
                    *expected.matrix.entry((who, context)).or_default() += 1;
                }
            }
            let others =
                copies.iter_mut().filter(|((who, line), _)| *who != context && *line == at);
            for (_, (has, _, open)) in others.filter(|_| access.write) {
                *has = false;
                open.take().into_iter().for_each(|missed| count(missed, false));
            }
        }
    }
    for ((_, at), (.., open)) in copies {
        if let Some(missed) = open {
            expected.misses.entry((at * line, missed)).or_default().1 += 1;
        }
    }
    expected
}

#[test]
fn misses_and_communication_equal_those_of_the_history_of_every_byte() {
    let mut seen = (0, 0, 0);
    for seed in 1..40 {
        let graph = random_graph(seed);
        if graph.summary().accesses == 0 {
            continue;
        }
        for (line, slice) in [(32, 0), (64, 0), (128, 30), (8, 100)] {
            let report = report(&graph, &line.to_string(), slice);
            let expected = brute_force(&graph, line, slice);
            let mut misses: BTreeMap<(u64, u32), (u64, u64)> = BTreeMap::new();
            for row in &report.lines {
                for source in &row.sources {
                    let entry = misses.entry((row.line, source.b.line)).or_default();
                    *entry = (entry.0 + source.true_misses, entry.1 + source.false_misses);
                }
            }
            assert_eq!(misses, expected.misses, "seed {seed}, line {line}, slice {slice}");
            let mut matrix: BTreeMap<(u32, u32), u64> = BTreeMap::new();
            for (&writer, row) in report.executors.iter().zip(&report.matrix) {
                let read = report.executors.iter().zip(row).filter(|(_, bytes)| **bytes > 0);
                matrix.extend(read.map(|(&reader, &bytes)| ((writer, reader), bytes)));
            }
            assert_eq!(matrix, expected.matrix, "seed {seed}, line {line}, slice {slice}");
            let total = report.totals[0];
            let sums =
                expected.misses.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
            assert_eq!(
                (total.cold, total.true_misses, total.false_misses),
                (Some(expected.cold), sums.0, sums.1),
                "seed {seed}"
            );
            let by_source: u64 = report.sources.iter().map(|row| row.misses).sum();
            let by_site: u64 = report.sites.iter().map(|row| row.misses).sum();
            assert_eq!((by_source, by_site), (sums.0 + sums.1, sums.0 + sums.1), "seed {seed}");
            seen = (seen.0 + sums.0, seen.1 + sums.1, seen.2 + matrix.len());
        }
    }
    assert!(seen.0 > 1000 && seen.1 > 1000 && seen.2 > 100, "the graphs share little: {seen:?}");
}

#[test]
fn several_line_sizes_at_once_are_the_same_as_one_by_one() {
    let graph = random_graph(5);
    let together = report(&graph, "32,64,128", 50);
    for (total, line) in together.totals.iter().zip(["32", "64", "128"]) {
        assert_eq!(*total, report(&graph, line, 50).totals[0]);
    }
}

/// Two contexts, each in one task at the same time: `one` and `two` are what they execute, a
/// thousand times.
fn pair(
    one: impl Fn(u64) -> u64,
    two: impl Fn(u64) -> u64,
    second: MemOp,
) -> (GraphBuilder, ContextId) {
    let mut b = GraphBuilder::new();
    let write = b.block("producer", "p.c", 10, &[MemOp::store(8)]);
    let other = b.block("consumer", "p.c", 20, &[second]);
    let setup = b.block("setup", "p.c", 5, &[]);
    calls(&mut b, setup, "malloc", 6);
    let main = b.context("main");
    b.work(main, 0, 10, |w| {
        w.block(setup, &[]);
        w.alloc(0x1000, 4096, AllocKind::Malloc);
    });
    let child = b.create(main);
    b.work(child, 1000, 1_001_000, |w| (0..1000).for_each(|i| w.block(other, &[two(i)])));
    b.work(main, 1000, 1_001_000, |w| (0..1000).for_each(|i| w.block(write, &[one(i)])));
    (b, child)
}

#[test]
fn two_counters_in_one_line_are_false_sharing_and_padding_ends_it() {
    let (b, _) = pair(|_| 0x1000, |_| 0x1020, MemOp::store(8));
    let graph = graph(b);
    let found = report(&graph, "32,64,128", 0);
    assert_eq!(found.totals[0].false_misses, 0, "32-byte lines keep them apart");
    let row = &found.lines[0];
    assert_eq!(
        (row.line, row.is_false, row.executors, row.allocation.as_deref()),
        (0x1000, true, 2, Some("p.c:6"))
    );
    assert!(row.misses > 1900 && row.true_misses == 0, "{row:?}");
    assert_eq!(row.sources.len(), 2);
    assert_eq!(found.matrix, [[0, 0], [0, 0]], "nobody reads");
}

#[test]
fn a_value_passed_on_is_true_sharing() {
    let (b, child) = pair(|_| 0x1000, |_| 0x1000, MemOp::load(8));
    let found = report(&graph(b), "64", 0);
    let row = &found.lines[0];
    assert!(!row.is_false && row.false_misses == 0 && row.misses > 900, "{row:?}");
    assert_eq!((row.sources[0].a.line, row.sources[0].b.line), (10, 20));
    assert_eq!(found.executors, [0, child.get()]);
    assert!(
        (7900..=8000).contains(&found.matrix[0][1]) && found.matrix[1][0] == 0,
        "{:?}",
        found.matrix
    );
}

#[test]
fn memory_that_another_task_has_freed_is_not_shared_with_it() {
    let mut b = GraphBuilder::new();
    let write = b.block("body", "p.c", 10, &[MemOp::store(8)]);
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    let child = b.create(main);
    // The child had no processor until the main thread had freed the memory: by time, both have it
    // at once.
    for (context, begin) in [(main, 1000), (child, 2000)] {
        b.work(context, begin, begin + 100_000, |w| {
            w.alloc(0x1000, 4096, AllocKind::Malloc);
            (0..1000).for_each(|_| w.block(write, &[0x1000]));
            w.free(0x1000);
        });
    }
    let found = report(&graph(b), "64", 0);
    assert_eq!(found.totals[0].true_misses, 0);
    assert!(found.totals[0].false_misses <= 1, "{:?}", found.totals[0]);
}

/// Two contexts add eight times to so many lines in order, twelve times, each for `length` ns from
/// `begins(time, context)` on. Until then they are busy with something else.
fn passes(lines: u64, length: u64, begins: impl Fn(u64, u64) -> u64) -> Graph {
    let mut b = GraphBuilder::new();
    let add = b.block("add", "s.c", 7, &[MemOp::load(8), MemOp::store(8)]);
    let main = b.context("main");
    b.work(main, 0, 1, |_| {});
    let other = b.create(main);
    let mut ends = [1, 1];
    for time in 0..12 {
        for (number, context) in [(0, main), (1, other)] {
            let from = 100 + begins(time, number);
            let busy_from = std::mem::replace(&mut ends[number as usize], from + length);
            b.work(context, busy_from, from, |_| {});
            b.work(context, from, from + length, |w| {
                for line in 0..8 {
                    let address = 0x10000 + 64 * (line % lines);
                    w.block(add, &[address, address]);
                }
            });
        }
    }
    graph(b)
}

#[test]
fn lines_that_are_handed_over_in_order_are_fetched_ahead_and_not_fought_for() {
    let handed = passes(8, 4000, |time, number| 5000 * (2 * time + number));
    let total = report(&handed, "64", 100).totals[0];
    // The other's first pass is cold; each pass after it misses on eight lines, and the first has
    // no neighbour yet.
    assert_eq!((total.misses(), total.ahead), (22 * 8, 22 * 7));
    assert_eq!(total.contested, 0);
    let fought_for = passes(1, 400, |time, _| 500 * time);
    let total = report(&fought_for, "64", 100).totals[0];
    assert!(total.contested > total.misses() / 2, "{total:?}");
    assert_eq!(total.ahead, 0, "there is no neighbour");
}
