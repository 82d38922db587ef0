//! Speedup stacks (Eklov et al., sections 2 and 6): what keeps a parallel phase from linear speedup, one limit after
//! the other, in the order of the paper: cache, memory, synchronisation.

use serde::Serialize;

use super::measurement::{AloneRun, PhaseRun};
use super::ratio::over;

/// The stack of the phases of one place at P threads. The components and the measured speedup add up to P.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stack {
    /// Index of the place in the measurement.
    pub place: usize,
    /// Share of the run's time.
    pub share: f64,
    /// P.
    pub threads: u32,
    /// By how much the profiled thread, alone, takes longer than its share of one thread's phase: unequal shares, and
    /// work that one thread does not have. The paper's programs have none. Without an alone-run it is unknown and 0.
    pub share_of_work: f64,
    /// Contention for the shared cache; `None` if no Pirate held its part of the cache, in which case
    /// [`Stack::memory`] includes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<f64>,
    /// Contention for memory or, without a measured cache component, for cache and memory together.
    pub memory: f64,
    /// Locks, barriers and load imbalance.
    pub synchronization: f64,
    /// T_1 / T_P of the phase.
    pub measured: f64,
    /// The speedup if waiting took no time: T_1 over the slowest thread's time without its waits.
    pub without_synchronization: f64,
    /// Why a component is missing or unreliable.
    pub notes: Vec<String>,
}

impl Stack {
    /// The stack of the phases of one place: `one` with one thread, `at` with P threads, and the alone-runs with and
    /// without a Pirate.
    #[must_use]
    pub fn of(threads: u32, t_p: f64, one: &PhaseRun, at: &PhaseRun, alone: &[AloneRun]) -> Self {
        let p = f64::from(threads);
        let t_1 = one.wall_ns as f64;
        let speedup = |ns: f64| over(t_1, ns);
        let measured = speedup(at.wall_ns as f64);
        let without = speedup(at.slowest_ns as f64).max(measured);
        let mut notes = Vec::new();
        // The slowest of the profiled threads counts, as in section 6.3.
        let mut time = |pirate: bool| {
            let runs = alone.iter().filter(|run| (run.pirate_bytes > 0) == pirate);
            let (bad, good): (Vec<_>, Vec<_>) = runs.partition(|run| run.invalid.is_some());
            // One measured thread suffices: either the shares are equal, or nothing is concluded.
            if let Some(reason) = bad.iter().find_map(|run| run.invalid.clone())
                && good.is_empty()
                && !notes.contains(&reason)
            {
                notes.push(reason);
            }
            let phases = good.iter().flat_map(|run| &run.phases);
            let times = phases
                .filter(|phase| phase.place == at.place && phase.alone_ns > 0)
                .map(|phase| phase.alone_ns);
            times.max().map(|ns| speedup(ns as f64))
        };
        let (alone, pirate) = (time(false), time(true));
        if at.dynamic {
            notes.push(
                "which thread does what is decided at run time: a thread alone would do it all"
                    .to_owned(),
            );
        }
        // Alone the thread is faster than a P-th of the whole. Nothing is lost there, and the components below
        // subtract it from P.
        let own = alone.filter(|_| !at.dynamic).unwrap_or(p);
        let pirate = pirate.filter(|_| !at.dynamic && alone.is_some());
        let after_cache = pirate.unwrap_or(own);
        Self {
            place: at.place,
            share: over(at.wall_ns as f64, t_p),
            threads,
            share_of_work: p - own,
            cache: pirate.map(|pirate| own - pirate),
            memory: after_cache - without,
            synchronization: without - measured,
            measured,
            without_synchronization: without,
            notes,
        }
    }

    /// P, except for rounding.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.share_of_work
            + self.cache.unwrap_or(0.0)
            + self.memory
            + self.synchronization
            + self.measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(wall_ns: u64, slowest_ns: u64, alone_ns: u64) -> PhaseRun {
        PhaseRun {
            wall_ns,
            slowest_ns,
            alone_ns,
            ..PhaseRun::default()
        }
    }

    fn alone(pirate_bytes: u64, ns: u64) -> AloneRun {
        AloneRun {
            pirate_bytes,
            phases: vec![phase(0, 0, ns)],
            ..AloneRun::default()
        }
    }

    /// One thread takes 1,200. Each of four takes 300 alone, 320 with a quarter of the cache, 350 beside the others,
    /// and 400 with its waits.
    #[test]
    fn limits_are_added_in_the_order_of_the_paper() {
        let runs = [alone(0, 300), alone(1 << 20, 320)];
        let stack = Stack::of(4, 400.0, &phase(1200, 1200, 0), &phase(400, 350, 0), &runs);
        assert_eq!(stack.share_of_work, 0.0);
        assert_eq!(stack.cache, Some(4.0 - 3.75));
        assert!((stack.memory - (3.75 - 1200.0 / 350.0)).abs() < 1e-12);
        assert!((stack.synchronization - (1200.0 / 350.0 - 3.0)).abs() < 1e-12);
        assert!((stack.total() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn without_a_pirate_cache_and_memory_are_one_component() {
        let stack = Stack::of(
            4,
            400.0,
            &phase(1200, 1200, 0),
            &phase(400, 350, 0),
            &[alone(0, 300)],
        );
        assert_eq!(stack.cache, None);
        assert!((stack.memory - (4.0 - 1200.0 / 350.0)).abs() < 1e-12);
        assert!((stack.total() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn an_invalid_alone_run_is_left_out_and_says_why() {
        let mut run = alone(0, 300);
        run.invalid = Some("it waits for conditions".to_owned());
        let stack = Stack::of(4, 400.0, &phase(1200, 1200, 0), &phase(400, 350, 0), &[run]);
        assert_eq!(stack.share_of_work, 0.0);
        assert_eq!(stack.notes, ["it waits for conditions"]);
    }
}
