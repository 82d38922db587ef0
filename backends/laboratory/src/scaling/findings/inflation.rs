//! Work inflation and related losses: the same code takes longer, or less, on more processors.

use contech_observation::State;

use super::{Diagnosis, Finding, at, finding};
use crate::scaling::Run;
use crate::scaling::ratio::over;
use crate::view::units::{share as percent, time, whole};

impl Diagnosis<'_> {
    pub(super) fn inflation(&self) -> Finding {
        let share = self.point.factors.delay.inflation;
        if share < 0.0 {
            let text = format!(
                "The program's own code takes {} less of the time of {} processors than it would on one: more cache in \
                 all, or an early end found sooner (negative delay).",
                percent(-share),
                self.point.threads
            );
            let advice = "No loss: but the speedup is not only that of the processors.";
            return finding("superlinear", String::new(), share, text, advice);
        }
        // Code seems to take longer if it has no processor for part of the time.
        let others = self.point.preempted;
        let running = over(self.point.account.running, self.point.account.total());
        if others * running > share / 2.0 {
            let text = format!(
                "{} is time in which threads had work but no processor ({} of their running time): {}.",
                self.of_all(share),
                percent(others),
                if self.point.oversubscribed {
                    "there are more threads than processors"
                } else {
                    "other programs used the machine"
                }
            );
            let advice = "Measure again on a quiet machine, with no more threads than processors.";
            return finding("preemption", String::new(), share, text, advice);
        }
        let (place, grew) = self.inflated();
        let (cause, why, advice) = self.kind_of_inflation();
        let text = format!(
            "{} is work inflation: the same code takes longer on {} processors than on one{}{grew}; {why}.",
            self.of_all(share),
            self.point.threads,
            at(&place)
        );
        finding(cause, place, share, text, advice)
    }

    /// The phase whose code grew most.
    fn inflated(&self) -> (String, String) {
        let running = |run: &Run, place: usize| {
            let phases = run.phases.iter().filter(|phase| phase.place == place);
            phases.map(|phase| phase.times.of(State::Running) as f64).sum::<f64>()
        };
        let (Some(run), Some(one)) = (self.run, self.one) else {
            return (String::new(), String::new());
        };
        let grown = run.phases.iter().map(|phase| {
            let before = running(one, phase.place);
            (phase.place, before, running(run, phase.place))
        });
        let most = grown.max_by(|a, b| (a.2 - a.1).total_cmp(&(b.2 - b.1)));
        most.map_or_else(Default::default, |(place, before, after)| {
            // With one thread there is no such phase, because the program then makes no threads.
            if before == 0.0 {
                return (self.name(place), String::new());
            }
            let grew =
                format!(" ({} there instead of {})", time(whole(after)), time(whole(before)));
            (self.name(place), grew)
        })
    }

    /// What the shape of the curves (work inflation, section 2.5) says about the kind of inflation.
    fn kind_of_inflation(&self) -> (&'static str, &'static str, &'static str) {
        // Every added processor slowed the code down by more than it gained, which is typical of
        // lines that travel.
        let one = self.point.speedup.maximal / f64::from(self.point.threads);
        if self.point.speedup.inflation < one {
            return (
                "contention",
                "more than the added processors give, which is what atomic operations and false sharing do",
                "Record it: contech run, then contech-backend sharing names the lines; pad them or give each thread its \
                 own.",
            );
        }
        (
            "inflation",
            "memory bandwidth, caches or lines that travel between processors",
            "Compare with a smaller input: if it goes away, memory is the limit; contech-backend misses and \
             contech-backend sharing of a recorded run tell which.",
        )
    }
}
