//! The cache hierarchy against a simulator that keeps plain lists and asks every core about every line.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use std::collections::HashMap;

use crate::samples::{builder, graph};
use contech_backends::analysis::run;
use contech_backends::hierarchy::{CoreCounts, Hierarchy, Machine, Options, Shape};
use fastrand::Rng;
use taskgraph::MemOp;

/// Why a line is no longer in a cache.
#[derive(Clone, Copy, PartialEq)]
enum Gone {
    Pushed,
    Taken,
}

/// The obvious simulator.
struct Plain {
    shapes: [Shape; 3],
    /// Per core and private level: sets of lines, most recent first.
    private: Vec<[Vec<Vec<u64>>; 2]>,
    shared: Vec<Vec<u64>>,
    modified: HashMap<u64, usize>,
    /// Cores that have a line alone and clean.
    exclusive: HashMap<u64, usize>,
    gone: HashMap<(usize, usize, u64), Gone>,
    used: HashMap<(usize, u64), ()>,
    counts: Vec<CoreCounts>,
}

impl Plain {
    fn new(cores: usize, shapes: [Shape; 3]) -> Self {
        let sets = |shape: Shape| vec![Vec::new(); shape.sets as usize];
        Self {
            shapes,
            private: (0..cores)
                .map(|_| [sets(shapes[0]), sets(shapes[1])])
                .collect(),
            shared: sets(shapes[2]),
            modified: HashMap::new(),
            exclusive: HashMap::new(),
            gone: HashMap::new(),
            used: HashMap::new(),
            counts: vec![CoreCounts::default(); cores],
        }
    }

    fn holds(&self, core: usize, level: usize, line: u64) -> bool {
        self.private[core][level][(line % self.shapes[level].sets) as usize].contains(&line)
    }

    fn remove(&mut self, core: usize, level: usize, line: u64, why: Gone) -> bool {
        let set = (line % self.shapes[level].sets) as usize;
        let held = self.holds(core, level, line);
        self.private[core][level][set].retain(|&other| other != line);
        if held {
            self.gone.insert((core, level, line), why);
        }
        held
    }

    /// To the front of its set; the line pushed out.
    fn insert(&mut self, core: usize, level: usize, line: u64) -> Option<u64> {
        let shape = self.shapes[level];
        let set = &mut self.private[core][level][(line % shape.sets) as usize];
        set.retain(|&other| other != line);
        set.insert(0, line);
        let out = (set.len() > shape.ways).then(|| set.pop().unwrap());
        if let Some(out) = out {
            self.gone.insert((core, level, out), Gone::Pushed);
        }
        out
    }

    fn share_touch(&mut self, line: u64) -> bool {
        let set = &mut self.shared[(line % self.shapes[2].sets) as usize];
        let held = set.contains(&line);
        set.retain(|&other| other != line);
        set.insert(0, line);
        set.truncate(self.shapes[2].ways);
        held
    }

    fn others(&self, core: usize, line: u64) -> Vec<usize> {
        (0..self.private.len())
            .filter(|&other| other != core && self.holds(other, 1, line))
            .collect()
    }

    fn take(&mut self, core: usize, line: u64) {
        for other in self.others(core, line) {
            self.remove(other, 0, line, Gone::Taken);
            self.remove(other, 1, line, Gone::Taken);
            self.counts[other].invalidated += 1;
        }
        self.exclusive.remove(&line);
        self.modified.insert(line, core);
    }

    fn access(&mut self, core: usize, line: u64, write: bool) {
        let first = self.used.insert((core, line), ()).is_none();
        self.counts[core].l1.accesses += 1;
        let inner = self.holds(core, 0, line);
        let outer = self.holds(core, 1, line);
        for (level, look, hit) in [(0, true, inner), (1, !inner, outer)] {
            let lookups = if level == 0 {
                &mut self.counts[core].l1
            } else {
                &mut self.counts[core].l2
            };
            lookups.accesses += u64::from(level == 1 && look);
            if look && !hit {
                match (first, self.gone.get(&(core, level, line))) {
                    (true, _) => lookups.cold += 1,
                    (_, Some(Gone::Taken)) => lookups.coherence += 1,
                    _ => lookups.replaced += 1,
                }
            }
        }
        if !outer {
            let others = self.others(core, line);
            let owner = self.modified.get(&line).copied();
            if owner.is_some() {
                self.counts[core].transfers += 1;
            } else {
                self.counts[core].l3 += 1;
                let hit = self.share_touch(line);
                self.counts[core].l3_misses += u64::from(!hit);
            }
            if write {
                self.take(core, line);
            } else {
                if let Some(owner) = owner {
                    self.counts[owner].write_backs += 1;
                    self.modified.remove(&line);
                    self.share_touch(line);
                }
                self.exclusive.remove(&line);
                if others.is_empty() {
                    self.exclusive.insert(line, core);
                }
            }
            if let Some(out) = self.insert(core, 1, line) {
                self.remove(core, 0, out, Gone::Pushed);
                self.exclusive.remove(&out);
                if self.modified.remove(&out).is_some() {
                    self.counts[core].write_backs += 1;
                    self.share_touch(out);
                }
            }
        } else if write {
            let own =
                self.modified.get(&line) == Some(&core) || self.exclusive.get(&line) == Some(&core);
            self.counts[core].upgrades += u64::from(!own);
            self.take(core, line);
        }
        if !inner {
            if outer {
                self.insert(core, 1, line);
            }
            self.insert(core, 0, line);
        } else {
            self.insert(core, 0, line);
        }
    }
}

const SHAPES: [Shape; 3] = [
    Shape { sets: 2, ways: 2 },
    Shape { sets: 4, ways: 3 },
    Shape { sets: 8, ways: 4 },
];

#[test]
fn every_count_equals_that_of_the_plain_simulator() {
    let mut random = Rng::with_seed(2_463_534_242);
    for (cores, lines, writes) in [(1, 60, 4), (2, 20, 2), (3, 60, 3), (5, 200, 10), (8, 9, 5)] {
        let mut plain = Plain::new(cores, SHAPES);
        let mut machine = Machine::new(cores, SHAPES[0], Some(SHAPES[1]), Some(SHAPES[2]));
        for step in 0..30_000 {
            let core = random.u64(..cores as u64) as usize;
            let (line, write) = (random.u64(..lines), random.u64(..writes) == 0);
            plain.access(core, line, write);
            machine.access(core, line, write);
            if step % 1000 == 0 {
                assert_eq!(machine.counts().collect::<Vec<_>>(), plain.counts, "{step}");
            }
        }
        assert_eq!(machine.counts().collect::<Vec<_>>(), plain.counts);
        let coherence: u64 = plain.counts.iter().map(|core| core.l1.coherence).sum();
        assert_eq!(
            coherence > 0,
            cores > 1,
            "the stream has what it is to test"
        );
    }
}

#[test]
fn two_cores_that_write_one_line_in_turn_lose_it_every_time() {
    let shape = Shape { sets: 64, ways: 8 };
    let mut machine = Machine::new(2, shape, None, Some(shape));
    for turn in 0..100 {
        machine.access(turn % 2, 7, true);
    }
    for counts in machine.counts() {
        assert_eq!((counts.l1.cold, counts.l1.coherence), (1, 49));
        assert!(counts.invalidated >= 49);
    }
    let transfers: u64 = machine.counts().map(|core| core.transfers).sum();
    assert_eq!(transfers, 99, "all but the very first came from the other");
}

#[test]
fn a_graph_of_two_contexts_on_one_core_has_no_coherence_misses() {
    let shared = || {
        let mut b = builder("./ping");
        let block = b.block("ping", "ping.c", 3, &[MemOp::load(8), MemOp::store(8)]);
        let main = b.context("main");
        b.work(main, 0, 10, |_| {});
        let child = b.create(main);
        for context in [main, child] {
            b.work(context, 100, 100_100, |w| {
                (0..100).for_each(|_| w.block(block, &[0x1000, 0x1000]));
            });
        }
        graph(b)
    };
    let options = |cores| {
        let parse = |text: &str| text.parse().unwrap();
        Options {
            windows: None,
            l1: parse("1K:2"),
            l2: parse("none"),
            l3: parse("none"),
            line: "64".parse().unwrap(),
            cores,
            slice: 100,
        }
    };
    let alone = run::<Hierarchy>(options(Some(1)), &shared()).unwrap();
    let apart = run::<Hierarchy>(options(None), &shared()).unwrap();
    assert_eq!(alone.levels[0].coherence, Some(0));
    assert_eq!(alone.levels[0].misses, 1);
    assert_eq!(alone.levels.len(), 1, "no other level was asked for");
    assert!(apart.levels[0].coherence > Some(90), "{:?}", apart.levels);
}

#[test]
fn levels_that_make_no_sense_say_why() {
    for (text, reason) in [
        ("32K", "no cache level"),
        ("32K:0", "no cache level"),
        ("x:8", "no cache level"),
    ] {
        let error = text
            .parse::<contech_backends::hierarchy::Level>()
            .unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let with = |l1: &str, l2: &str| {
        let options = Options {
            windows: None,
            l1: l1.parse().unwrap(),
            l2: l2.parse().unwrap(),
            l3: "none".parse().unwrap(),
            line: "64".parse().unwrap(),
            cores: None,
            slice: 100,
        };
        run::<Hierarchy>(options, &graph(crate::samples::two()))
            .unwrap_err()
            .to_string()
    };
    assert!(with("none", "none").contains("every core has a first level"));
    assert!(with("3K:4", "none").contains("not a power of two"));
    assert!(with("32K:8", "16K:8").contains("smaller than --l1"));
}
