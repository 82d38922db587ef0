//! What the processors' time was lost to: everything of P T_P that the sequential program would not take.

use serde::Serialize;

use super::account::Account;
use super::ratio::over;

/// Shares of P T_P; together 1 - T_s / (P T_P). Overhead and inflation may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// The parallel program does more than the sequential one, even on one processor.
    pub overhead: f64,
    /// The runtime's work.
    pub scheduling: f64,
    /// The same work takes longer on P processors.
    pub inflation: f64,
    /// One processor works outside of parallel phases.
    pub serialization: f64,
    /// Processors have no work within parallel phases; this includes barriers and conditions.
    pub imbalance: f64,
    /// Threads are blocked by locks.
    pub lock: f64,
    /// Threads wait busily for locks.
    pub spin: f64,
    /// Threads wait for messages.
    pub message: f64,
}

impl Losses {
    /// The losses of an account. `t_s` is the sequential time, and `work_1` the time of the program's own code on one
    /// processor, ns.
    #[must_use]
    pub fn of(account: &Account, t_s: f64, work_1: f64) -> Self {
        let all = account.total();
        let share = |ns: f64| over(ns, all);
        Self {
            overhead: share(work_1 - t_s),
            scheduling: share(account.scheduling),
            inflation: share(account.running - work_1),
            serialization: share(account.serialization),
            imbalance: share(account.barrier + account.condition + account.unoccupied),
            lock: share(account.lock),
            spin: share(account.spin),
            message: share(account.message),
        }
    }

    /// The sum of all losses.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.overhead
            + self.scheduling
            + self.inflation
            + self.serialization
            + self.imbalance
            + self.lock
            + self.spin
            + self.message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_work_are_all_of_the_time() {
        let account = Account {
            running: 12.0,
            scheduling: 1.0,
            spin: 0.5,
            lock: 1.5,
            serialization: 3.0,
            barrier: 1.0,
            condition: 0.5,
            message: 0.25,
            unoccupied: 0.25,
        };
        let losses = Losses::of(&account, 8.0, 10.0);
        assert!((losses.total() - (1.0 - 8.0 / 20.0)).abs() < 1e-12);
        assert_eq!(losses.overhead, 0.1);
        assert_eq!(losses.inflation, 0.1);
    }
}
