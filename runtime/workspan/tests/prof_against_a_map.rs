//! The prof data structure gives the same answers as a plain map, in amortised constant time and O(S) space.
#![allow(clippy::cast_precision_loss, reason = "ratios of counts")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use workspan::{Pool, Prof};

#[derive(Clone, Debug)]
enum Step {
    Init(usize),
    Update(usize, u32, u64),
    Assign(usize, usize),
    Union(usize, usize),
    Print(usize),
    Peek(usize),
}

const PROFS: usize = 5;

fn step() -> impl Strategy<Value = Step> {
    let prof = 0..PROFS;
    // Few sites come at first and more later, so that sites are discovered as the run goes on.
    let site = prop_oneof![0u32..4, 0u32..40];
    prop_oneof![
        1 => prof.clone().prop_map(Step::Init),
        12 => (prof.clone(), site, 1u64..100).prop_map(|(p, s, v)| Step::Update(p, s, v)),
        2 => (prof.clone(), prof.clone()).prop_map(|(a, b)| Step::Assign(a, b)),
        4 => (prof.clone(), prof.clone()).prop_map(|(a, b)| Step::Union(a, b)),
        1 => prof.clone().prop_map(Step::Print),
        1 => prof.prop_map(Step::Peek),
    ]
}

/// Two different elements.
fn pair<T>(all: &mut [T], a: usize, b: usize) -> Option<(&mut T, &mut T)> {
    all.get_disjoint_mut([a, b]).ok().map(|[a, b]| (a, b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_operation_does_what_it_does_to_a_map(steps in prop::collection::vec(step(), 1..200)) {
        let mut pool = Pool::default();
        let mut profs: Vec<Prof<u64>> = (0..PROFS).map(|_| Prof::default()).collect();
        let mut maps: Vec<BTreeMap<u32, u64>> = vec![BTreeMap::new(); PROFS];
        let printed = |pool: &mut Pool<u64>, prof: &mut Prof<u64>| {
            let mut map = BTreeMap::new();
            pool.print(prof, |site, value| assert!(map.insert(site, value).is_none()));
            map
        };
        for step in steps {
            match step {
                Step::Init(p) => { pool.init(&mut profs[p]); maps[p].clear(); }
                Step::Update(p, site, value) => {
                    pool.update(&mut profs[p], site, value);
                    *maps[p].entry(site).or_default() += value;
                }
                Step::Assign(a, b) => if let Some((to, from)) = pair(&mut profs, a, b) {
                    pool.assign(to, from);
                    maps[a] = std::mem::take(&mut maps[b]);
                },
                Step::Union(a, b) => if let Some((to, from)) = pair(&mut profs, a, b) {
                    pool.union(to, from);
                    for (site, value) in std::mem::take(&mut maps[b]) {
                        *maps[a].entry(site).or_default() += value;
                    }
                },
                Step::Print(p) => {
                    prop_assert_eq!(printed(&mut pool, &mut profs[p]), std::mem::take(&mut maps[p]));
                }
                Step::Peek(p) => {
                    let mut map: BTreeMap<u32, u64> = BTreeMap::new();
                    pool.peek(&profs[p], |site, value| *map.entry(site).or_default() += value);
                    prop_assert_eq!(&map, &maps[p]);
                }
            }
            for prof in &profs {
                let space = pool.space(prof);
                prop_assert!(space <= 3 * pool.sites().max(32), "{space} elements for {} sites", pool.sites());
            }
        }
        for (prof, map) in profs.iter_mut().zip(&mut maps) {
            prop_assert_eq!(printed(&mut pool, prof), std::mem::take(map));
        }
    }
}

/// Elementary steps per operation of a run like a profiler's: random updates, unions with a parent, and now and then
/// a loser that is thrown away.
fn steps_per_operation(sites: u32, operations: u64) -> f64 {
    let mut pool = Pool::default();
    let mut stack: Vec<Prof<u64>> = vec![Prof::default()];
    let mut random = fastrand::Rng::with_seed(7);
    let mut made = 0u64;
    while made < operations {
        let site = random.u32(..sites);
        made += 1;
        match random.u32(..16) {
            0..6 => stack.push(Prof::default()),
            6..11 if stack.len() > 1 => {
                let mut child = stack.pop().unwrap_or_default();
                if let Some(parent) = stack.last_mut() {
                    pool.union(parent, &mut child);
                }
            }
            11 if stack.len() > 1 => {
                let mut child = stack.pop().unwrap_or_default();
                pool.init(&mut child);
            }
            _ => {
                if let Some(top) = stack.last_mut() {
                    pool.update(top, site, 1);
                }
            }
        }
    }
    pool.steps() as f64 / made as f64
}

#[test]
fn the_amortised_cost_is_flat_from_ten_to_a_hundred_thousand_call_sites() {
    let costs: Vec<f64> = [10, 100, 1_000, 10_000, 100_000]
        .map(|sites| steps_per_operation(sites, 3_000_000))
        .to_vec();
    for &cost in &costs {
        assert!(cost < 3.0, "steps per operation: {costs:?}");
    }
}

#[test]
fn an_array_alone_would_not_be_flat() {
    // The union of two full arrays costs S. The list avoids this cost until S updates have paid for it.
    let mut pool: Pool<u64> = Pool::default();
    let (mut a, mut b) = (Prof::default(), Prof::default());
    // The loop runs twice: call sites are new the first time, which leaves some of them in lists.
    for site in (0..1000).chain(0..1000) {
        pool.update(&mut a, site, 1);
        pool.update(&mut b, 999 - site, 1);
    }
    let before = pool.steps();
    pool.union(&mut a, &mut b);
    assert!(pool.steps() - before >= 1000, "two arrays were added");
    pool.update(&mut b, 7, 1);
    let before = pool.steps();
    pool.union(&mut a, &mut b);
    assert_eq!(pool.steps() - before, 1, "a list was concatenated");
}
