//! Load imbalance: processors without work within parallel phases, by the state of their threads.

use contech_observation::State;

use super::{Diagnosis, Finding, at, finding};
use crate::scaling::ratio::over;
use crate::view::units::{count, plural, share as percent, time, whole};

/// If barriers are closer to each other than this, ns, their cost is waking up and not waiting for
/// the slowest thread.
const SHORT_PHASE: f64 = 100_000.0;

impl Diagnosis<'_> {
    /// The finding for `share` of load imbalance, without the waits for tasks to be made.
    pub(super) fn imbalance(&self, share: f64) -> Finding {
        let account = &self.point.account;
        let parts = [
            (account.barrier, State::Barrier),
            (account.condition, State::Condition),
            (account.unoccupied, State::Idle),
        ];
        let most = parts.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        match most.map(|(_, state)| state) {
            Some(State::Condition) => self.waits(State::Condition, share),
            Some(State::Barrier) => {
                self.short_barriers(share).unwrap_or_else(|| self.unequal(share))
            }
            _ => self.unequal(share),
        }
    }

    fn unequal(&self, share: f64) -> Finding {
        let worst = self.phase(|account| account.barrier + account.unoccupied);
        let (place, detail, refined) = worst.map_or_else(Default::default, |(phase, of)| {
            let (of, wall, place) = (percent(of), time(phase.wall_ns), self.name(phase.place));
            let phases = plural(phase.count, "phase");
            let detail = format!("; {of} of that in {wall} of {phases} at {place}");
            (place, detail, self.refined(phase, false))
        });
        let text = format!(
            "{} is load imbalance: processors without work while others still have some{detail}.",
            self.of_all(share)
        );
        let advice = "Deal out the work in more and smaller pieces (schedule(dynamic), smaller chunks, tasks), or in \
                      equal ones.";
        finding("imbalance", place, share, text, &format!("{advice}{refined}"))
    }

    /// The finding for barriers that are so close to each other that waking up is their cost.
    fn short_barriers(&self, share: f64) -> Option<Finding> {
        let run = self.run?;
        let (wait, _) = self.wait(State::Barrier)?;
        let threads = f64::from(self.point.threads);
        let barriers = wait.count as f64 / threads;
        let apart = over(run.t_ns as f64, barriers);
        (apart < SHORT_PHASE && barriers >= 100.0).then(|| {
            let place = self.name(wait.place);
            let text = format!(
                "{} is spent in {} barriers{}, one every {}: so close to each other that giving up the processor and \
                 waking up again costs more than waiting.",
                self.of_all(share),
                count(whole(barriers)),
                at(&place),
                time(whole(apart))
            );
            let advice = "Do more between barriers, or spin in them (a spin barrier; OMP_WAIT_POLICY=active), with no \
                          more threads than processors.";
            finding("barrier", place, share, text, advice)
        })
    }
}
