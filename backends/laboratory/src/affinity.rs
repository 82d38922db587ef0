//! Limits a program to as many processors as it has threads. Child processes inherit the affinity
//! of the thread that starts them.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors this process may use.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    all: CpuSet,
    list: Vec<usize>,
}

impl Processors {
    /// The processors of this process; one processor if the system does not tell.
    pub(super) fn own() -> Self {
        let all = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let list = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu)).collect();
        Self { all, list }
    }

    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.list.len()).unwrap_or(1).max(1)
    }

    /// Runs `f`, and limits the processes that this thread starts meanwhile to the first `count`
    /// processors.
    pub(super) fn limited<T>(&self, count: u32, f: impl FnOnce() -> T) -> T {
        let mut few = CpuSet::new();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.list.iter().take(count).for_each(|cpu| few.set(*cpu));
        let limited = count < self.list.len() && sched_setaffinity(None, &few).is_ok();
        let result = f();
        if limited {
            // The same call worked a moment ago. If it fails now, the next limit fails too, and
            // nothing is pinned.
            let _ = sched_setaffinity(None, &self.all);
        }
        result
    }
}
