//! Time, read from the processor's cycle counter when the log is read: what has passed since is spread over the operations
//! executed meanwhile, less what the events themselves cost. Where code was called that counts no operations, its time is
//! what is left when the others took as long as of late. Sums are those of the counter, and what is attributed wrongly is
//! at most a strand of [`READ_AFTER`] operations. What it takes to read the log is no time: the counter is read again
//! behind that.
#![allow(unsafe_code, reason = "an instruction")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use contech_meter::{LONG, Meter};

/// Operations after which the log is read.
pub(crate) const READ_AFTER: i64 = 2048;
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

/// What the profiler's own work costs that it cannot measure where it is spent, in cycles: what [`Clock`] subtracts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// An event, in parts ([`EVENT_BITS`]) of a cycle: a processor puts several in the log at a time.
    pub event: u64,
    /// To call what reads the log, and to come back.
    pub reading: u64,
}

/// Binary places of [`Cost::event`].
pub(crate) const EVENT_BITS: u32 = 8;

/// Whether code that counts no operations was called since the log was read, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    None,
    /// By what was executed before the own operations of what is told last.
    Before,
    Own,
}

/// What was executed since the log was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    pub operations: u64,
    pub events: u64,
    pub foreign: Foreign,
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct Clock {
    metric: Metric,
    cost: Cost,
    /// The time of the last reading, and the counter behind it.
    time: u64,
    read: u64,
    /// The time of this reading, and of an operation since the last one; and of late.
    now: u64,
    rate: u64,
    late: u64,
    /// What the events of shorter intervals cost beyond these.
    debt: u64,
    /// Time that is the own of what is told last, besides that of its operations.
    others: u64,
    /// Readings so far, and the cycles that they took.
    pub readings: u64,
    pub reading: u64,
}

/// The counter when this library was loaded: the program's time begins then, not with the first event.
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

/// When the profiler began to make itself ready: the program's time up to there, and none of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    cycles: u64,
    /// What others took before.
    taken: u64,
}

impl Ready {
    /// It begins now.
    pub(crate) fn begins() -> Self {
        Self {
            cycles: cycles(),
            taken: METER.read(),
        }
    }
}

impl Clock {
    pub(crate) fn new(metric: Metric, cost: Cost) -> Self {
        Self {
            metric,
            // In operations events cost nothing.
            cost: if metric == Metric::Time {
                cost
            } else {
                Cost::default()
            },
            time: 0,
            read: cycles(),
            now: 0,
            rate: 1 << RATE_BITS,
            late: 1 << RATE_BITS,
            debt: 0,
            others: 0,
            readings: 0,
            reading: 0,
        }
    }

    /// Time runs since the library was loaded, but for what the profiler spent on itself since it began to, with what others
    /// took of that.
    pub(crate) fn since_loaded(&mut self, ready: Ready) {
        METER.read();
        let now = cycles();
        let own = now.saturating_sub(ready.cycles) + ready.taken;
        self.read = LOADED.load(Relaxed).saturating_add(own).min(now);
    }

    /// The log is to be read: from now on the profiler's own time passes, until [`Self::resume`].
    pub(crate) fn read(&mut self, passed: Passed) {
        let elapsed = match self.metric {
            Metric::Operations => passed.operations,
            Metric::Time => self.elapsed(),
        };
        self.passed(elapsed, passed);
    }

    fn elapsed(&mut self) -> u64 {
        let counter = cycles();
        let mut elapsed = counter.saturating_sub(self.read);
        self.read = counter;
        if elapsed > LONG {
            elapsed -= METER.read().min(elapsed);
        }
        elapsed
    }

    /// So much was executed, and so many cycles have passed, since the last reading.
    fn passed(&mut self, elapsed: u64, passed: Passed) {
        let events = passed.events.saturating_mul(self.cost.event) >> EVENT_BITS;
        let cost = events + self.cost.reading + self.debt;
        self.debt = match self.metric {
            Metric::Time => cost.saturating_sub(elapsed),
            Metric::Operations => 0,
        };
        let elapsed = elapsed.saturating_sub(cost);
        self.now = self.time + elapsed;
        if passed.operations == 0 {
            return;
        }
        let rate = if elapsed >> (u64::BITS - RATE_BITS) == 0 {
            (elapsed << RATE_BITS) / passed.operations
        } else {
            (elapsed / passed.operations).saturating_mul(1 << RATE_BITS)
        };
        if passed.foreign == Foreign::None {
            self.rate = rate;
            self.late = (self.late * 3 + rate.min(64 << RATE_BITS)) / 4;
        } else {
            self.rate = rate.min(self.late);
        }
    }

    /// The event after so many operations is the last one, and told with what `foreign` says.
    pub(crate) fn ends(&mut self, operations: u64, foreign: Foreign) {
        let others = self.now.saturating_sub(self.time_of(operations));
        self.time += others;
        if foreign == Foreign::Own {
            self.others = others;
        }
    }

    /// The time when so many operations were executed since the last reading.
    #[inline(always)]
    pub(crate) fn time_of(&self, operations: u64) -> u64 {
        self.time + self.of(operations)
    }

    /// The time of some of the operations executed since the last reading.
    #[inline(always)]
    pub(crate) fn of(&self, operations: u64) -> u64 {
        operations.wrapping_mul(self.rate) >> RATE_BITS
    }

    /// The same, with what is the invocation's own besides.
    #[inline(always)]
    pub(crate) fn of_own(&self, operations: u64) -> u64 {
        self.of(operations) + self.others
    }

    /// The time of this reading, and how much of it `own` operations took that ended when so many were executed, the last
    /// ones, with what `foreign` says.
    pub(crate) fn last(&self, own: u64, operations: u64, foreign: Foreign) -> (u64, u64) {
        let others = match foreign {
            Foreign::Own => self.now.saturating_sub(self.time_of(operations)),
            Foreign::None | Foreign::Before => 0,
        };
        (self.now, self.of(own) + others)
    }

    /// The log was read.
    pub(crate) fn done(&mut self) {
        (self.time, self.others) = (self.now, 0);
    }

    /// The program goes on.
    #[inline(always)]
    pub(crate) fn resume(&mut self) {
        let counter = cycles();
        let took = counter.saturating_sub(self.read);
        self.readings += 1;
        self.reading += took;
        self.read = counter;
        if took > LONG {
            // Others may have taken the processor from the profiler.
            METER.read();
            self.read = cycles();
        }
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

#[cfg(test)]
mod tests;
