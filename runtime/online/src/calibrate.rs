//! What the hooks cost, measured before the program goes on.
//!
//! Each kind in a row gives their proportions; a small tree of invocations, what they cost among each other; a larger one,
//! what it costs now and then to move the elements of a profile; and that one on the clock, what a reading costs.
#![allow(
    unsafe_code,
    reason = "hooks are called as instrumented code calls them"
)]

use std::cell::Cell;

use workspan::abi::Function;

use crate::clock::{Cost, MOVED_BITS, Metric, cycles};
use crate::hooks::{contech_ws_enter, contech_ws_leaf, contech_ws_leave, contech_ws_sync, with};

/// Invocations in a row, and depth of the small tree: their profiles stay lists.
const ROW: usize = 16;
const SMALL: usize = 4;
/// Depth of the large one, whose profiles become arrays.
const LARGE: usize = 8;
/// What is measured is the least mean of so many times so many rounds, less for what takes long: the counter may advance
/// by many cycles at a time.
const TIMES: u64 = 16;
const ROUNDS: u64 = 16;

/// What the hooks cost, with a profile that may be thrown away and reads no clock.
pub(crate) fn calibrate() -> Cost {
    let mut stage = std::hint::black_box(Stage {
        functions: [16, 17].map(|code| Function {
            code,
            number: Cell::new(0),
            site: Cell::new(0),
        }),
        slots: std::array::from_fn(|at| 64 + at % 2),
        own: 1,
        reading: 0,
    });
    stage.reading = stage.least(ROUNDS, || [since(cycles())])[0];
    let [enter, sync, leave] = stage.least(ROUNDS, || {
        let entered = cycles();
        (0..ROW).rev().for_each(|at| stage.enter(at));
        let synced = (since(entered), cycles());
        (0..ROW).for_each(|_| stage.sync(0));
        let left = (since(synced.1), cycles());
        (0..ROW).for_each(|at| stage.leave(at));
        [synced.0, left.0, since(left.1)]
    });
    let [leaf] = stage.least(ROUNDS, || {
        let start = cycles();
        (0..ROW).for_each(|_| stage.leaf(0));
        [since(start)]
    });
    let row = (enter + leave) * (nodes(SMALL) - 1) / 2 + leaf * (nodes(SMALL) + 1) / 2;
    let small = stage.measure(SMALL);
    let scaled = |cycles: u64| i64::try_from(cycles * small.cycles / row.max(1)).unwrap_or(0);
    let large = stage.measure(LARGE);
    let constant = small.cycles * nodes(LARGE) / nodes(SMALL);
    let moved = large.cycles.saturating_sub(constant) << MOVED_BITS;
    let cost = Cost {
        enter: scaled(enter),
        leaf: scaled(leaf),
        leave: scaled(leave),
        sync: scaled(sync),
        moved: moved / large.moved.max(1),
        reading: stage.reading,
    };
    with(|profile, _| profile.measure(Metric::Time, cost));
    // Enough of them that the counter is read every few hooks.
    stage.own = 64;
    let timed = stage.measure(LARGE);
    Cost {
        reading: timed.cycles.saturating_sub(large.cycles) / timed.readings.max(1),
        ..cost
    }
}

fn since(cycles_then: u64) -> u64 {
    cycles().saturating_sub(cycles_then)
}

/// Invocations of a tree.
fn nodes(depth: usize) -> u64 {
    (2 << depth) - 1
}

/// Functions to invoke, and where their return addresses would be, the inner ones first.
struct Stage {
    functions: [Function; 2],
    slots: [usize; ROW + 1],
    /// Operations of each strand.
    own: u64,
    /// Cycles that a reading of the counter takes.
    reading: u64,
}

/// What a tree of invocations took.
struct Tree {
    cycles: u64,
    /// Elements of profiles moved, and readings made.
    moved: u64,
    readings: u64,
}

impl Stage {
    fn enter(&self, at: usize) {
        let (function, slot) = (&raw const self.functions[0], &raw const self.slots[at]);
        // SAFETY: a variable and a slot that live on, as instrumented code has them.
        unsafe { contech_ws_enter(function, slot, self.own) };
    }

    fn leaf(&self, at: usize) {
        let (function, slot) = (&raw const self.functions[1], &raw const self.slots[at]);
        // SAFETY: as above.
        unsafe { contech_ws_leaf(function, slot, self.own) };
    }

    fn leave(&self, at: usize) {
        contech_ws_leave((&raw const self.slots[at]) as usize, self.own);
    }

    fn sync(&self, at: usize) {
        contech_ws_sync((&raw const self.slots[at]) as usize, self.own);
    }

    /// A binary tree of invocations.
    #[inline(never)]
    fn tree(&self, depth: usize) {
        if depth == 0 {
            return self.leaf(0);
        }
        self.enter(depth);
        self.tree(depth - 1);
        self.tree(depth - 1);
        self.leave(depth);
    }

    /// The same without hooks.
    #[inline(never)]
    fn bare(&self, depth: usize) {
        std::hint::black_box(depth);
        if depth > 0 {
            self.bare(depth - 1);
            self.bare(depth - 1);
            std::hint::black_box(depth);
        }
    }

    /// What the hooks of a tree take.
    fn measure(&self, depth: usize) -> Tree {
        let done = || {
            let mut done = (0, 0);
            with(|profile, _| done = (profile.shadow.moved(), profile.readings()));
            done
        };
        let rounds = (ROUNDS * nodes(SMALL) / nodes(depth)).max(1);
        let [bare] = self.least(rounds, || {
            let start = cycles();
            self.bare(depth);
            [since(start)]
        });
        let before = done();
        let [cycles] = self.least(rounds, || {
            let start = cycles();
            self.tree(depth);
            [since(start)]
        });
        let after = done();
        let each = |after: u64, before: u64| (after - before) / (TIMES * rounds);
        Tree {
            cycles: cycles.saturating_sub(bare),
            moved: each(after.0, before.0),
            readings: each(after.1, before.1),
        }
    }

    /// The cycles that each part of one of so many rounds takes. Each happens in an invocation of its own, with an empty profile, that is
    /// not measured.
    fn least<const N: usize>(&self, rounds: u64, round: impl Fn() -> [u64; N]) -> [u64; N] {
        let mut least = [u64::MAX; N];
        for _ in 0..TIMES {
            let mut sums = [0; N];
            for _ in 0..rounds {
                self.enter(ROW);
                for (sum, cycles) in sums.iter_mut().zip(round()) {
                    *sum += cycles.saturating_sub(self.reading);
                }
                self.leave(ROW);
            }
            for (least, sum) in least.iter_mut().zip(sums) {
                *least = (*least).min(sum / rounds);
            }
        }
        least
    }
}
