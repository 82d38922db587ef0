//! The functions for leaves and returns in the usual case, where profiles are short, give the same results as the
//! general ones.

use std::collections::BTreeMap;

use proptest::prelude::*;
use workspan::{Kind, Measure, Shadow, Site, Totals};

#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(Site),
    Leaf(Site, u64),
    Advance(u64),
    Sync,
    /// The last so many operations come after a sync.
    Leave(u64),
}

const SITES: u32 = 5;
const DEPTH: usize = 90;

fn site() -> impl Strategy<Value = Site> {
    let kind = prop_oneof![Just(Kind::Call), Just(Kind::Spawn)];
    (1..SITES, 0u32..3, kind).prop_map(|(id, caller, kind)| Site { id, caller, kind })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Some strands take no time, so that some paths have equal lengths.
    let time = prop_oneof![Just(0u64), 1u64..20];
    let step = prop_oneof![
        4 => site().prop_map(Step::Enter),
        6 => (site(), time.clone()).prop_map(|(site, time)| Step::Leaf(site, time)),
        3 => time.clone().prop_map(Step::Advance),
        1 => Just(Step::Sync),
        3 => time.prop_map(Step::Leave),
    ];
    prop::collection::vec(step, 1..600)
}

/// A computation, and how much of it used the functions for the usual case.
#[derive(Default)]
struct Run {
    shadow: Shadow,
    now: u64,
    at_once: bool,
    leaves: usize,
    returns: usize,
}

impl Run {
    fn leave(&mut self, after: u64) -> Option<Totals> {
        self.now += after;
        self.shadow.advance_to(self.now);
        let synced = self.now - after;
        if self.at_once && self.shadow.is_short() {
            self.returns += 1;
            self.shadow.leave_short(synced, self.now)
        } else {
            self.shadow.leave_at(synced, self.now)
        }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Enter(site) if self.shadow.depth() < DEPTH => self.shadow.enter(site),
            Step::Leaf(site, time) => {
                let now = self.now + time;
                if self.at_once && self.shadow.leaf_at_once(now, site, time) {
                    self.leaves += 1;
                    self.shadow.advance_to(now);
                } else {
                    self.shadow.leaf(site, time);
                }
                self.now = now;
            }
            Step::Advance(time) => {
                self.now += time;
                self.shadow.advance_to(self.now);
            }
            Step::Sync => self.shadow.sync(),
            Step::Leave(after) if self.shadow.depth() > 1 => {
                self.leave(after);
            }
            Step::Enter(_) | Step::Leave(_) => {}
        }
    }

    /// Executes a computation. Returns work and span during it and at its end, the profiles on the span likewise, and
    /// the profile on the work.
    fn results(&mut self, steps: &[Step]) -> Results {
        let main = |id| Site {
            id,
            caller: 0,
            kind: Kind::Call,
        };
        self.shadow.enter(main(0));
        for &step in steps {
            self.take(step);
        }
        let (midway, on_span_midway) = (self.shadow.so_far(), self.on_span());
        let mut totals = None;
        while self.shadow.depth() > 0 {
            totals = self.leave(1);
        }
        Results {
            totals: [Some(midway), totals],
            on_span: [on_span_midway, self.on_span()],
            on_work: (0..SITES).map(|id| self.shadow.on_work(id)).collect(),
        }
    }

    fn on_span(&self) -> BTreeMap<u32, Measure> {
        let mut all: BTreeMap<u32, Measure> = BTreeMap::new();
        self.shadow
            .on_span(|site, measure| *all.entry(site).or_default() += measure);
        all
    }
}

#[derive(Debug, PartialEq)]
struct Results {
    totals: [Option<Totals>; 2],
    on_span: [BTreeMap<u32, Measure>; 2],
    on_work: Vec<Measure>,
}

fn at_once() -> Run {
    Run {
        at_once: true,
        ..Run::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_told_at_once_is_what_is_told_in_general(steps in steps()) {
        let general = Run::default().results(&steps);
        prop_assert_eq!(&at_once().results(&steps), &general);
        // The own parts of all invocations add up to everything.
        let own = Totals {
            work: general.on_work.iter().map(|of| of.local.work).sum(),
            span: general.on_span[1].values().map(|of| of.local.span).sum(),
        };
        prop_assert_eq!(general.totals[1], Some(own));
    }
}

#[test]
fn long_profiles_are_not_taken_for_short_ones() {
    // The recursions call two different leaves on their way, so that hundreds of leaves are on the path.
    let of = |id, kind| Site {
        id,
        caller: 1,
        kind,
    };
    let down = [
        Step::Enter(of(1, Kind::Spawn)),
        Step::Leaf(of(2, Kind::Call), 3),
        Step::Leaf(of(3, Kind::Call), 5),
    ];
    let steps: Vec<Step> = (0..DEPTH)
        .flat_map(|_| down)
        .chain((0..DEPTH).map(|_| Step::Leave(2)))
        .collect();
    let mut run = at_once();
    assert_eq!(run.results(&steps), Run::default().results(&steps));
    assert!(
        run.leaves > DEPTH && run.returns > 5,
        "some are told at once"
    );
    assert!(run.returns < DEPTH, "and some are not");
}
