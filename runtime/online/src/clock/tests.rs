//! The clock without a counter: what it makes of intervals.

use proptest::prelude::*;

use super::*;

/// A clock that reads the counter after 1024 operations.
fn clock(cost: Cost) -> Clock {
    Clock::new(Metric::Time, cost)
}

fn told(operations: u64, own: u64, pending: bool) -> Told {
    Told {
        pending,
        ..Told::new(operations, own, 0, 0)
    }
}

#[test]
fn operations_before_the_first_hook_are_given_their_time_once() {
    let mut clock = clock(Cost::default());
    // A million of them, faster than at the rate to begin with; the hook that counts them comes later.
    let (now, own) = clock.elapsed(300_000, told(0, 1_000_000, true), 0);
    assert_eq!((now, own), (300_000, 300_000));
    assert_eq!(clock.time_of(1_000_000), 300_000);
    let (now, _) = clock.elapsed(512, told(1_000_000, 512, false), 0);
    assert_eq!(now, 300_512);
}

#[test]
fn what_hooks_cost_is_not_the_programs_time() {
    let cost = Cost {
        enter: 20,
        moved: 6 << MOVED_BITS,
        reading: 30,
        ..Cost::default()
    };
    let mut clock = clock(cost);
    for _ in 0..10 {
        let limit = clock.not_due(100, cost.enter);
        clock.called(100, limit.expect("no reading is due yet"));
    }
    // Ten hooks, 32 elements moved, a reading.
    let (now, _) = clock.elapsed(1000 + 200 + 192 + 30, told(100, 0, false), 32);
    assert_eq!(now, 1000);
    // Those that were moved before are not taken off again.
    let (now, _) = clock.elapsed(500 + 30, told(600, 0, false), 32);
    assert_eq!(now, 1500);
}

#[test]
fn a_hook_that_reads_the_counter_takes_its_time_after_that() {
    let cost = Cost {
        leave: 40,
        ..Cost::default()
    };
    let mut clock = clock(cost);
    assert_eq!(clock.not_due(1100, cost.leave), None);
    let (now, _) = clock.elapsed(700, told(1100, 0, false), 0);
    clock.costs(cost.leave);
    assert_eq!(now, 700);
    let (now, _) = clock.elapsed(340, told(1400, 0, false), 0);
    assert_eq!(now, 1000);
}

#[test]
fn time_of_code_that_counts_nothing_is_its_callers() {
    let mut clock = clock(Cost::default());
    let own = Told::new(100, 10, 64, 64);
    assert_eq!(clock.elapsed(5_000, own, 0), (5_000, 5_000));
    let before = Told::new(200, 10, 32, 64);
    assert_eq!(clock.elapsed(5_000, before, 0), (10_000, 0));
}

proptest! {
    /// Whatever the rates: the time given out is what has passed, but for what was given too early.
    #[test]
    fn no_time_is_lost_or_invented(
        windows in prop::collection::vec((0_u64..3000, 0_u64..100_000, any::<bool>()), 1..60),
    ) {
        let mut clock = clock(Cost::default());
        let (mut operations, mut passed, mut last) = (0, 0, 0);
        for (own, elapsed, pending) in windows {
            let (now, of_own) = clock.elapsed(elapsed, told(operations, own, pending), 0);
            operations += own;
            passed += elapsed;
            prop_assert!(now >= last, "time does not go back");
            prop_assert!(of_own <= now - last);
            prop_assert_eq!(now, passed + clock.debt);
            last = now;
        }
    }

    /// In operations the time is their number.
    #[test]
    fn operations_are_counted_exactly(all in prop::collection::vec((0_u64..1 << 40, any::<bool>()), 1..60)) {
        let mut clock = Clock::new(Metric::Operations, Cost { enter: 7, reading: 9, ..Cost::default() });
        let mut operations = 0;
        for (own, pending) in all {
            let (now, of_own) = clock.read(told(operations, own, pending), 5);
            operations += own;
            prop_assert_eq!((now, of_own), (operations, own));
            prop_assert_eq!(clock.time_of(operations), operations);
        }
    }
}
