//! Speedup stacks (Eklov et al., sections 2 and 6): what keeps a parallel phase from linear
//! speedup, one limit after the other, in the order of the paper: cache and memory,
//! synchronisation. What one thread takes with the caches to itself is not measured here.

use serde::Serialize;

use super::measurement::Phase;
use super::ratio::over;

/// The stack of the phases of one place at P threads. The components and the measured speedup add
/// up to P.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stack {
    /// Index of the place in the measurement.
    pub place: usize,
    /// Share of the run's time.
    pub share: f64,
    /// P.
    pub threads: u32,
    /// Contention for caches and memory, and unequal shares of work.
    pub memory: f64,
    /// Locks, barriers and load imbalance.
    pub synchronization: f64,
    /// T_1 / T_P of the phase.
    pub measured: f64,
    /// The speedup if waiting took no time: T_1 over the slowest thread's time without its waits.
    pub without_synchronization: f64,
}

impl Stack {
    /// The stack of the phases of one place: `one` with one thread, `at` with P threads.
    #[must_use]
    pub fn of(threads: u32, t_p: f64, one: &Phase, at: &Phase) -> Self {
        let speedup = |ns: u64| over(one.wall_ns as f64, ns as f64);
        let measured = speedup(at.wall_ns);
        let without = speedup(at.slowest_ns).max(measured);
        Self {
            place: at.place,
            share: over(at.wall_ns as f64, t_p),
            threads,
            memory: f64::from(threads) - without,
            synchronization: without - measured,
            measured,
            without_synchronization: without,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One thread takes 1,200. Each of four takes 350 beside the others, and 400 with its waits.
    #[test]
    fn limits_are_added_in_the_order_of_the_paper() {
        let phase = |wall_ns, slowest_ns| Phase { wall_ns, slowest_ns, ..Phase::default() };
        let stack = Stack::of(4, 400.0, &phase(1200, 1200), &phase(400, 350));
        assert!((stack.memory - (4.0 - 1200.0 / 350.0)).abs() < 1e-12);
        assert!((stack.synchronization - (1200.0 / 350.0 - 3.0)).abs() < 1e-12);
        assert!((stack.memory + stack.synchronization + stack.measured - 4.0).abs() < 1e-12);
    }
}
