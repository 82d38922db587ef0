//! What the hooks cost, measured before the program goes on.
#![allow(
    unsafe_code,
    reason = "hooks are called as instrumented code calls them"
)]

use std::cell::Cell;

use workspan::abi::Function;

use crate::clock::{Cost, cycles};
use crate::hooks::{contech_ws_enter, contech_ws_leaf, contech_ws_leave, contech_ws_sync};

/// What a reading of the counter, and each hook, cost in cycles: the least of many, with a metric that reads no clock.
pub(crate) fn calibrate() -> Cost {
    const ROUNDS: u64 = 256;
    // The counter may advance by many cycles at a time: the mean of many.
    let least = |round: &dyn Fn()| {
        let one = || {
            let before = cycles();
            for _ in 0..ROUNDS {
                round();
            }
            cycles().saturating_sub(before) / ROUNDS
        };
        (0..16).map(|_| one()).min().unwrap_or(0)
    };
    let reading = least(&|| {
        std::hint::black_box(cycles());
    });
    let functions = [16, 17].map(|code| Function {
        code,
        number: Cell::new(0),
        site: Cell::new(0),
    });
    // Where return addresses would be, the inner one first.
    let slots: [usize; 3] = std::hint::black_box([64, 65, 66]);
    // SAFETY: variables and slots that live on, as instrumented code has them.
    let (enter, leaf) = unsafe {
        (
            |depth: usize| contech_ws_enter(&raw const functions[0], &raw const slots[depth], 1),
            |depth: usize| contech_ws_leaf(&raw const functions[1], &raw const slots[depth], 1),
        )
    };
    let leave = |depth: usize| contech_ws_leave((&raw const slots[depth]) as usize, 1);
    let sync = |depth: usize| contech_ws_sync((&raw const slots[depth]) as usize, 1);
    enter(2);
    let pair = least(&|| {
        enter(1);
        leave(1);
    });
    let synced = least(&|| {
        enter(1);
        sync(1);
        leave(1);
    });
    let leaf = least(&|| leaf(1));
    leave(2);
    let signed = |cycles| i64::try_from(cycles).unwrap_or(0);
    Cost {
        enter: signed(pair / 2),
        leaf: signed(leaf),
        leave: signed(pair - pair / 2),
        sync: signed(synced.saturating_sub(pair)),
        reading,
    }
}
