//! Measures what events cost before the program goes on: it runs a tree of invocations with events,
//! and one without.
#![allow(unsafe_code, reason = "events are told as instrumented code tells them")]

use std::cell::Cell;

use contech_interpose::arch::ticks;
use workspan::abi::{self, Function};

use crate::clock::{Cost, EVENT_BITS};
use crate::log::event;

unsafe extern "C" {
    /// `workspan::abi::DUE`, called as instrumented code calls it.
    safe fn contech_ws_due();
}

/// Depth of the tree.
const DEPTH: usize = 6;
/// The measurement is the least of so many times of so many trees.
const TIMES: u64 = 16;
const ROUNDS: u64 = 4;
/// Readings in a row.
const ROW: u64 = 16;

/// Tells the number of readings of the log so far, and the cycles that they took.
type Readings = fn() -> (u64, u64);

/// What events cost, measured with a profile that is thrown away.
pub(crate) fn calibrate(readings: Readings) -> Cost {
    let stage = std::hint::black_box(Stage {
        functions: [16, 17].map(|code| Function { code, number: Cell::new(0) }),
        slots: [64; DEPTH + 1],
    });
    let read = || (0..ROW).for_each(|_| contech_ws_due());
    let reading = least(readings, read).cycles / ROW;
    let bare = least(readings, || stage.bare(DEPTH));
    let told = least(readings, || stage.tree(DEPTH));
    let events = 3 * (1_u64 << DEPTH) - 2;
    let between = told.cycles.saturating_sub(bare.cycles + told.readings * reading);
    Cost { event: (between << EVENT_BITS) / events, reading }
}

/// The cycles that something took, without those spent on reading the log, and the number of
/// readings.
#[derive(Clone, Copy)]
struct Took {
    cycles: u64,
    readings: u64,
}

/// The least of several times.
fn least(readings: Readings, f: impl Fn()) -> Took {
    let mut least = Took { cycles: u64::MAX, readings: 0 };
    for _ in 0..TIMES {
        let before = readings();
        let start = ticks();
        (0..ROUNDS).for_each(|_| f());
        let passed = ticks().saturating_sub(start);
        let after = readings();
        let took = Took {
            cycles: passed.saturating_sub(after.1 - before.1) / ROUNDS,
            readings: (after.0 - before.0) / ROUNDS,
        };
        if took.cycles < least.cycles {
            least = took;
        }
    }
    least
}

/// Functions to invoke, and the slots of their return addresses, the inner ones first.
struct Stage {
    functions: [Function; 2],
    slots: [usize; DEPTH + 1],
}

impl Stage {
    fn tell(&self, function: usize, kind: u64, at: usize) {
        let what = (&raw const self.functions[function]).expose_provenance() as u64 + kind;
        let slot = &raw const self.slots[at];
        // SAFETY: the slot lives on, and is read where instrumented code would read it.
        let from = unsafe { slot.read_volatile() };
        if event(what, slot.addr(), from, 1) {
            contech_ws_due();
        }
    }

    /// A binary tree of invocations.
    #[inline(never)]
    fn tree(&self, depth: usize) {
        if depth == 0 {
            return self.tell(1, abi::LEAF, 0);
        }
        self.tell(0, abi::ENTER, depth);
        self.tree(depth - 1);
        self.tree(depth - 1);
        self.tell(0, abi::LEAVE, depth);
    }

    /// The same tree without events.
    #[inline(never)]
    fn bare(&self, depth: usize) {
        std::hint::black_box(depth);
        if depth > 0 {
            self.bare(depth - 1);
            self.bare(depth - 1);
            std::hint::black_box(depth);
        }
    }
}
