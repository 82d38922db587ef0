//! Work + Delay + Distribution = 100% (deconstructing overhead, sections II and III).

use serde::Serialize;

use super::account::{Account, Blocking};
use super::ratio::over;

/// Shares of P T_P.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Factors {
    /// The time of the sequential program (equation 4).
    pub work: f64,
    /// Dealing out work and waiting for it (equation 3).
    pub distribution: Distribution,
    /// The rest: competition for resources. It is negative if the parallel program does less, or
    /// has more cache.
    pub delay: Delay,
}

/// The parts of distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The parallel runtime's own work.
    pub scheduling: f64,
    /// Processors without work outside of parallel phases.
    pub serialization: f64,
    /// Processors without work within parallel phases.
    pub imbalance: f64,
}

/// The parts of delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Delay {
    /// Waiting for locks.
    pub software: f64,
    /// The inferred part: delay without that of the software. It has what the parallel program does
    /// in addition to the sequential one, and what slows it down in the hardware.
    /// [`Delay::overhead`] and [`Delay::inflation`] add up to it.
    pub hardware: f64,
    /// A part of `hardware`: (T_1 - T_s) without the runtime's work, by which one processor alone
    /// takes longer.
    pub overhead: f64,
    /// A part of `hardware`: by how much the same work takes longer on P processors.
    pub inflation: f64,
}

impl Distribution {
    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.scheduling + self.serialization + self.imbalance
    }
}

impl Delay {
    /// The sum of all parts.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.software + self.hardware
    }
}

impl Factors {
    /// The factors of an account. `t_s` is the sequential time, and `work_1` the time of the
    /// program's own code on one processor, ns.
    #[must_use]
    pub fn of(account: &Account, t_s: f64, work_1: f64, blocking: Blocking) -> Self {
        let all = account.total();
        let share = |ns: f64| over(ns, all);
        let software = account.software(blocking);
        Self {
            work: share(t_s),
            distribution: Distribution {
                scheduling: share(account.scheduling),
                serialization: share(account.serialization),
                imbalance: share(account.imbalance(blocking)),
            },
            delay: Delay {
                software: share(software),
                hardware: share(account.running - t_s),
                overhead: share(work_1 - t_s),
                inflation: share(account.running - work_1),
            },
        }
    }

    /// 1, except for rounding.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.work + self.distribution.total() + self.delay.total()
    }

    /// Whether the speedup is superlinear, which the total delay shows by being negative (section
    /// III).
    #[must_use]
    pub fn superlinear(&self) -> bool {
        self.delay.total() < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_factors_add_up_to_all(
            running in 1.0f64..1e9, scheduling in 0.0f64..1e8, spin in 0.0f64..1e8, lock in 0.0f64..1e8,
            serialization in 0.0f64..1e9, unoccupied in 0.0f64..1e9, t_s in 1.0f64..1e9, work_1 in 1.0f64..1e9, delay: bool,
        ) {
            let account = Account { running, scheduling, spin, lock, serialization, unoccupied, ..Account::default() };
            let blocking = if delay { Blocking::Delay } else { Blocking::Imbalance };
            let factors = Factors::of(&account, t_s, work_1, blocking);
            prop_assert!((factors.total() - 1.0).abs() < 1e-9);
            prop_assert!((factors.delay.overhead + factors.delay.inflation - factors.delay.hardware).abs() < 1e-9);
        }
    }
}
