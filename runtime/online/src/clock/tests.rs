//! The clock without a counter: how it divides intervals.

use proptest::prelude::*;

use super::*;

fn clock(cost: Cost) -> Clock {
    Clock::new(Metric::Time, cost)
}

fn passed(operations: u64, events: u64, foreign: Foreign) -> Passed {
    Passed { operations, events, foreign }
}

#[test]
fn operations_before_the_first_event_are_given_their_time() {
    let mut clock = clock(Cost::default());
    // A million operations, which are faster than the initial rate.
    clock.passed(300_000, passed(1_000_000, 1, Foreign::None));
    assert!((299_980..=300_000).contains(&clock.time_of(1_000_000)));
    assert_eq!(clock.done(), 300_000);
    clock.passed(512, passed(512, 1, Foreign::None));
    assert_eq!(clock.time_of(512), 300_512);
}

#[test]
fn what_events_cost_is_not_the_programs_time() {
    let cost = Cost { event: 5 << (EVENT_BITS - 1), reading: 30 };
    let mut clock = clock(cost);
    clock.passed(1000 + 250 + 30, passed(500, 100, Foreign::None));
    assert_eq!(clock.time_of(500), 1000);
    assert_eq!(clock.time_of(250), 500);
}

#[test]
fn what_is_left_of_the_cost_is_taken_from_the_next_interval() {
    let cost = Cost { reading: 40, ..Cost::default() };
    let mut clock = clock(cost);
    clock.passed(25, passed(10, 1, Foreign::None));
    assert_eq!(clock.time_of(10), 0);
    clock.done();
    clock.passed(155, passed(100, 1, Foreign::None));
    assert_eq!(clock.time_of(100), 100);
}

#[test]
fn time_of_code_that_counts_nothing_is_its_callers() {
    let mut clock = clock(Cost::default());
    // Foreign code was called by the ten operations that no event reports.
    clock.passed(5_000, passed(10, 0, Foreign::Own));
    assert_eq!(clock.done(), 5_000);
    // Of the hundred operations that an event reports, the last ten belong to an invocation that
    // was called after the foreign code.
    clock.passed(5_000, passed(100, 1, Foreign::Before));
    clock.ends(100, Foreign::Before);
    assert_eq!((clock.time_of(100), clock.of_own(10)), (10_000, 10));
    clock.done();
    clock.passed(5_000, passed(100, 1, Foreign::Own));
    clock.ends(100, Foreign::Own);
    assert_eq!((clock.time_of(100), clock.of_own(10)), (15_000, 4_910));
}

fn foreign() -> impl Strategy<Value = Foreign> {
    prop_oneof![Just(Foreign::None), Just(Foreign::Before), Just(Foreign::Own)]
}

proptest! {
    /// Whatever the rates, the distributed time is the time that has passed.
    #[test]
    fn no_time_is_lost_or_invented(
        windows in prop::collection::vec((0_u64..3000, 0_u64..100_000, 0_u64..1 << 20, foreign()), 1..60),
    ) {
        let mut clock = clock(Cost::default());
        let (mut all, mut before) = (0, 0);
        for (operations, elapsed, part, foreign) in windows {
            clock.passed(elapsed, passed(operations, 1, foreign));
            all += elapsed;
            let part = part.min(operations);
            let (early, late) = (clock.time_of(part), clock.time_of(operations));
            prop_assert!(before <= early && early <= late && late <= all);
            clock.ends(operations, foreign);
            prop_assert_eq!(clock.time_of(operations), all);
            prop_assert_eq!(clock.done(), all);
            before = all;
        }
    }

    /// In operations the time is their number.
    #[test]
    fn operations_are_counted_exactly(all in prop::collection::vec((0_u64..1 << 40, foreign()), 1..60)) {
        let mut clock = Clock::new(Metric::Ops, Cost { event: 7 << EVENT_BITS, reading: 9 });
        let mut operations = 0;
        for (own, foreign) in all {
            clock.read(passed(own, 5, foreign));
            prop_assert_eq!(clock.time_of(own), operations + own);
            operations += own;
            prop_assert_eq!(clock.done(), operations);
        }
    }
}
