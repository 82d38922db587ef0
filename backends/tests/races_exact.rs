//! Races: planted ones are found, none are invented; and against reachability on random graphs.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

mod graphs;

use std::collections::{BTreeMap, BTreeSet};

use contech_backends::analysis::{Graph, run};
use contech_backends::races::{Options, Races, Report};
use graphs::{Random, ancestors, graph};
use taskgraph::builder::GraphBuilder;
use taskgraph::{AllocKind, BlockId, ContextId, MemOp, OpKind, SyncOp, TaskId};

const X: u64 = 0x1000;
const LOCK: u64 = 0xfeed;

fn report(graph: &Graph) -> Report {
    run::<Races>(
        Options {
            memory: "64M".parse().expect("size"),
        },
        graph,
    )
    .expect("a readable graph")
}

/// A program under test: two threads besides main, and a block for each kind of access at a line of its own.
struct Program {
    b: GraphBuilder,
    main: ContextId,
    one: ContextId,
    two: ContextId,
    line: u32,
    clock: u64,
}

impl Program {
    fn new() -> Self {
        let mut b = GraphBuilder::new();
        let main = b.context("main");
        let mut program = Self {
            main,
            one: main,
            two: main,
            b,
            line: 10,
            clock: 0,
        };
        program.work(main, |_| {});
        program.one = program.b.create(main);
        program.work(program.one, |_| {});
        program.two = program.b.create(main);
        program.work(program.two, |_| {});
        program
    }

    fn work(
        &mut self,
        context: ContextId,
        f: impl FnOnce(&mut taskgraph::builder::WorkBuilder),
    ) -> TaskId {
        self.clock += 10;
        self.b.work(context, self.clock - 10, self.clock, f)
    }

    fn access(&mut self, context: ContextId, addr: u64, op: MemOp) -> TaskId {
        self.line += 1;
        let block = self.b.block("worker", "race.c", self.line, &[op]);
        self.work(context, |w| w.block(block, &[addr]))
    }

    fn write(&mut self, context: ContextId, addr: u64) -> TaskId {
        self.access(context, addr, MemOp::store(8))
    }

    fn read(&mut self, context: ContextId, addr: u64) -> TaskId {
        self.access(context, addr, MemOp::load(8))
    }

    fn alloc(&mut self, context: ContextId, addr: u64, size: u64) {
        self.work(context, |w| w.alloc(addr, size, AllocKind::Malloc));
    }

    fn free(&mut self, context: ContextId, addr: u64) {
        self.work(context, |w| w.free(addr));
    }

    fn sync(&mut self, context: ContextId, object: u64, op: SyncOp) -> TaskId {
        self.clock += 10;
        self.b.sync_at(context, object, op, self.clock, self.clock)
    }

    /// `context` runs `f` under a lock, after the release `after`; returns its release.
    fn locked(
        &mut self,
        context: ContextId,
        after: Option<TaskId>,
        f: impl FnOnce(&mut Self),
    ) -> TaskId {
        let acquire = self.sync(context, LOCK, SyncOp::MutexLock);
        if let Some(release) = after {
            self.b.edge(release, acquire);
        }
        f(self);
        self.sync(context, LOCK, SyncOp::MutexUnlock)
    }

    fn races(self) -> Report {
        report(&graph(self.b))
    }

    /// The races as pairs of lines (11 is that of the first access made).
    fn lines(self) -> Vec<(u32, u32)> {
        let races = self.races().races;
        races
            .iter()
            .map(|race| (race.a.place.line, race.b.place.line))
            .collect()
    }
}

const NONE: [(u32, u32); 0] = [];

#[test]
fn two_writes_that_nothing_orders() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.write(one, X);
    p.write(two, X);
    let report = p.races();
    assert_eq!(report.races.len(), 1);
    let race = &report.races[0];
    assert_eq!((race.address, race.count), (X, 1));
    assert_eq!(
        (race.a.context, race.a.place.line, race.a.write),
        (1, 11, true)
    );
    assert_eq!(
        (race.b.context, race.b.place.line, race.b.write),
        (2, 12, true)
    );
    assert_eq!(
        race.missing,
        "No task of context 1 comes before 2:1; neither holds a lock."
    );
}

#[test]
fn a_write_and_a_read_race_in_either_order_but_two_reads_do_not() {
    for (first_writes, second_writes, races) in
        [(true, false, 1), (false, true, 1), (false, false, 0)]
    {
        let mut p = Program::new();
        let op = |writes| {
            if writes {
                MemOp::store(8)
            } else {
                MemOp::load(8)
            }
        };
        let (one, two) = (p.one, p.two);
        p.access(one, X, op(first_writes));
        p.access(two, X, op(second_writes));
        assert_eq!(
            p.races().races.len(),
            races,
            "{first_writes} {second_writes}"
        );
    }
}

#[test]
fn different_bytes_of_one_word_do_not_race() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.access(one, X, MemOp::store(4));
    p.access(two, X + 4, MemOp::store(4));
    p.access(one, X + 9, MemOp::store(1));
    p.access(two, X + 10, MemOp::store(2));
    assert_eq!(p.lines(), NONE);
}

#[test]
fn overlapping_bytes_race_at_the_first_common_one() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.access(one, X + 6, MemOp::store(4));
    p.access(two, X + 9, MemOp::store(8));
    let report = p.races();
    assert_eq!((report.races.len(), report.races[0].address), (1, X + 9));
}

/// A block of memory made before the threads, read by one and freed by two; `ordered` says in which way that is ordered.
fn read_and_free(
    ordered: impl FnOnce(&mut Program, &mut dyn FnMut(&mut Program), &mut dyn FnMut(&mut Program)),
) -> Report {
    let mut p = Program::new();
    let main = p.main;
    p.alloc(main, X, 64);
    p.write(main, X);
    p.one = p.b.create(main);
    p.work(p.one, |_| {});
    p.two = p.b.create(main);
    p.work(p.two, |_| {});
    let call = p.b.block("done", "race.c", 99, &[]);
    ordered(&mut p, &mut |p| _ = p.read(p.one, X), &mut |p| {
        _ = p.work(p.two, |w| {
            w.block(call, &[]);
            w.free(X);
        })
    });
    p.races()
}

#[test]
fn a_read_that_nothing_orders_with_the_free_of_its_memory_races_with_it() {
    for free_first in [false, true] {
        let report = read_and_free(|p, read, free| {
            if free_first {
                free(p);
                read(p);
            } else {
                read(p);
                free(p);
            }
        });
        assert_eq!(report.races.len(), 1, "{free_first}");
        let race = &report.races[0];
        let (free, read) = if race.a.free {
            (&race.a, &race.b)
        } else {
            (&race.b, &race.a)
        };
        assert!(free.free && !free.write && !read.free && !read.write);
        assert_eq!(
            (free.place.function.as_str(), free.place.line),
            ("done", 99)
        );
        assert_eq!((read.place.line, race.address), (12, X));
    }
}

#[test]
fn a_free_after_the_last_read_under_the_same_lock_does_not_race() {
    let report = read_and_free(|p, read, free| {
        let release = p.locked(p.one, None, |p| read(p));
        p.locked(p.two, Some(release), |p| free(p));
    });
    assert!(report.races.is_empty(), "{:?}", report.races);
}

#[test]
fn what_follows_in_freed_memory_is_none_of_the_earlier_life() {
    // One context's block is freed and handed to another, which nothing orders with those of before.
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.alloc(one, X, 4096 * 16);
    p.write(one, X + 4096 * 8);
    p.free(one, X);
    p.alloc(two, X, 4096 * 16);
    p.write(two, X + 4096 * 8);
    p.free(two, X);
    p.alloc(one, X, 32);
    p.write(one, X);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn tasks_on_the_stack_of_one_thread_share_nothing_but_what_is_theirs() {
    const TOP: u64 = 0x7000_0000;
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    for context in [one, two] {
        p.work(context, |w| w.fresh(TOP - (1 << 20), 1 << 20));
        p.write(context, TOP - 64);
        p.write(context, TOP - 9000);
    }
    // Whom it gives the address of its own variable may race with it.
    let child = p.b.create(two);
    p.read(child, TOP - 64);
    p.write(two, TOP - 64);
    let lines = p.lines();
    assert_eq!(lines, [(15, 16)]);
}

#[test]
fn a_lock_around_both_orders_them() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let release = p.locked(one, None, |p| _ = p.write(one, X));
    p.locked(two, Some(release), |p| _ = p.write(two, X));
    assert_eq!(p.lines(), NONE);
}

#[test]
fn a_lock_around_one_of_them_does_not() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.locked(one, None, |p| _ = p.write(one, X));
    p.write(two, X);
    let report = p.races();
    assert_eq!(report.races.len(), 1);
    assert_eq!(
        report.races[0].missing,
        "No task of context 1 comes before 2:1; 1:2 holds lock 0xfeed, 2:1 holds none."
    );
}

#[test]
fn two_different_locks_order_nothing() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.locked(one, None, |p| _ = p.write(one, X));
    p.sync(two, 0xbeef, SyncOp::MutexLock);
    p.write(two, X);
    p.sync(two, 0xbeef, SyncOp::MutexUnlock);
    let report = p.races();
    assert_eq!(report.races.len(), 1);
    let missing = &report.races[0].missing;
    assert!(
        missing.contains("1:2 holds lock 0xfeed, 2:2 holds 0xbeef: not the same"),
        "{missing}"
    );
}

#[test]
fn an_access_after_the_unlock_is_not_covered() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let release = p.locked(one, None, |p| _ = p.write(one, X));
    p.write(one, X);
    p.locked(two, Some(release), |p| _ = p.read(two, X));
    let report = p.races();
    assert_eq!(
        (
            report.races.len(),
            report.races[0].a.place.line,
            report.races[0].b.place.line
        ),
        (1, 12, 13)
    );
    let missing = &report.races[0].missing;
    assert!(
        missing.starts_with(
            "Task 2:2 follows context 1 only up to task 1:3 (mutex_unlock), and 1:4 is later"
        ),
        "{missing}"
    );
}

#[test]
fn the_order_of_a_lock_holds_for_this_run_even_where_the_lock_protects_nothing() {
    // Before the lock in one, after it in two: ordered by the graph, whichever way another run would go.
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.write(one, X);
    let release = p.locked(one, None, |_| {});
    p.locked(two, Some(release), |_| {});
    p.write(two, X);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn a_barrier_orders_before_with_after() {
    let mut p = Program::new();
    let (main, one, two) = (p.main, p.one, p.two);
    p.write(one, X);
    p.write(two, X + 8);
    p.b.barrier(&[main, one, two], 0xba);
    p.read(two, X);
    p.read(one, X + 8);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn a_barrier_orders_nothing_after_it() {
    let mut p = Program::new();
    let (main, one, two) = (p.main, p.one, p.two);
    p.write(one, X);
    p.b.barrier(&[main, one, two], 0xba);
    p.write(one, X);
    p.read(two, X);
    assert_eq!(p.lines(), [(12, 13)]);
}

#[test]
fn creating_and_joining_order() {
    let mut p = Program::new();
    let (main, two) = (p.main, p.two);
    let child = {
        p.write(main, X);
        let child = p.b.create(main);
        p.write(child, X);
        child
    };
    p.b.join(main, child);
    p.write(main, X);
    p.write(two, X + 8);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn between_creating_and_joining_nothing_is_ordered() {
    let mut p = Program::new();
    let main = p.main;
    let child = p.b.create(main);
    p.write(child, X);
    p.read(main, X);
    p.b.join(main, child);
    assert_eq!(p.lines(), [(11, 12)]);
}

#[test]
fn order_is_transitive_over_contexts_and_objects() {
    let mut p = Program::new();
    let (main, one, two) = (p.main, p.one, p.two);
    p.write(one, X);
    let post = p.sync(one, 0x5e, SyncOp::SemPost);
    let wait = p.sync(main, 0x5e, SyncOp::SemWait);
    p.b.edge(post, wait);
    let signal = p.sync(main, 0xc0, SyncOp::CondSignal);
    let wake = p.sync(two, 0xc0, SyncOp::CondWake);
    p.b.edge(signal, wake);
    p.write(two, X);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn a_signal_before_the_write_does_not_order_it() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let signal = p.sync(one, 0xc0, SyncOp::CondSignal);
    p.write(one, X);
    let wake = p.sync(two, 0xc0, SyncOp::CondWake);
    p.b.edge(signal, wake);
    p.read(two, X);
    assert_eq!(p.lines(), [(11, 12)]);
}

#[test]
fn readers_of_a_rwlock_may_read_together_but_not_write() {
    for (writes, expected) in [(false, vec![]), (true, vec![(12, 13)])] {
        let mut p = Program::new();
        let (main, one, two) = (p.main, p.one, p.two);
        p.sync(main, 0x10, SyncOp::RwWrite);
        p.write(main, X);
        let release = p.sync(main, 0x10, SyncOp::RwUnlock);
        for context in [one, two] {
            let acquire = p.sync(context, 0x10, SyncOp::RwRead);
            p.b.edge(release, acquire);
            p.access(
                context,
                X,
                if writes && context == two {
                    MemOp::store(8)
                } else {
                    MemOp::load(8)
                },
            );
            p.sync(context, 0x10, SyncOp::RwUnlock);
        }
        let report = p.races();
        let lines: Vec<_> = report
            .races
            .iter()
            .map(|race| (race.a.place.line, race.b.place.line))
            .collect();
        assert_eq!(lines, expected);
        for race in &report.races {
            assert!(
                race.missing
                    .contains("both hold lock 0x10, but not both exclusively"),
                "{}",
                race.missing
            );
        }
    }
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let atomic = |op: MemOp| MemOp {
        flags: MemOp::ATOMIC,
        ..op
    };
    let add = || MemOp {
        flags: MemOp::ATOMIC,
        ..MemOp::new(OpKind::Rmw, 8, 0)
    };
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.access(one, X, add());
    p.access(two, X, add());
    p.access(one, X, atomic(MemOp::load(8)));
    p.access(two, X, atomic(MemOp::store(8)));
    assert_eq!(p.lines(), NONE);

    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.access(one, X, add());
    p.read(two, X);
    let report = p.races();
    assert_eq!(report.races.len(), 1);
    assert!(report.races[0].a.atomic && report.races[0].a.write && !report.races[0].b.atomic);
}

#[test]
fn data_passed_by_an_atomic_flag_is_reported_with_the_doubt() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let flag = |op: MemOp| MemOp {
        flags: MemOp::ATOMIC,
        ..op
    };
    p.write(one, X);
    p.access(one, X + 64, flag(MemOp::store(4)));
    p.access(two, X + 64, flag(MemOp::load(4)));
    p.read(two, X);
    let report = p.races();
    assert_eq!(report.races.len(), 1);
    assert!(report.races[0].atomics && report.races[0].missing.contains("common atomic variable"));
}

#[test]
fn memory_freed_by_one_and_allocated_by_another_has_two_lives() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    for context in [one, two] {
        p.alloc(context, 0x5000, 104);
        p.write(context, 0x5000);
        p.write(context, 0x5060);
        p.free(context, 0x5000);
    }
    assert_eq!(p.lines(), NONE);
}

#[test]
fn lives_of_memory_are_told_apart_when_tasks_are_visited_in_another_order() {
    // `two` starts first and is visited first, as a whole; in the run `one` freed before `two` allocated.
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let block = p.b.block("worker", "race.c", 50, &[MemOp::store(8)]);
    p.b.work(one, 100, 110, |w| {
        w.alloc(0x5000, 5000, AllocKind::Malloc);
        w.block(block, &[0x5000]);
    });
    p.b.sync_at(one, 0xaa, SyncOp::SemPost, 300, 300);
    p.b.work(two, 200, 900, |w| {
        w.alloc(0x5000, 9000, AllocKind::Malloc);
        for i in 0..1000 {
            w.block(block, &[0x5000 + 8 * i]);
        }
    });
    p.b.work(one, 300, 400, |w| {
        w.block(block, &[0x5100]);
        w.free(0x5000);
    });
    p.b.sync_at(two, 0xab, SyncOp::SemPost, 900, 900);
    p.b.work(two, 900, 950, |w| w.block(block, &[0x5100]));
    let report = p.races();
    assert_eq!(report.races.len(), 0);
    assert_eq!(report.unowned, 1);
}

#[test]
fn a_race_within_one_life_of_memory_is_found() {
    let mut p = Program::new();
    let main = p.main;
    p.alloc(main, 0x5000, 64);
    let (three, four) = (p.b.create(main), p.b.create(main));
    p.write(three, 0x5008);
    p.write(four, 0x5008);
    p.b.join(main, three);
    p.b.join(main, four);
    p.free(main, 0x5000);
    assert_eq!(p.lines(), [(11, 12)]);
}

#[test]
fn realloc_to_the_same_place_begins_a_new_life() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    p.alloc(one, 0x5000, 64);
    p.write(one, 0x5000);
    p.work(one, |w| {
        w.free(0x5000);
        w.alloc(0x5000, 128, AllocKind::Realloc);
    });
    p.write(one, 0x5000);
    p.free(one, 0x5000);
    p.alloc(two, 0x5010, 16);
    p.write(two, 0x5010);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn a_mapping_that_is_replaced_has_two_lives_too() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    for context in [one, two] {
        p.work(context, |w| w.map(0x10_0000, 1 << 20));
        p.write(context, 0x18_0000);
        p.work(context, |w| w.unmap(0x10_0000, 1 << 20));
    }
    assert_eq!(p.lines(), NONE);
}

#[test]
fn bulk_copies_race_as_a_whole() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let copy =
        p.b.block("copy", "race.c", 70, &[MemOp::new(OpKind::Copy, 0, 0)]);
    p.work(one, |w| w.block(copy, &[0x8000, 0x9000, 1000]));
    p.write(two, 0x8000 + 992);
    p.write(two, 0x8000 + 1000);
    p.read(two, 0x9000);
    assert_eq!(p.lines(), [(70, 11)]);
}

#[test]
fn the_same_pair_of_lines_is_reported_once_and_counted() {
    let mut p = Program::new();
    let (one, two) = (p.one, p.two);
    let block = p.b.block("worker", "race.c", 50, &[MemOp::store(8)]);
    for context in [one, two] {
        p.work(context, |w| {
            (0..100).for_each(|i| w.block(block, &[X + 8 * i]))
        });
    }
    let report = p.races();
    assert_eq!((report.races.len(), report.races[0].count), (1, 100));
}

#[test]
fn tasks_of_one_thread_race_like_any_other() {
    // Explicit tasks are contexts: two that the same thread happened to run one after the other are not ordered.
    let mut p = Program::new();
    let main = p.main;
    let (first, second) = (p.b.create(main), p.b.create(main));
    p.write(first, X);
    p.write(second, X);
    assert_eq!(p.lines(), [(11, 12)]);
}

/// Random contexts, edges and accesses; every access at a line of its own, which names its task, address and kind.
fn random(seed: u64, steps: u64) -> (GraphBuilder, BTreeMap<u32, (TaskId, u64, MemOp)>) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut b = GraphBuilder::new();
    let mut contexts = vec![b.context("main")];
    b.work(contexts[0], 0, 1, |_| {});
    let mut tasks: Vec<TaskId> = vec![TaskId::new(contexts[0], 0)];
    let mut accesses = BTreeMap::new();
    let mut seqs: BTreeMap<ContextId, u32> = BTreeMap::from([(contexts[0], 1)]);
    for step in 0..steps {
        if contexts.len() < 4 && random.chance(15) {
            let parent = contexts[random.below(contexts.len() as u64) as usize];
            contexts.push(b.create(parent));
            *seqs.get_mut(&parent).expect("known") += 1;
            let child = contexts[contexts.len() - 1];
            b.work(child, step * 10, step * 10, |_| {});
            seqs.insert(child, 1);
            continue;
        }
        // One ends and is joined, and makes room for another.
        if contexts.len() > 1 && random.chance(10) {
            let at = 1 + random.below(contexts.len() as u64 - 1) as usize;
            let child = contexts.swap_remove(at);
            let parent = contexts[random.below(contexts.len() as u64) as usize];
            b.join(parent, child);
            *seqs.get_mut(&parent).expect("known") += 1;
            continue;
        }
        let context = contexts[random.below(contexts.len() as u64) as usize];
        let id = TaskId::new(context, seqs[&context]);
        let mut executions: Vec<(BlockId, u64)> = Vec::new();
        for _ in 0..random.below(4) {
            let size = [1, 2, 4, 8][random.below(4) as usize];
            let addr = X + random.below(20);
            let op = if random.chance(50) {
                MemOp::load(size)
            } else {
                MemOp::store(size)
            };
            let op = MemOp {
                flags: if random.chance(20) { MemOp::ATOMIC } else { 0 },
                ..op
            };
            let line = 100 + accesses.len() as u32;
            executions.push((
                b.block("f", "random.c", line, std::slice::from_ref(&op)),
                addr,
            ));
            accesses.insert(line, (id, addr, op));
        }
        let added = b.work(context, step * 10 + random.below(40), step * 10 + 60, |w| {
            executions
                .iter()
                .for_each(|&(block, addr)| w.block(block, &[addr]));
        });
        assert_eq!(added, id);
        *seqs.get_mut(&context).expect("known") += 1;
        for _ in 0..random.below(3) {
            let from = tasks[random.below(tasks.len() as u64) as usize];
            if from.context != context {
                b.edge(from, id);
            }
        }
        tasks.push(id);
    }
    (b, accesses)
}

#[test]
fn racy_bytes_equal_those_of_reachability_and_every_pair_is_real() {
    let mut racy_graphs = 0;
    for seed in 1..200 {
        let (builder, accesses) = random(seed, 5 + seed % 60);
        let graph = graph(builder);
        let ancestors = ancestors(&graph);
        let unordered = |a: &TaskId, b: &TaskId| {
            a.context != b.context && !ancestors[a].contains(b) && !ancestors[b].contains(a)
        };
        let writes = |op: &MemOp| op.kind == OpKind::Store;
        let mut real: BTreeMap<(u32, u32), BTreeSet<u64>> = BTreeMap::new();
        for (line_a, (task_a, addr_a, a)) in &accesses {
            for (line_b, (task_b, addr_b, b)) in accesses.range(line_a + 1..) {
                let atomic = a.flags & b.flags & MemOp::ATOMIC != 0;
                if (writes(a) || writes(b)) && !atomic && unordered(task_a, task_b) {
                    let common = *addr_a.max(addr_b)
                        ..(addr_a + u64::from(a.size)).min(addr_b + u64::from(b.size));
                    if !common.is_empty() {
                        real.entry((*line_a, *line_b)).or_default().extend(common);
                    }
                }
            }
        }
        let report = report(&graph);
        let mut covered: BTreeSet<u64> = BTreeSet::new();
        for race in &report.races {
            let lines = (race.a.place.line, race.b.place.line);
            let bytes = real
                .get(&lines)
                .unwrap_or_else(|| panic!("seed {seed}: {lines:?} is no race"));
            assert!(
                bytes.contains(&race.address),
                "seed {seed}: {lines:?} at {:#x}",
                race.address
            );
            covered.extend(bytes);
        }
        let racy: BTreeSet<u64> = real.values().flatten().copied().collect();
        assert!(
            racy.is_subset(&covered),
            "seed {seed}: {racy:x?} but {covered:x?}"
        );
        racy_graphs += usize::from(!racy.is_empty());
    }
    assert!(
        racy_graphs > 50,
        "only {racy_graphs} graphs have races: the test says little"
    );
}

#[test]
fn little_memory_means_more_passes_and_the_same_races() {
    let mut b = GraphBuilder::new();
    let block = b.block("worker", "race.c", 50, &[MemOp::store(8)]);
    let main = b.context("main");
    let children: Vec<ContextId> = (0..4).map(|_| b.create(main)).collect();
    for &child in &children {
        b.work(child, 0, 10, |w| {
            (0..20_000).for_each(|i| w.block(block, &[0x10_0000 + 200 * i]))
        });
    }
    let graph = graph(b);
    let with = |memory: &str| {
        run::<Races>(
            Options {
                memory: memory.parse().expect("size"),
            },
            &graph,
        )
    };
    let (one, many) = (
        with("1G").expect("enough"),
        with("256K").expect("several passes"),
    );
    assert_eq!(
        (one.passes, one.races.len(), one.races[0].count),
        (1, 1, many.races[0].count)
    );
    assert!(many.passes > 5, "{} passes", many.passes);
    assert_eq!(one.races[0].count, 20_000 * 6);
    let error = with("1K").expect_err("not even one page fits").to_string();
    assert!(error.contains("give more"), "{error}");
}

#[test]
fn a_graph_without_blocks_is_refused() {
    let mut b = GraphBuilder::new();
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    let error = run::<Races>(
        Options {
            memory: "1M".parse().expect("size"),
        },
        &graph(b),
    )
    .expect_err("nothing to see");
    assert!(error.to_string().contains("sync mode"), "{error}");
}
