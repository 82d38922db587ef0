//! What the program has spent since the last hook: operations exactly, or cycles.
//!
//! Reading the cycle counter takes as long as a small function. It is read when something long may have happened: code
//! that counts no operations was called, or many operations or hooks have passed since. In between cycles follow from
//! operations at the rate of late, and the next reading gives or takes the difference: sums are those of the counter,
//! and what is attributed wrongly is at most a strand of [`READ_AFTER`] operations.
#![allow(unsafe_code, reason = "an instruction")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use contech_meter::{LONG, Meter};

/// Operations after which the counter is read.
const READ_AFTER: u64 = 512;
/// Hooks after which it is read: their own cost is only an estimate.
const READ_AFTER_HOOKS: u64 = 64;
/// Binary places of a rate.
const RATE_BITS: u32 = 16;

/// Cycles since the processor started, at the frequency of the time stamp counter.
#[inline]
pub(crate) fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it reads a register only.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Metric {
    /// Cycles, reported as nanoseconds.
    Time,
    /// IR instructions of the program, as in a recording.
    Operations,
}

/// What a hook and a reading cost, in cycles: what [`Clock`] subtracts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub hook: u64,
    pub reading: u64,
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct Clock {
    metric: Metric,
    cost: Cost,
    /// Operations at the last hook, and at the last reading.
    operations: u64,
    read_operations: u64,
    /// The counter at the last reading.
    read: u64,
    /// Cycles given out, and hooks called, since.
    given: u64,
    hooks: u64,
    /// Cycles for an operation.
    rate: u64,
}

/// The counter when this library was loaded: the program's time begins then, not with the first hook.
static LOADED: AtomicU64 = AtomicU64::new(0);
/// What others took of the processor since is not the program's.
static METER: Meter = Meter::new();

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    METER.read();
    LOADED.store(cycles(), Relaxed);
}

impl Clock {
    pub(crate) fn new(metric: Metric, cost: Cost) -> Self {
        Self {
            metric,
            cost,
            operations: 0,
            read_operations: 0,
            read: cycles(),
            given: 0,
            hooks: 0,
            rate: 1 << RATE_BITS,
        }
    }

    /// Time runs since the library was loaded, but for the `own` cycles that were spent since on the profiler itself.
    pub(crate) fn since_loaded(&mut self, own: u64) {
        self.read = LOADED.load(Relaxed).saturating_add(own).min(cycles());
    }

    /// What was spent since the last hook: before and within the `own` last of the `operations` counted so far.
    #[inline]
    pub(crate) fn spent(&mut self, operations: u64, own: u64, foreign: bool) -> (u64, u64) {
        let passed = operations - self.operations;
        self.operations = operations;
        if self.metric == Metric::Operations {
            return (passed - own, own);
        }
        self.hooks += 1;
        if foreign
            || operations - self.read_operations >= READ_AFTER
            || self.hooks >= READ_AFTER_HOOKS
        {
            return self.read(passed, own, foreign);
        }
        let before = ((passed - own) * self.rate) >> RATE_BITS;
        let within = (own * self.rate) >> RATE_BITS;
        self.given += before + within;
        (before, within)
    }

    #[cold]
    #[inline(never)]
    fn read(&mut self, passed: u64, own: u64, foreign: bool) -> (u64, u64) {
        let mut now = cycles();
        let mut elapsed = now.saturating_sub(self.read);
        if elapsed > LONG {
            elapsed -= METER.read().min(elapsed);
            now = cycles();
        }
        let elapsed = elapsed.saturating_sub(self.cost.reading + self.hooks * self.cost.hook);
        let counted = self.operations - self.read_operations;
        let rest = elapsed.saturating_sub(self.given);
        // What was given too much is taken from what comes.
        self.given = self.given.saturating_sub(elapsed);
        if !foreign && counted > 0 {
            let rate = (elapsed << RATE_BITS) / counted;
            self.rate = (self.rate * 3 + rate.min(64 << RATE_BITS)) / 4;
        }
        (self.read, self.read_operations, self.hooks) = (now, self.operations, 0);
        if foreign || passed == 0 {
            // The code called is before what is the invocation's own, unless all of it is.
            return if own == passed && own > 0 {
                (0, rest)
            } else {
                (rest, 0)
            };
        }
        let within = u64::try_from(u128::from(rest) * u128::from(own) / u128::from(passed));
        let within = within.unwrap_or(rest);
        (rest - within, within)
    }
}

/// Cycles and time at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    cycles: u64,
    time: Instant,
}

impl Moment {
    /// Now.
    pub(crate) fn now() -> Self {
        Self {
            cycles: cycles(),
            time: Instant::now(),
        }
    }

    /// Nanoseconds of a cycle, from then to now.
    pub(crate) fn ns_per_cycle(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a ratio")]
        let passed = cycles().saturating_sub(self.cycles) as f64;
        if passed == 0.0 {
            return 1.0;
        }
        self.time.elapsed().as_secs_f64() * 1e9 / passed
    }
}
