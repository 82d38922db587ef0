//! Iterations that are reported at once equal iterations that are reported one by one, and the parts of one iteration
//! are one iteration.

use std::collections::BTreeMap;

use workspan::{Kind, Measure, Shadow, Site, Totals};

const MAIN: u32 = 0;
const BODY: u32 = 1;
const LOOP: Site = Site {
    id: 3,
    caller: MAIN,
    kind: Kind::Spawn,
};
const ITERATIONS: [u64; 6] = [4, 17, 2, 9, 17, 1];

fn main_of(body: impl FnOnce(&mut Shadow)) -> (Totals, BTreeMap<u32, Measure>, Measure) {
    let mut shadow = Shadow::default();
    shadow.enter(Site {
        id: 0,
        caller: 2,
        kind: Kind::Call,
    });
    shadow.advance(5);
    body(&mut shadow);
    let totals = shadow.leave().expect("main was entered");
    let mut on_span: BTreeMap<u32, Measure> = BTreeMap::new();
    shadow.on_span(|site, measure| *on_span.entry(site).or_default() += measure);
    (totals, on_span, shadow.on_work(LOOP.id))
}

#[test]
fn iterations_told_at_once_are_spawns() {
    let one_by_one = main_of(|shadow| {
        for work in ITERATIONS {
            shadow.leaf(LOOP, work);
        }
        shadow.sync();
        shadow.advance(3);
    });
    let at_once = main_of(|shadow| {
        shadow.iterations(LOOP, 6, 50, 17);
        shadow.sync();
        shadow.advance(3);
    });
    assert_eq!(one_by_one, at_once);
    assert_eq!(at_once.0, Totals { work: 58, span: 25 });
}

#[test]
fn what_hands_out_chunks_is_work_beside_the_iterations() {
    let (totals, _, of_the_loop) = main_of(|shadow| {
        for _ in 0..10 {
            shadow.iterations(LOOP, 0, 2, 2);
            shadow.iterations(LOOP, 1, 7, 7);
        }
        shadow.sync();
    });
    assert_eq!(totals, Totals { work: 95, span: 12 });
    assert_eq!((of_the_loop.local.count, of_the_loop.local.work), (10, 90));
}

#[test]
fn an_iteration_that_was_none_is_its_callers_code() {
    let with = main_of(|shadow| {
        shadow.enter(LOOP);
        shadow.advance(4);
        shadow.leave();
        shadow.enter(LOOP);
        shadow.advance(1);
        shadow.dissolve();
    });
    let without = main_of(|shadow| {
        shadow.leaf(LOOP, 4);
        shadow.advance(1);
    });
    assert_eq!(with, without);
    // An invocation that has made invocations itself stays one.
    let (_, _, of_the_loop) = main_of(|shadow| {
        shadow.enter(LOOP);
        let call = Site {
            id: 4,
            caller: BODY,
            kind: Kind::Call,
        };
        shadow.leaf(call, 2);
        shadow.dissolve();
    });
    assert_eq!(of_the_loop.local.count, 1);
}

#[test]
fn ordered_parts_follow_each_other_and_the_rest_is_parallel() {
    let (totals, _, of_the_loop) = main_of(|shadow| {
        for _ in 0..4 {
            shadow.enter(LOOP);
            shadow.advance(100);
            let (site, tag) = shadow.leave_part().expect("an iteration");
            shadow.advance(6);
            shadow.enter_with(site, tag);
            shadow.advance(10);
            shadow.leave();
        }
        shadow.sync();
    });
    // The first part of the last iteration begins after three ordered parts.
    assert_eq!(
        totals,
        Totals {
            work: 469,
            span: 5 + 18 + 100
        }
    );
    assert_eq!((of_the_loop.local.count, of_the_loop.local.work), (4, 440));
}
