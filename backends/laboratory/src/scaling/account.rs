//! The account of a run: where the time of its processors went.

use contech_observation::{State, Times};
use serde::Serialize;

use super::measurement::Run;

/// Where a thread that gives up its processor while it waits for a lock is put (deconstructing
/// overhead, section IV).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Blocking {
    /// With load imbalance: giving up the processor is an act of scheduling (the paper's choice).
    #[default]
    Imbalance,
    /// With software delay, as busy waiting is.
    Delay,
}

/// Processor time, ns. All fields together are P times the duration of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Account {
    /// The program's own code, with everything that slows it down in the hardware.
    pub running: f64,
    /// The parallel runtime's work.
    pub scheduling: f64,
    /// Busy waiting for locks.
    pub spin: f64,
    /// Blocked by locks.
    pub lock: f64,
    /// Unused while there was no parallel phase.
    pub serialization: f64,
    /// Unused within parallel phases, while their threads were in barriers.
    pub barrier: f64,
    /// Unused within parallel phases, while their threads waited for conditions.
    pub condition: f64,
    /// Unused within parallel phases, while their threads waited for messages.
    pub message: f64,
    /// Unused within parallel phases, while threads had no work or there was no thread.
    pub unoccupied: f64,
}

fn of(times: &Times, state: State) -> f64 {
    times.of(state) as f64
}

impl Account {
    /// The account of a run on `processors`.
    #[must_use]
    pub fn of(run: &Run, processors: u32) -> Self {
        let mut sum = Self::default();
        let (mut serial_ns, mut serial) = (run.t_ns, run.times);
        for phase in run.phases.iter().filter(|phase| phase.parallel(processors)) {
            // Phases of marked programs may overlap, but together they are no longer than the run.
            let wall = phase.wall_ns.min(serial_ns);
            serial_ns -= wall;
            for (left, ns) in serial.0.iter_mut().zip(phase.times.0) {
                *left = left.saturating_sub(ns);
            }
            sum.add(&Self::of_stretch(&phase.times, wall, processors));
        }
        sum.add(&Self::outside(&serial, serial_ns, processors));
        sum
    }

    /// Outside of phases there is no work to distribute: whatever a thread waited for, the section
    /// was serial.
    fn outside(times: &Times, wall_ns: u64, processors: u32) -> Self {
        let mut outside = Self::of_stretch(times, wall_ns, processors);
        outside.serialization =
            outside.barrier + outside.condition + outside.message + outside.unoccupied;
        (outside.barrier, outside.condition) = (0.0, 0.0);
        (outside.message, outside.unoccupied) = (0.0, 0.0);
        outside
    }

    /// The account of a stretch of time in which threads had these states.
    #[must_use]
    pub fn of_stretch(times: &Times, wall_ns: u64, processors: u32) -> Self {
        let capacity = wall_ns as f64 * f64::from(processors);
        // A thread sleeps because the program says so; the papers assume that programs do not.
        let running = of(times, State::Running) + of(times, State::Sleep);
        let scheduling = of(times, State::Scheduling);
        let spin = of(times, State::Spin);
        // There were more threads than processors, which shared the processors.
        let used = running + scheduling + spin;
        let share = if used > capacity { capacity / used } else { 1.0 };
        let unused = (capacity - used * share).max(0.0);
        let waits = [State::Lock, State::Barrier, State::Condition, State::Message]
            .map(|state| of(times, state));
        let waited: f64 = waits.iter().sum();
        // A thread that waits needs no processor, so a wait accounts only for unused time.
        let part = if waited > unused { unused / waited } else { 1.0 };
        let [lock, barrier, condition, message] = waits.map(|ns| ns * part);
        Self {
            running: running * share,
            scheduling: scheduling * share,
            spin: spin * share,
            lock,
            serialization: 0.0,
            barrier,
            condition,
            message,
            unoccupied: (unused - waited * part).max(0.0),
        }
    }

    fn fields(&mut self) -> [&mut f64; 9] {
        [
            &mut self.running,
            &mut self.scheduling,
            &mut self.spin,
            &mut self.lock,
            &mut self.serialization,
            &mut self.barrier,
            &mut self.condition,
            &mut self.message,
            &mut self.unoccupied,
        ]
    }

    /// Adds another one.
    pub fn add(&mut self, other: &Self) {
        let mut other = *other;
        for (sum, more) in self.fields().into_iter().zip(other.fields()) {
            *sum += *more;
        }
    }

    /// Each field multiplied by `factor`.
    #[must_use]
    pub fn times(mut self, factor: f64) -> Self {
        self.fields().into_iter().for_each(|ns| *ns *= factor);
        self
    }

    /// The mean of several.
    #[must_use]
    pub fn mean(accounts: impl IntoIterator<Item = Self>) -> Self {
        let (mut sum, mut count) = (Self::default(), 0u32);
        for account in accounts {
            sum.add(&account);
            count += 1;
        }
        sum.times(1.0 / f64::from(count.max(1)))
    }

    /// The sum of all fields: P times the duration.
    #[must_use]
    pub fn total(&self) -> f64 {
        let mut all = *self;
        all.fields().into_iter().map(|ns| *ns).sum()
    }

    /// Load imbalance.
    #[must_use]
    pub fn imbalance(&self, blocking: Blocking) -> f64 {
        let lock = match blocking {
            Blocking::Imbalance => self.lock,
            Blocking::Delay => 0.0,
        };
        self.barrier + self.condition + self.message + self.unoccupied + lock
    }

    /// Software delay.
    #[must_use]
    pub fn software(&self, blocking: Blocking) -> f64 {
        match blocking {
            Blocking::Imbalance => self.spin,
            Blocking::Delay => self.spin + self.lock,
        }
    }

    /// Idle time (I of work inflation), in which threads wait for work.
    #[must_use]
    pub fn idle(&self, blocking: Blocking) -> f64 {
        self.serialization + self.imbalance(blocking)
    }
}

#[cfg(test)]
mod tests {
    use super::super::measurement::Phase;
    use super::*;
    use proptest::prelude::*;

    fn states(running: u64, lock: u64, barrier: u64) -> Times {
        let mut times = Times::default();
        times.0[State::Running as usize] = running;
        times.0[State::Lock as usize] = lock;
        times.0[State::Barrier as usize] = barrier;
        times
    }

    /// Ten of serial code, then a phase of twenty in which two threads run for 30, wait for a lock
    /// for 4 and in the barrier for 6.
    fn run() -> Run {
        Run {
            t_ns: 30,
            times: states(40, 4, 6),
            phases: vec![Phase { wall_ns: 20, times: states(30, 4, 6), ..Phase::default() }],
            ..Run::default()
        }
    }

    #[test]
    fn serial_code_leaves_the_other_processors_to_serialization() {
        let account = Account::of(&run(), 2);
        assert_eq!(account.running, 40.0);
        assert_eq!(account.serialization, 10.0);
        assert_eq!((account.lock, account.barrier), (4.0, 6.0));
        assert_eq!(account.unoccupied, 0.0);
    }

    #[test]
    fn processors_no_thread_was_on_are_unoccupied() {
        let account = Account::of(&run(), 4);
        assert_eq!(account.serialization, 30.0);
        assert_eq!(account.unoccupied, 40.0);
    }

    proptest! {
        #[test]
        fn the_account_is_all_of_the_processors_time(
            t in 1u64..1_000_000,
            times in proptest::array::uniform10(0u64..1_000_000),
            phases in proptest::collection::vec((0u64..500_000, proptest::array::uniform10(0u64..500_000)), 0..4),
            processors in 1u32..100,
        ) {
            let phases = phases.into_iter().map(|(wall_ns, times)| Phase { wall_ns, times: Times(times), ..Phase::default() });
            let run = Run { t_ns: t, times: Times(times), phases: phases.collect(), ..Run::default() };
            let account = Account::of(&run, processors);
            let capacity = t as f64 * f64::from(processors);
            prop_assert!((account.total() - capacity).abs() <= 1e-9 * capacity);
            let mut all = account;
            prop_assert!(all.fields().into_iter().all(|ns| *ns >= 0.0));
        }
    }
}
