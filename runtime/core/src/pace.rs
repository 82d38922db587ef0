//! Whether the trace's file keeps up. While it does, the writer lags only if it lacks a processor,
//! and the program's threads give it theirs. If the file does not keep up, pausing the program
//! would help nobody.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use contech_interpose::clock::Instant;
use contech_interpose::kernel::sleeps;

use crate::queue::Patience;

/// Records should not wait for longer than this.
pub(crate) const LATE: Duration = Duration::from_millis(25);
/// How long a thread of the program waits for a writer that is late. On a busy machine the writer
/// may lack a processor for long.
pub(crate) const PATIENCE: Patience =
    Patience { stall: Duration::from_millis(150), total: Duration::from_millis(300) };
/// After this many nanoseconds of writes, what the file did before counts half.
const MEMORY: u64 = 50_000_000;

/// How a file keeps up. The thread that holds the writer reports its writes.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    slow: AtomicBool,
    /// Nanoseconds in writes; `slept` has those in writes in which the writer had to sleep.
    spent: AtomicU64,
    slept: AtomicU64,
}

impl Pace {
    /// Whether the file keeps up.
    pub(crate) fn keeps_up(&self) -> bool {
        !self.slow.load(Relaxed)
    }

    /// Notes that nothing was written for a while.
    pub(crate) fn stuck(&self) {
        self.slow.store(true, Relaxed);
    }

    /// Runs a write and notes how long it took.
    pub(crate) fn time<R>(&self, write: impl FnOnce() -> R) -> R {
        let (before, started) = (sleeps(), Instant::now());
        let result = write();
        let spent = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.wrote(spent, sleeps() != before);
        result
    }

    fn wrote(&self, ns: u64, slept: bool) {
        let mut spent = self.spent.load(Relaxed).saturating_add(ns);
        let mut asleep = self.slept.load(Relaxed) + if slept { ns } else { 0 };
        self.slow.store(asleep > spent / 2, Relaxed);
        while spent > MEMORY {
            spent /= 2;
            asleep /= 2;
        }
        self.spent.store(spent, Relaxed);
        self.slept.store(asleep, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_slow_while_the_writer_mostly_sleeps_for_it() {
        let pace = Pace::default();
        let write = |n, slept| (0..n).for_each(|_| pace.wrote(1_000_000, slept));
        write(100, false);
        write(10, true);
        assert!(pace.keeps_up(), "a hiccup");
        write(100, true);
        assert!(!pace.keeps_up());
        write(100, false);
        assert!(pace.keeps_up(), "it has recovered");
        pace.stuck();
        assert!(!pace.keeps_up());
        write(1, false);
        assert!(pace.keeps_up(), "it was the processor that was missing");
    }

    #[test]
    fn a_write_that_sleeps_is_told_from_one_that_runs() {
        let pace = Pace::default();
        pace.time(|| std::thread::sleep(Duration::from_millis(1)));
        assert!(!pace.keeps_up());
        let pace = Pace::default();
        pace.time(|| std::hint::black_box((0..100_000).sum::<u64>()));
        assert!(pace.keeps_up());
    }
}
