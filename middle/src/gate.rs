//! Limits how many bytes are in memory at once, and says whose turn it is.

use parking_lot::{Condvar, Mutex};

#[derive(Debug, Default)]
struct State {
    used: usize,
    turn: u64,
    closed: bool,
}

/// A counter of bytes in use that makes threads wait.
#[derive(Debug)]
pub(crate) struct Gate {
    limit: usize,
    state: Mutex<State>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn new(limit: usize) -> Self {
        Gate { limit, state: Mutex::default(), changed: Condvar::new() }
    }

    fn enter_when(&self, cost: usize, may: impl Fn(&State) -> bool) -> bool {
        let full = |s: &State| s.used > 0 && s.used + cost > self.limit;
        let mut state = self.state.lock();
        let waits = |s: &mut State| !s.closed && (full(s) || !may(s));
        self.changed.wait_while(&mut state, waits);
        state.used += cost;
        !state.closed
    }

    /// Takes `cost` bytes, and waits as long as that would exceed the limit. A cost above the limit
    /// is let in alone. Returns false if the gate was closed.
    pub(crate) fn enter(&self, cost: usize) -> bool {
        self.enter_when(cost, |_| true)
    }

    /// Does the same as [`Gate::enter`], and also waits for this turn.
    pub(crate) fn enter_in_turn(&self, cost: usize, turn: u64) -> bool {
        self.enter_when(cost, |s| s.turn == turn)
    }

    pub(crate) fn leave(&self, cost: usize) {
        self.change(|state| state.used -= cost.min(state.used));
    }

    /// Says that it is this one's turn.
    pub(crate) fn set_turn(&self, turn: u64) {
        self.change(|state| state.turn = turn);
    }

    /// Lets everybody through, because the conversion stops.
    pub(crate) fn close(&self) {
        self.change(|state| state.closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock());
        self.changed.notify_all();
    }
}
