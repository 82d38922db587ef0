//! How long a thread waits for another one that is a few instructions away from going on, but may
//! have been preempted, stopped, or ended.

use std::time::Duration;

use contech_interpose::clock::Instant;

use crate::primitive::{ROUNDS, spin_loop, yield_now};

/// How long it waits while nothing changes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// The most that counts of the time between two looks. The rest is no patience: the whole process
/// may have been stopped meanwhile, with the other thread.
const LOOK: Duration = Duration::from_millis(10);
/// One wait.
#[derive(Debug)]
pub(crate) struct Patience {
    rounds: u32,
    seen: u64,
    waited: Duration,
    looked: Instant,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Patience { rounds: 0, seen: 0, waited: Duration::ZERO, looked: Instant::now() }
    }

    /// Waits a moment, because the thread saw `seen`. Returns whether it has seen nothing else for
    /// too long.
    pub(crate) fn is_over(&mut self, seen: u64) -> bool {
        if self.rounds < ROUNDS {
            self.rounds += 1;
            spin_loop();
            return false;
        }
        let since = self.looked.elapsed().min(LOOK);
        self.waited = if seen == self.seen { self.waited + since } else { Duration::ZERO };
        (self.seen, self.looked) = (seen, Instant::now());
        let over = self.waited >= PATIENCE;
        if !over {
            yield_now();
        }
        over
    }
}
