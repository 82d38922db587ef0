//! Limits a program to as many processors as it has threads. Child processes inherit the affinity
//! of the thread that starts them.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors this process may use.
#[derive(Clone, Debug)]
pub(super) struct Processors {
    all: CpuSet,
    list: Vec<usize>,
}

/// Undoes [`Processors::limit`] when dropped.
#[derive(Debug)]
pub(super) struct Limited {
    all: Option<CpuSet>,
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

    /// Limits the processes that this thread starts to the first `count` processors.
    pub(super) fn limit(&self, count: u32) -> Limited {
        let mut few = CpuSet::new();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        self.list.iter().take(count).for_each(|cpu| few.set(*cpu));
        let limited = count < self.list.len() && sched_setaffinity(None, &few).is_ok();
        Limited { all: limited.then_some(self.all) }
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        if let Some(all) = &self.all {
            // The same call worked a moment ago. If it fails now, the next limit fails too, and
            // nothing is pinned.
            let _ = sched_setaffinity(None, all);
        }
    }
}
