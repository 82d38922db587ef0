//! When the actions of a task happen.
//!
//! Tasks have a start and an end, but their actions have no times of their own. They are assumed to
//! be spread evenly over the task. Where contexts are read by time, they are spread over the time
//! before the task, too, in which the task could have begun: other programs had the processor for
//! so long, but when they had it is not known.

use anyhow::Result;

use super::Task;

/// Fraction bits of the time between two actions.
const FRACTION: u32 = 16;

/// From when on a task could have run, if its context had nothing to do from `free_ns` on: the end
/// of all that the task depends on, and not later than its start.
pub(crate) fn ready_ns(task: &Task<'_>, free_ns: u64) -> Result<u64> {
    let mut ready = free_ns;
    if ready < task.start_ns() {
        for &before in task.stored_dependencies() {
            ready = ready.max(task.other(before)?.end_ns());
        }
    }
    Ok(ready.min(task.start_ns()))
}

/// An action of a task, and when this action and those after it happen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// The task's context, as a position in the graph's contexts.
    pub context: u32,
    /// The number of the task's executor.
    pub executor: u32,
    start_ns: u64,
    /// Time between two actions, in units of 1 / `1 << FRACTION` ns.
    step: u128,
    index: u64,
}

impl Moment {
    /// The first action of a task.
    #[must_use]
    pub fn first(context: u32, task: &Task<'_>) -> Self {
        Self::since(context, task, task.start_ns())
    }

    /// The first action of a task whose actions began at `start_ns`.
    pub(super) fn since(context: u32, task: &Task<'_>, start_ns: u64) -> Self {
        Self {
            context,
            executor: task.executor().get(),
            ..Self::of(start_ns, task.end_ns(), task.action_count())
        }
    }

    /// The first of `count` actions from `start_ns` to `end_ns`.
    fn of(start_ns: u64, end_ns: u64, count: u64) -> Self {
        let length = end_ns.saturating_sub(start_ns);
        Self {
            start_ns,
            step: (u128::from(length) << FRACTION) / u128::from(count.max(1)),
            ..Self::default()
        }
    }

    /// The action's number within the task, counted from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// When the task began, in nanoseconds since the start of the run.
    #[inline]
    pub(crate) fn began(&self) -> u64 {
        self.start_ns
    }

    /// The moment so many actions later.
    #[must_use]
    #[inline]
    pub fn later(self, actions: u64) -> Self {
        Self { index: self.index.saturating_add(actions), ..self }
    }

    /// Nanoseconds since the start of the run.
    #[must_use]
    #[inline]
    pub fn time(&self) -> u64 {
        let passed = (u128::from(self.index) * self.step + self.step / 2) >> FRACTION;
        self.start_ns.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    /// How many actions, from this one on, happen at `time` or before, if there are so many.
    pub(crate) fn until(&self, time: u64) -> u64 {
        let Some(passed) = time.checked_sub(self.start_ns) else {
            return 0;
        };
        if self.step == 0 || time == u64::MAX {
            return u64::MAX;
        }
        // The least number of an action that happens later.
        let later = (u128::from(passed) + 1) << FRACTION;
        let passed = later.saturating_sub(self.step / 2);
        let first = passed.div_ceil(self.step);
        u64::try_from(first.saturating_sub(u128::from(self.index))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_spread_evenly_over_their_task() {
        let first = Moment::of(100, 180, 4);
        let times: Vec<u64> = (0..4).map(|index| first.later(index).time()).collect();
        assert_eq!(times, [110, 130, 150, 170]);
        assert_eq!(Moment::of(5, 5, 9).later(7).time(), 5);
        assert_eq!(Moment::of(0, 1 << 63, 2).later(1).time(), 3 << 61);
    }

    #[test]
    fn as_many_happen_until_a_time_as_have_such_times() {
        for (end, count) in [(180, 4), (180, 7), (101, 50), (100, 3), (1 << 40, 9)] {
            let first = Moment::of(100, end, count);
            for time in (90..200).chain([1 << 39, 1 << 41]) {
                for index in [0, 1, count - 1] {
                    let from = first.later(index);
                    let found = from.until(time).min(count - index);
                    let happened = |at: &u64| from.later(*at).time() <= time;
                    let expected = (0..count - index).take_while(happened).count() as u64;
                    assert_eq!(found, expected, "{end} {count} {time} {index}");
                }
            }
        }
    }
}
