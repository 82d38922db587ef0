//! Memory that is freed, and what follows in it.

use contech_backends::races::Report;
use taskgraph::{AllocKind, MemOp, SyncOp};

use super::program::{NONE, Program, X};

/// A block of memory made before the threads, read by one and freed by two; `ordered` says in which
/// way that is ordered.
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
        let (free, read) = if race.a.free { (&race.a, &race.b) } else { (&race.b, &race.a) };
        assert!(free.free && !free.write && !read.free && !read.write);
        assert_eq!((free.place.function.as_str(), free.place.line), ("done", 99));
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
    // One context's block is freed and handed to another, which nothing orders with those of
    // before.
    let (mut p, one, two) = Program::threads();
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
    let (mut p, one, two) = Program::threads();
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
fn two_tasks_that_use_a_thread_in_turn_do_not_race_in_its_memory() {
    // Both are visited up to their new lives first. What `one` wrote in its turn comes then, and
    // `two` follows an earlier task of `one` only.
    const VARIABLES: u64 = 0x7000_0000;
    let (mut p, one, two) = Program::threads();
    p.work(two, |w| w.fresh(VARIABLES, 256));
    p.work(one, |w| w.fresh(VARIABLES, 256));
    let post = p.b.sync_at(one, 0xaa, SyncOp::SemPost, 10, 10);
    p.write(one, VARIABLES + 8);
    let wait = p.b.sync_at(two, 0xaa, SyncOp::SemWait, 20, 20);
    p.b.edge(post, wait);
    p.write(two, VARIABLES + 8);
    assert_eq!(p.lines(), NONE);
}

#[test]
fn lives_of_memory_are_told_apart_when_tasks_are_visited_in_another_order() {
    // `two` starts first and is visited first, as a whole; in the run `one` freed before `two`
    // allocated.
    let (mut p, one, two) = Program::threads();
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
        (0..3).for_each(|_| w.block(block, &[0x5100]));
        w.free(0x5000);
    });
    p.b.sync_at(two, 0xab, SyncOp::SemPost, 900, 900);
    p.b.work(two, 900, 950, |w| w.block(block, &[0x5100]));
    let report = p.races();
    assert_eq!(report.races.len(), 0);
    assert_eq!(report.unowned, 3, "each access of the earlier life");
}

#[test]
fn realloc_to_the_same_place_begins_a_new_life() {
    let (mut p, one, two) = Program::threads();
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
    let (mut p, one, two) = Program::threads();
    for context in [one, two] {
        p.work(context, |w| w.map(0x10_0000, 1 << 20));
        p.write(context, 0x18_0000);
        p.work(context, |w| w.unmap(0x10_0000, 1 << 20));
    }
    assert_eq!(p.lines(), NONE);
}

/// Random lives of a few overlapping pieces of memory, in tasks that now and then hand over; each
/// context has a place of its own at `own`, which it writes after each action.
fn random_lives(seed: u64, own: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut p = Program::new();
    let contexts = [p.main, p.one, p.two];
    let ops: Vec<_> = (0..6)
        .map(|line| {
            let op = if line % 2 == 0 { MemOp::store(8) } else { MemOp::load(8) };
            p.b.block("worker", "race.c", 50 + line, &[op])
        })
        .collect();
    let touch = p.b.block("worker", "race.c", 90, &[MemOp::store(8)]);
    let mut released = None;
    for _ in 0..12 {
        let context = contexts[random.usize(..contexts.len())];
        let place = own + u64::from(context.get()) * 64;
        p.work(context, |w| {
            for _ in 0..random.usize(1..30) {
                let addr = 0x5000 + 0x40 * random.u64(..3);
                let most = if random.bool() { 3 } else { 40 };
                match random.usize(..most) {
                    0 => w.alloc(addr, 0x28 + 0x20 * random.u64(..3), AllocKind::Malloc),
                    1 | 2 => w.free(addr),
                    _ => w.block(ops[random.usize(..6)], &[addr + 4 * random.u64(..16)]),
                }
                w.block(touch, &[place]);
            }
        });
        if random.bool() {
            released = Some(p.locked(context, released.filter(|_| random.bool()), |_| {}));
        }
    }
    format!("{:?}", p.races())
}

#[test]
fn marks_that_wait_are_those_that_are_made_at_once() {
    let mut racy = 0;
    for seed in 0..300 {
        // What is written on the page of the allocations has their marks made.
        let (later, at_once) = (random_lives(seed, 0x90_0000), random_lives(seed, 0x4000));
        assert_eq!(later, at_once, "seed {seed}");
        racy += usize::from(!later.contains("races: []"));
    }
    assert!(racy > 100, "only {racy} programs have races");
}
