//! Tasks that belong to the task that makes them, whatever functions are called, against the longest path of random
//! programs.

use fastrand::Rng;
use workspan::{Kind, Shadow, Site};

/// A task that runs: how long the longest path to where it is is, and to the ends of its children.
#[derive(Default)]
struct Task {
    now: u64,
    children: Vec<u64>,
}

impl Task {
    fn wait(&mut self) {
        self.now = self.children.drain(..).fold(self.now, u64::max);
    }
}

/// A function of `task` executes, calls, makes tasks and waits, as chance has it.
fn body(random: &mut Rng, shadow: &mut Shadow, task: &mut Task, depth: u32) {
    for _ in 0..random.u64(..7) {
        let site = |kind, id| Site {
            id,
            caller: depth,
            kind,
        };
        match random.u64(..if depth < 5 { 8 } else { 3 }) {
            0 | 1 => {
                let amount = random.u64(..20);
                shadow.advance(amount);
                task.now += amount;
            }
            2 => {
                shadow.wait();
                task.wait();
            }
            3..=5 => {
                shadow.enter(site(Kind::Call, 1 + depth));
                body(random, shadow, task, depth + 1);
                shadow.leave();
            }
            _ => {
                shadow.enter(site(Kind::Task, 10 + depth));
                let mut child = Task {
                    now: task.now,
                    ..Task::default()
                };
                body(random, shadow, &mut child, depth + 1);
                shadow.leave();
                child.wait();
                task.children.push(child.now);
            }
        }
    }
}

#[test]
fn the_span_of_random_programs_is_the_longest_path_and_consists_of_local_spans() {
    for seed in 1..4000 {
        let (mut random, mut shadow, mut task) =
            (Rng::with_seed(seed), Shadow::default(), Task::default());
        shadow.enter(Site::default());
        body(&mut random, &mut shadow, &mut task, 0);
        shadow.wait();
        task.wait();
        assert_eq!(
            shadow.so_far().span,
            task.now,
            "seed {seed}, before the end"
        );
        let totals = shadow.leave().expect("the outermost was entered");
        assert_eq!(totals.span, task.now, "seed {seed}");
        let mut local = 0;
        shadow.on_span(|site, measure| {
            local += measure.local.span;
            assert!(
                measure.local.span <= measure.local.work,
                "seed {seed}, {site}"
            );
        });
        assert_eq!(local, totals.span, "seed {seed}");
        for site in 0..20 {
            let measure = shadow.on_work(site);
            assert!(
                measure.local.span <= measure.local.work,
                "seed {seed}, {site}"
            );
            assert!(measure.local.span <= totals.span * measure.local.count);
        }
    }
}
