//! Tasks that belong to the task that makes them, whatever functions are called, against the longest path of random
//! programs.

use workspan::{Kind, Shadow, Site};

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

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
fn body(random: &mut Random, shadow: &mut Shadow, task: &mut Task, depth: u32) {
    for _ in 0..random.below(7) {
        let site = |kind, id| Site {
            id,
            caller: depth,
            kind,
        };
        match random.below(if depth < 5 { 8 } else { 3 }) {
            0 | 1 => {
                let amount = random.below(20);
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
        let (mut random, mut shadow, mut task) = (
            Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)),
            Shadow::default(),
            Task::default(),
        );
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
