//! Every number of the one-pass cache model against a simulator that does one cache at a time the
//! obvious way.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use crate::graphs::{found, options};
use contech_backends::analysis::{Graph, run};
use contech_backends::cache::{
    self, Cache, CacheModel, Geometries, Geometry, Options, RecencyGroups, Sample, Ways,
};
use contech_backends::misses::Misses;
use fastrand::Rng;
use taskgraph::MemOp;
use taskgraph::builder::GraphBuilder;

/// The obvious simulator: one list per set, most recent first.
pub(crate) struct Lists {
    lists: Vec<Vec<u64>>,
    ways: usize,
}

impl Lists {
    pub(crate) fn new(lines: u64, ways: Ways) -> Self {
        let (sets, ways) = match ways {
            Ways::Set(ways) => (lines / u64::from(ways), ways as usize),
            Ways::Full => (1, lines as usize),
        };
        Self { lists: vec![Vec::new(); sets as usize], ways }
    }

    /// Accesses a line; whether it was there.
    pub(crate) fn hits(&mut self, line: u64) -> bool {
        let sets = self.lists.len() as u64;
        let list = &mut self.lists[(line % sets) as usize];
        let found = list.iter().position(|&known| known == line);
        found.map(|at| list.remove(at));
        list.insert(0, line);
        list.truncate(self.ways);
        found.is_some()
    }
}

fn brute_force(geometry: &Geometry, line_shift: u32, stream: &[(u64, u64)]) -> (u64, u64) {
    let mut lists = Lists::new(geometry.lines, geometry.ways);
    let (mut accesses, mut misses) = (0, 0);
    for &(address, size) in stream.iter().filter(|(_, size)| *size > 0) {
        for line in address >> line_shift..=(address + (size - 1)) >> line_shift {
            accesses += 1;
            misses += u64::from(!lists.hits(line));
        }
    }
    (accesses, misses)
}

fn check(name: &str, sizes: &str, ways: &[Ways], line: &str, stream: &[(u64, u64)]) {
    let geometries = Geometries::new(&sizes.parse().unwrap(), ways, line.parse().unwrap()).unwrap();
    let mut model = CacheModel::new(&geometries);
    for &(address, size) in stream {
        model.access(address, size);
    }
    model.end();
    let lines: std::collections::HashSet<u64> = stream
        .iter()
        .filter(|(_, size)| *size > 0)
        .flat_map(|(address, size)| {
            address >> geometries.line_shift..=(address + (size - 1)) >> geometries.line_shift
        })
        .collect();
    if ways.contains(&Ways::Full) {
        assert_eq!(model.cold(), Some(lines.len() as u64), "{name}");
    }
    for geometry in &geometries.all {
        let expected = brute_force(geometry, geometries.line_shift, stream);
        assert_eq!((model.accesses(), model.misses(geometry)), expected, "{name}: {geometry:?}");
    }
}

const WAYS: [Ways; 6] =
    [Ways::Set(1), Ways::Set(2), Ways::Set(4), Ways::Set(8), Ways::Set(16), Ways::Full];

#[test]
fn uniform_random_accesses_of_all_alignments() {
    let mut random = Rng::with_seed(42);
    for spread in [500, 5_000, 60_000] {
        let stream: Vec<_> = (0..20_000)
            .map(|_| (random.u64(..spread), [1, 4, 8, 16, 100][random.u64(..5) as usize]))
            .collect();
        check("uniform", "1K..64K", &WAYS, "64", &stream);
    }
}

#[test]
fn a_list_walk_with_a_hot_stack_and_bulk_copies() {
    let mut random = Rng::with_seed(7);
    let mut stream = Vec::new();
    let mut node = 1;
    for step in 0..15_000u64 {
        node = (node * 1_103_515_245 + 12_345) % 4096;
        stream.push((0x7fff_0000 + step % 5 * 8, 8));
        stream.push((0x50_0000 + node * 48, 8));
        if step % 500 == 0 {
            let from = 0x90_0000 + random.u64(..10_000);
            stream.push((from, 3000));
            stream.push((from + 50_000, 3000));
        }
    }
    check("list", "1K..128K", &WAYS, "64", &stream);
    check(
        "list, odd ways",
        "48K",
        &[Ways::Set(3), Ways::Set(12), Ways::Set(24), Ways::Full],
        "32",
        &stream,
    );
}

#[test]
fn copies_longer_than_every_cache() {
    let mut random = Rng::with_seed(5);
    let size = |random: &mut Rng| match random.u64(..8) {
        0 => random.u64(..100_000),
        _ => 8,
    };
    let stream: Vec<_> = (0..2_000).map(|_| (random.u64(..200_000), size(&mut random))).collect();
    check("copies", "1K,2K,16K", &WAYS, "64", &stream);
    check("copies", "1K", &[Ways::Set(2), Ways::Full], "16", &stream);
}

#[test]
fn other_lines_and_single_configurations() {
    let mut random = Rng::with_seed(99);
    let stream: Vec<_> = (0..10_000).map(|_| (random.u64(..30_000), 8)).collect();
    for line in ["4", "16", "128", "4K"] {
        check("line", "4K..32K", &[Ways::Set(1), Ways::Full], line, &stream);
    }
    check("one", "8K", &[Ways::Set(4)], "64", &stream);
    check("full only", "2K,32K", &[Ways::Full], "64", &stream);
}

#[test]
fn accesses_of_no_bytes_and_at_the_end_of_memory_are_harmless() {
    let stream = [(64, 0), (u64::MAX - 3, 4), (0, 0), (u64::MAX - 3, 4)];
    check("edges", "1K", &WAYS, "64", &stream[..3]);
    let geometries = Geometries::new(&"1K".parse().unwrap(), &WAYS, "64".parse().unwrap()).unwrap();
    let mut model = CacheModel::new(&geometries);
    model.access(u64::MAX, 100);
    assert_eq!(model.accesses(), 1);
}

#[test]
fn the_smallest_cache_that_holds_a_line_is_that_of_its_place_in_a_list() {
    let mut random = Rng::with_seed(3);
    for capacities in [vec![1], vec![1, 2, 3], vec![4, 16, 17, 600, 5000], vec![700, 800]] {
        let mut groups = RecencyGroups::new(capacities.clone());
        let mut list: Vec<u64> = Vec::new();
        for step in 0..40_000u64 {
            let line = if step % 3 == 0 { random.u64(..3) } else { random.u64(..900) };
            let place = list.iter().position(|&known| known == line);
            place.map(|at| list.remove(at));
            list.insert(0, line);
            let expected = place.map(|at| capacities.partition_point(|&c| c <= at as u64));
            let found = groups.touch(line as u32 + 1);
            assert_eq!(found, expected, "step {step}, {capacities:?}");
        }
        assert_eq!(groups.lines(), list.len() as u64);
    }
}

/// A run with a hot part, a loop over some memory, accesses anywhere in other memory, and accesses
/// that span lines.
fn mixed(seed: u64) -> Graph {
    let mut random = Rng::with_seed(seed);
    let mut b = GraphBuilder::new();
    let blocks = [8, 16, 8].map(|bytes| b.block("f", "f.c", bytes, &[MemOp::load(bytes)]));
    let main = b.context("main");
    let (around, anywhere) = (1 << (14 + random.u64(..8)), 1 << (16 + random.u64(..7)));
    b.work(main, 0, 100_000, |w| {
        for step in 0..60_000 {
            w.block(blocks[0], &[0x100_0000 + random.u64(..1 << 12)]);
            w.block(blocks[1], &[0x800_0000 + step * 24 % around]);
            w.block(blocks[2], &[0x4000_0000 + random.u64(..anywhere)]);
        }
    });
    crate::graphs::graph(b)
}

#[test]
fn an_estimate_is_off_by_no_more_than_it_says() {
    for seed in 0..6 {
        let graph = mixed(seed);
        let points = |sample| {
            let all = options::<Cache>("--sizes 1K..16M --ways full");
            let options = Options { sample, ..all };
            run::<Cache>(options, &graph).expect("a readable graph")
        };
        let exact = points(None);
        assert_eq!(exact.error, None);
        let all = points(Some(1.0));
        assert_eq!(all.points, exact.points, "a sample of all is exact");
        for rate in [0.5, 0.25, 0.0625] {
            let estimate = points(Some(rate));
            let said = estimate.error.expect("an estimate says its error");
            assert!(said < 0.2, "seed {seed}, rate {rate}: {said} says nothing");
            let line = format!("--sizes 1K..16M --sample {rate}");
            let by_instruction = found::<Misses>(&line, &graph);
            assert_eq!(by_instruction.points, estimate.points, "seed {seed}");
            for (at, point) in estimate.points.iter().enumerate() {
                let rows = by_instruction.instructions.iter();
                let sum: u64 = rows.map(|row| row.misses[at]).sum();
                assert!(sum.abs_diff(point.misses) <= 3, "seed {seed}: {point:?}");
            }
            for (a, b) in exact.points.iter().zip(&estimate.points) {
                // A tenth of the look-ups are of further lines of an access, which are estimated.
                let looked_up = a.accesses.abs_diff(b.accesses) as f64 / a.accesses as f64;
                assert!(looked_up < 0.03, "seed {seed}, rate {rate}: {a:?}, {b:?}");
                let rate_of = |point: &cache::Point| point.misses as f64 / point.accesses as f64;
                let off = (rate_of(a) - rate_of(b)).abs();
                let rough = (a.size / 64) as f64 * rate < 16.0;
                assert!(rough || off <= said, "seed {seed}, rate {rate}, {said}: {a:?}, {b:?}");
            }
        }
    }
}

#[test]
fn a_report_looks_at_all_lines_of_a_run_with_few_accesses() {
    let rates =
        [0, 1 << 24, (1 << 24) + 2, 1 << 26, u64::MAX].map(|n| Sample::within(n, 1 << 24).rate());
    assert_eq!(rates, [None, None, Some(0.5), Some(0.25), Some(1.0 / 32.0)]);
}
