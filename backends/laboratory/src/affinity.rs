//! Limits a program to as many processors as it has threads. Child processes inherit the affinity
//! of the thread that starts them.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors this process may use.
#[derive(Clone, Debug)]
pub(super) struct Processors(CpuSet);

impl Processors {
    /// The processors of this process; one processor if the system does not tell.
    pub(super) fn own() -> Self {
        Self(sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new()))
    }

    pub(super) fn count(&self) -> u32 {
        self.0.count().max(1)
    }

    /// Runs `f`, and limits the processes that this thread starts meanwhile to the first `count`
    /// processors.
    pub(super) fn limited<T>(&self, count: u32, f: impl FnOnce() -> T) -> T {
        let mut few = CpuSet::new();
        let own = (0..CpuSet::MAX_CPU).filter(|cpu| self.0.is_set(*cpu));
        own.zip(0..count).for_each(|(cpu, _)| few.set(cpu));
        let limited = count < self.0.count() && sched_setaffinity(None, &few).is_ok();
        let result = f();
        if limited {
            // The same call worked a moment ago. If it fails now, the next limit fails too, and
            // nothing is pinned.
            let _ = sched_setaffinity(None, &self.0);
        }
        result
    }
}
