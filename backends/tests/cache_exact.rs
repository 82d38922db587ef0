//! Every number of the one-pass cache model against a simulator that does one cache at a time the obvious way.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use contech_backends::cache::{CacheModel, Geometries, Geometry, RecencyStack, SampledModel, Ways};

/// The obvious simulator: one list per set, most recent first.
fn brute_force(geometry: &Geometry, line_shift: u32, stream: &[(u64, u64)]) -> (u64, u64) {
    let (sets, ways) = match geometry.ways {
        Ways::Set(ways) => (geometry.lines / u64::from(ways), ways as usize),
        Ways::Full => (1, geometry.lines as usize),
    };
    let mut lists: Vec<Vec<u64>> = vec![Vec::new(); sets as usize];
    let (mut accesses, mut misses) = (0, 0);
    for &(address, size) in stream.iter().filter(|(_, size)| *size > 0) {
        for line in address >> line_shift..=(address + (size - 1)) >> line_shift {
            accesses += 1;
            let list = &mut lists[(line % sets) as usize];
            match list.iter().position(|&known| known == line) {
                Some(at) => drop(list.remove(at)),
                None => misses += 1,
            }
            list.insert(0, line);
            list.truncate(ways);
        }
    }
    (accesses, misses)
}

/// Xorshift: the same numbers on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn check(name: &str, sizes: &str, ways: &[Ways], line: &str, stream: &[(u64, u64)]) {
    let geometries = Geometries::new(&sizes.parse().unwrap(), ways, line.parse().unwrap()).unwrap();
    let mut model = CacheModel::new(&geometries);
    for &(address, size) in stream {
        model.access(address, size);
    }
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
        assert_eq!(
            (model.accesses(), model.misses(geometry)),
            expected,
            "{name}: {geometry:?}"
        );
    }
}

const WAYS: [Ways; 6] = [
    Ways::Set(1),
    Ways::Set(2),
    Ways::Set(4),
    Ways::Set(8),
    Ways::Set(16),
    Ways::Full,
];

#[test]
fn uniform_random_accesses_of_all_alignments() {
    let mut random = Random(42);
    for spread in [500, 5_000, 60_000] {
        let stream: Vec<_> = (0..20_000)
            .map(|_| {
                (
                    random.below(spread),
                    [1, 4, 8, 16, 100][random.below(5) as usize],
                )
            })
            .collect();
        check("uniform", "1K..64K", &WAYS, "64", &stream);
    }
}

#[test]
fn a_matrix_product() {
    let mut stream = Vec::new();
    let n = 24;
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        for k in 0..n {
            stream.push((0x10_0000 + (i * n + k) * 8, 8));
            stream.push((0x20_0000 + (k * n + j) * 8, 8));
        }
        stream.push((0x30_0008 + (i * n + j) * 8, 8));
    }
    check("matrix", "1K..32K", &WAYS, "64", &stream);
}

#[test]
fn a_list_walk_with_a_hot_stack_and_bulk_copies() {
    let mut random = Random(7);
    let mut stream = Vec::new();
    let mut node = 1;
    for step in 0..15_000u64 {
        node = (node * 1_103_515_245 + 12_345) % 4096;
        stream.push((0x7fff_0000 + step % 5 * 8, 8));
        stream.push((0x50_0000 + node * 48, 8));
        if step % 500 == 0 {
            let from = 0x90_0000 + random.below(10_000);
            stream.push((from, 3000));
            stream.push((from + 50_000, 3000));
        }
    }
    check("list", "1K..128K", &WAYS, "64", &stream);
    check(
        "list, odd ways",
        "48K",
        &[Ways::Set(3), Ways::Set(12), Ways::Full],
        "32",
        &stream,
    );
}

#[test]
fn other_lines_and_single_configurations() {
    let mut random = Random(99);
    let stream: Vec<_> = (0..10_000).map(|_| (random.below(30_000), 8)).collect();
    for line in ["4", "16", "128", "4K"] {
        check(
            "line",
            "4K..32K",
            &[Ways::Set(1), Ways::Full],
            line,
            &stream,
        );
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
fn stack_distances_equal_those_of_a_list_even_after_many_renumberings() {
    let mut random = Random(3);
    let mut stack = RecencyStack::new(1 << 20);
    let mut list: Vec<u64> = Vec::new();
    for step in 0..200_000u64 {
        let line = if step % 3 == 0 {
            random.below(3)
        } else {
            random.below(900)
        };
        let expected = list.iter().position(|&known| known == line);
        expected.map(|at| list.remove(at));
        list.insert(0, line);
        assert_eq!(stack.touch(line), expected, "step {step}");
    }
}

#[test]
fn lines_below_the_limit_are_forgotten_and_those_above_are_exact() {
    let limit = 50_000;
    let mut stack = RecencyStack::new(limit);
    for line in 0..200_000 {
        assert_eq!(stack.touch(line), None);
    }
    // Walking back: each step finds its line one deeper than the lines already lifted above it.
    for back in 0..limit as u64 {
        assert_eq!(stack.touch(199_999 - back), Some(back as usize));
    }
    assert!(stack.touch(0).is_none_or(|distance| distance >= limit));
}

#[test]
fn a_sample_of_the_lines_gives_the_curve_within_two_percent_points() {
    let mut random = Random(11);
    let geometries = Geometries::new(
        &"64K..16M".parse().unwrap(),
        &[Ways::Full],
        "64".parse().unwrap(),
    )
    .unwrap();
    // A hot part, a loop over 4 MB, and accesses anywhere in 64 MB.
    let mut stream = Vec::new();
    for step in 0..400_000u64 {
        stream.push((0x100_0000 + random.below(1 << 14), 8));
        stream.push((0x800_0000 + step * 64 % (4 << 20), 8));
        if step % 4 == 0 {
            stream.push((0x4000_0000 + random.below(64 << 20), 8));
        }
    }
    let mut exact = CacheModel::new(&geometries);
    let mut sampled = SampledModel::new(&geometries, 0.05);
    let mut everything = SampledModel::new(&geometries, 1.0);
    for &(address, size) in &stream {
        exact.access(address, size);
        sampled.access(address, size);
        everything.access(address, size);
    }
    assert_eq!(sampled.accesses(), exact.accesses());
    let all = exact.accesses() as f64;
    let misses = geometries.all.iter().map(|geometry| exact.misses(geometry));
    let estimates = sampled.misses();
    for ((geometry, exact), estimate) in geometries.all.iter().zip(misses.clone()).zip(&estimates) {
        let error = (exact as f64 - *estimate as f64).abs() / all;
        assert!(
            error < 0.02,
            "{geometry:?}: {exact} misses, {estimate} estimated"
        );
    }
    assert_eq!(
        everything.misses(),
        misses.collect::<Vec<_>>(),
        "a sample of all is exact"
    );
}
