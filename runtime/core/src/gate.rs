//! Whether accesses are recorded: only within the region of interest (`CONTECH_ROI`), only in some
//! windows of time (`CONTECH_SAMPLE`), and only until the trace has reached its limit
//! (`CONTECH_LIMIT`). Order and times are always recorded.
//!
//! Each thread goes through the gate by itself, at an event or where it gets another buffer, and
//! says so in its stream ([`contech_trace::event::Event::Accesses`]). Instrumented code does not
//! change: a thread whose accesses are not recorded takes back what it wrote since its last event
//! (`Turns::drop_back`). What is not taken back means nothing, because the stream says so. A thread
//! learns from one comparison at its events that it has to look at the gate.

use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst,
};
use std::time::Duration;

use contech_interpose::clock::Instant;
use contech_trace::event::Recorded;

use crate::options::{Options, Region};

/// Bytes of the longest trace with accesses, unless the user says otherwise or the disk has less
/// than twice as much.
const DEFAULT: u64 = 8 << 30;
/// Milliseconds of a window of the sample: long enough to fill caches, and for the cost of a change
/// of buffers to vanish.
const WINDOW_MS: u64 = 1;
/// No number of the gate: a thread that has it looks at each event.
pub(crate) const EACH: u32 = u32::MAX;

/// Decides for all threads.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Changes when threads have to look again.
    number: AtomicU32,
    /// The trace has reached its limit.
    full: AtomicBool,
    limit: AtomicU64,
    /// Bytes by which the trace is shorter than what is recorded.
    saved: AtomicU64,
    /// The limit is to depend on the room that there is.
    depends: bool,
    /// Number of marked regions that have begun and not ended.
    marks: AtomicU32,
    region: Region,
    sample: u32,
    started: Instant,
    /// The window of time in which a thread looked for the first time, plus one; 0 before.
    first_look: AtomicU64,
}

impl Gate {
    pub(crate) fn new(options: &Options) -> Self {
        Gate {
            number: AtomicU32::new(0),
            full: AtomicBool::new(false),
            limit: AtomicU64::new(options.limit.unwrap_or(u64::MAX)),
            saved: AtomicU64::new(0),
            depends: options.limit.is_none(),
            marks: AtomicU32::new(0),
            region: options.region,
            sample: options.sample,
            started: Instant::now(),
            first_look: AtomicU64::new(0),
        }
    }

    /// Sets the default limit for a file with so many free bytes. A trace that is no file has none.
    pub(crate) fn set_room(&self, free: Option<u64>) {
        if let Some(free) = free.filter(|_| self.depends) {
            self.limit.store(DEFAULT.min(free / 2), Relaxed);
        }
    }

    /// What a thread compares with the number it has seen.
    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Relaxed)
    }

    /// Whether accesses are recorded at this moment, and for how long this stays so unless the
    /// number changes; `None` is for ever.
    pub(crate) fn state(&self) -> (Recorded, Option<Duration>) {
        let needs_time = self.sample > 1 || matches!(self.region, Region::Between(..));
        let passed = needs_time.then(|| self.started.elapsed());
        let passed = passed.unwrap_or_default();
        let (within, until) = match self.region {
            Region::All => (true, None),
            Region::Marked => (self.marks.load(SeqCst) > 0, None),
            Region::Between(from, to) => {
                let next = [from, to].into_iter().find(|&time| passed < time);
                ((from..to).contains(&passed), next)
            }
        };
        let millis = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        let first = self.first_window(millis / WINDOW_MS);
        let window = millis / WINDOW_MS - first;
        let next_window =
            (self.sample > 1).then(|| Duration::from_millis((first + window + 1) * WINDOW_MS));
        let recorded = match (self.full.load(SeqCst), within) {
            (true, _) => Recorded::Limit,
            (_, false) => Recorded::Outside,
            _ if !self.is_sampled(window) => Recorded::Between,
            _ => Recorded::Yes,
        };
        let next = until.into_iter().chain(next_window).min();
        (recorded, next.map(|time| time - passed))
    }

    /// The window of time in which a thread looked for the first time. The sample begins there: on
    /// a busy machine a program starts late, and a short one would have no accesses.
    fn first_window(&self, now: u64) -> u64 {
        match self.first_look.compare_exchange(0, now + 1, Relaxed, Relaxed) {
            Ok(_) => now,
            Err(first) => (first - 1).min(now),
        }
    }

    /// Whether accesses are recorded in this window of time: of so many windows that follow each
    /// other one is chosen. All threads have the same windows, because what they share shows only
    /// where both are recorded. The choice is not periodic, because programs are.
    fn is_sampled(&self, window: u64) -> bool {
        if self.sample == 1 {
            return true;
        }
        let sample = u64::from(self.sample);
        // The first round has its first window, so that a short run has accesses, too.
        let chosen = ((window / sample).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) % sample;
        window % sample == chosen
    }

    /// Takes note of how much the compression of the trace has saved.
    pub(crate) fn set_saved(&self, bytes: u64) {
        self.saved.store(bytes, Relaxed);
    }

    /// Takes note of how much is recorded. Returns whether the trace, when all of it is written,
    /// has just reached its limit.
    pub(crate) fn has_reached(&self, recorded: u64) -> bool {
        let bytes = recorded.saturating_sub(self.saved.load(Relaxed));
        let reached = bytes >= self.limit.load(Relaxed) && !self.full.swap(true, SeqCst);
        if reached {
            self.change();
        }
        reached
    }

    /// What the user is told when the trace reaches its limit.
    pub(crate) fn told_limit(&self) -> String {
        let limit = self.limit.load(Relaxed);
        let (size, unit) = match limit {
            0..1_048_576 => (limit >> 10, "KiB"),
            _ => (limit >> 20, "MiB"),
        };
        format!(
            "the trace has {size} {unit}, which is its limit (CONTECH_LIMIT); from here on it gets no accesses, only order and times"
        )
    }

    fn change(&self) {
        // Threads that look at each event have a number that the gate must not get.
        let next = |n: u32| Some((n + 1) % EACH);
        let _ = self.number.fetch_update(Release, Relaxed, next);
    }

    /// Begins or ends a region that the program marks; only the outermost ones count. Returns
    /// whether this one does.
    pub(crate) fn mark(&self, begins: bool) -> bool {
        let step = |n: u32| {
            if begins { n.checked_add(1) } else { n.checked_sub(1) }
        };
        let before = self.marks.fetch_update(SeqCst, SeqCst, step);
        self.change();
        before == Ok(u32::from(!begins))
    }
}
