//! The work-span algorithm against the recurrences of programs whose work and span are known.

use std::collections::BTreeMap;

use workspan::{Kind, Measure, Shadow, Site, Sum};

const MAIN: u32 = 0;
const FIB: u32 = 1;

fn site(id: u32, caller: u32, kind: Kind) -> Site {
    Site { id, caller, kind }
}

/// Figure 5: one step to test n, one to add.
fn fib(shadow: &mut Shadow, at: Site, n: u32) {
    shadow.enter(at, ());
    shadow.advance(1);
    if n >= 2 {
        fib(shadow, site(4, FIB, Kind::Spawn), n - 1);
        fib(shadow, site(5, FIB, Kind::Call), n - 2);
        shadow.sync();
        shadow.advance(1);
    }
    shadow.leave();
}

fn fib_profile(n: u32) -> (Shadow, Sum) {
    let mut shadow = Shadow::default();
    shadow.enter(site(0, 2, Kind::Call), ());
    fib(&mut shadow, site(13, MAIN, Kind::Call), n);
    let totals = shadow.leave().expect("main was entered");
    (shadow, totals)
}

fn work(n: u32) -> u64 {
    if n < 2 { 1 } else { 2 + work(n - 1) + work(n - 2) }
}

fn span(n: u32) -> u64 {
    if n < 2 { 1 } else { 2 + span(n - 1).max(span(n - 2)) }
}

fn on_span(shadow: &Shadow) -> BTreeMap<u32, Measure> {
    let mut profile: BTreeMap<u32, Measure> = BTreeMap::new();
    shadow.on_span(|site, measure| *profile.entry(site).or_default() += measure);
    profile
}

#[test]
fn work_and_span_of_fib_are_the_recurrences() {
    for n in [0, 1, 2, 5, 10, 18] {
        let (_, totals) = fib_profile(n);
        assert_eq!((totals.work, totals.span), (work(n), span(n)), "fib({n})");
    }
}

#[test]
fn top_caller_counts_the_outermost_fib_only_and_gives_the_golden_ratio() {
    let (shadow, _) = fib_profile(20);
    let (first, second) = (shadow.on_work(4), shadow.on_work(5));
    assert_eq!((first.top_caller.work, first.top_caller.span), (work(19), span(19)));
    assert_eq!((second.top_caller.work, second.top_caller.span), (work(18), span(18)));
    #[allow(clippy::cast_precision_loss, reason = "a ratio")]
    let ratio = first.top_caller.work as f64 / second.top_caller.work as f64;
    let golden = f64::midpoint(1.0, 5f64.sqrt());
    assert!((ratio / golden - 1.0).abs() < 0.02, "{ratio}");
}

#[test]
fn top_call_site_counts_figure_six() {
    // In fib(4) these spawns are not below another spawn: fib(3) from fib(4), and fib(1) from the
    // right child fib(2).
    let (shadow, _) = fib_profile(4);
    let (first, second) = (shadow.on_work(4), shadow.on_work(5));
    assert_eq!(first.top_call_site.count, 2);
    assert_eq!(first.top_call_site.work, work(3) + work(1));
    // These calls count: fib(2) from fib(4), fib(1) from fib(3), and fib(0) from the fib(2) under
    // fib(3).
    assert_eq!(second.top_call_site.count, 3);
    assert_eq!(second.top_call_site.work, work(2) + work(1) + work(0));
    assert_eq!((first.local.count, second.local.count), (4, 4));
}

#[test]
fn local_spans_on_the_span_add_up_to_the_span() {
    for n in [1, 6, 15] {
        let (shadow, totals) = fib_profile(n);
        let profile = on_span(&shadow);
        assert_eq!(profile.values().map(|m| m.local.span).sum::<u64>(), totals.span);
        let all: u64 = (0..16).map(|site| shadow.on_work(site).local.work).sum();
        assert_eq!(all, totals.work);
    }
}

/// `fib` with its leaves reported as leaves; returns when it is over.
fn fib_with_leaves(shadow: &mut Shadow, now: u64, at: Site, n: u32) -> u64 {
    shadow.prepare(at);
    if n < 2 {
        assert!(shadow.leaf_at(now + 1, at, 1));
        return now + 1;
    }
    assert!(shadow.enter_at(now, at, ()));
    let now = fib_with_leaves(shadow, now + 1, site(4, FIB, Kind::Spawn), n - 1);
    let now = fib_with_leaves(shadow, now, site(5, FIB, Kind::Call), n - 2);
    shadow.leave_at(now, now + 1);
    now + 1
}

#[test]
fn a_leaf_is_an_invocation_that_invokes_nothing() {
    for n in [0, 1, 2, 3, 9, 16] {
        let (plain, totals) = fib_profile(n);
        let mut shadow = Shadow::default();
        shadow.enter(site(0, 2, Kind::Call), ());
        let now = fib_with_leaves(&mut shadow, 0, site(13, MAIN, Kind::Call), n);
        assert_eq!(shadow.leave_at(now, now), Some(totals), "fib({n})");
        for at in 0..16 {
            assert_eq!(shadow.on_work(at), plain.on_work(at), "site {at}");
        }
        assert_eq!(on_span(&shadow), on_span(&plain), "fib({n})");
    }
}

#[test]
fn the_middle_of_a_run_shows_the_path_so_far() {
    let mut shadow = Shadow::default();
    shadow.enter(site(0, MAIN, Kind::Call), ());
    shadow.advance(3);
    shadow.enter(site(1, FIB, Kind::Spawn), ());
    shadow.advance(10);
    shadow.leave();
    shadow.advance(4);
    assert_eq!(shadow.so_far(), Sum::one(17, 13));
    assert_eq!(on_span(&shadow)[&1].local.span, 10);
    shadow.sync();
    shadow.advance(1);
    assert_eq!(shadow.leave(), Some(Sum::one(18, 14)));
}

/// A path of Figure 3: its length, the part that is the frame's own, and what lies on it.
#[derive(Default)]
struct Path {
    length: u64,
    own: u64,
    profile: BTreeMap<u32, Measure>,
}

impl Path {
    /// Goes on along another path.
    fn append(&mut self, other: Self) {
        self.length += other.length;
        self.own += other.own;
        for (site, measure) in other.profile {
            *self.profile.entry(site).or_default() += measure;
        }
    }
}

/// What an invocation does.
enum Step {
    Runs(u64),
    Syncs,
    Makes(Site, Vec<Step>),
}

/// Steps of a random program. No invocation takes no time: whether such a one is on a path would be
/// a matter of taste.
fn random(rng: &mut fastrand::Rng, sites: u32, fuel: &mut u32) -> Vec<Step> {
    let mut steps = vec![Step::Runs(1)];
    while *fuel > 0 && rng.u32(..12) > 0 {
        *fuel -= 1;
        let id = rng.u32(..sites);
        let kind = if rng.bool() { Kind::Spawn } else { Kind::Call };
        steps.push(match rng.u32(..4) {
            0 => Step::Runs(rng.u64(1..20)),
            1 => Step::Syncs,
            _ => Step::Makes(site(id, id / 4, kind), random(rng, sites, fuel)),
        });
    }
    steps
}

fn shadowed(shadow: &mut Shadow, at: Site, steps: &[Step]) -> Option<Sum> {
    shadow.enter(at, ());
    for step in steps {
        match step {
            Step::Runs(time) => shadow.advance(*time),
            Step::Syncs => shadow.sync(),
            Step::Makes(at, steps) => drop(shadowed(shadow, *at, steps)),
        }
    }
    shadow.leave()
}

/// Work and span of an invocation with the variables of Figure 3 as the paper has them.
fn naive(above: &mut Vec<Site>, at: Site, steps: &[Step]) -> (Sum, Path) {
    let (mut work, mut local_work) = (0, 0);
    let [mut prefix, mut longest_child, mut continuation] = [(); 3].map(|()| Path::default());
    above.push(at);
    for step in steps.iter().chain([&Step::Syncs]) {
        match step {
            Step::Runs(time) => {
                local_work += time;
                continuation.length += time;
                continuation.own += time;
            }
            Step::Syncs => {
                let last = std::mem::take(&mut continuation);
                let child = std::mem::take(&mut longest_child);
                prefix.append(if last.length > child.length { last } else { child });
            }
            Step::Makes(made, steps) => {
                let (sum, path) = naive(above, *made, steps);
                work += sum.work;
                if made.kind == Kind::Call {
                    continuation.append(path);
                } else if continuation.length + path.length > longest_child.length {
                    prefix.append(std::mem::take(&mut continuation));
                    longest_child = path;
                }
            }
        }
    }
    above.pop();
    let sum = Sum::one(work + local_work, prefix.length);
    let top = |is_above: bool| if is_above { Sum::default() } else { sum };
    let measure = Measure {
        top_call_site: top(above.iter().any(|above| above.id == at.id)),
        top_caller: top(above.iter().any(|above| above.caller == at.caller)),
        local: Sum::one(local_work, std::mem::take(&mut prefix.own)),
    };
    *prefix.profile.entry(at.id).or_default() += measure;
    (sum, prefix)
}

#[test]
fn random_programs_have_the_paths_of_the_papers_variables() {
    for seed in 0..100 {
        let sites = if seed % 2 == 0 { 4 } else { 40 };
        let (mut rng, mut fuel) = (fastrand::Rng::with_seed(seed), 1000);
        let mut steps = Vec::new();
        while fuel > 0 {
            steps.extend(random(&mut rng, sites, &mut fuel));
        }
        let (mut shadow, first) = (Shadow::default(), site(0, 0, Kind::Call));
        let totals = shadowed(&mut shadow, first, &steps);
        let (sum, path) = naive(&mut Vec::new(), first, &steps);
        assert_eq!(totals, Some(sum), "seed {seed}");
        assert_eq!(on_span(&shadow), path.profile, "seed {seed}");
    }
}

#[test]
fn a_loop_of_calls_takes_no_memory_for_each() {
    let mut shadow = Shadow::default();
    shadow.enter(site(0, MAIN, Kind::Call), ());
    for round in 0..10_000 {
        for id in 1..4 {
            let kind = if round % 2 == 0 { Kind::Call } else { Kind::Spawn };
            shadow.enter(site(id, MAIN, kind), ());
            shadow.advance(u64::from(id));
            shadow.leave();
        }
        if round % 10 == 9 {
            shadow.sync();
        }
    }
    assert!(shadow.elements() <= 256, "{}", shadow.elements());
    assert_eq!(shadow.on_work(3).local, Sum { count: 10_000, work: 30_000, span: 30_000 });
}
