//! Time, from the processor's cycle counter, which is read when the log is read. The cycles since
//! the last reading, less the cost of the events themselves, are spread evenly over the operations
//! executed meanwhile. If code was called that counts no operations, the operations are taken to be
//! as fast as they were lately, and the rest of the time is that code's. The sums are those of the
//! counter; at most a strand of [`READ_AFTER`] operations is attributed wrongly. Reading the log
//! takes no time of the program: the counter is read again afterwards.
#![allow(unsafe_code, reason = "an instruction")]

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contech_interpose::arch::ticks;
use contech_interpose::meter::{LONG, Meter};
use workspan::file::Metric;

/// The log is read after this many operations.
pub(crate) const READ_AFTER: i64 = 2048;
/// Binary places of a rate.
const RATE_BITS: u32 = 16;

/// The cost of the profiler's own work that cannot be measured where it is spent, in cycles;
/// [`Clock`] subtracts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Cost of an event, in parts ([`EVENT_BITS`]) of a cycle, since a processor writes several
    /// events at a time.
    pub event: u64,
    /// Cost of calling the function that reads the log, and of coming back.
    pub reading: u64,
}

/// Binary places of [`Cost::event`].
pub(crate) const EVENT_BITS: u32 = 8;

/// Whether code that counts no operations was called since the log was read, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    None,
    /// It was called by code that ran before the own operations of the last event.
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

#[derive(Debug)]
pub(crate) struct Clock {
    metric: Metric,
    cost: Cost,
    /// The time of the last reading, and the counter after it.
    time: u64,
    read: u64,
    /// The time of this reading; the time of an operation since the last reading; and the time of
    /// an operation lately.
    now: u64,
    rate: u64,
    late: u64,
    /// The part of the events' cost that exceeded the cycles of their intervals.
    debt: u64,
    /// Time that belongs to the invocation of the last event, in addition to the time of its
    /// operations.
    others: u64,
    /// Number of readings so far, and the cycles that they took.
    pub readings: u64,
    pub reading: u64,
}

/// The counter when this library was loaded. The program's time begins then, and not with the first
/// event.
static LOADED: AtomicU64 = AtomicU64::new(0);
/// Measures the time that other programs had the processor, which is not the program's time.
// SAFETY: a meter is made of integers.
static METER: Meter = unsafe { std::mem::zeroed() };

#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    METER.read();
    LOADED.store(ticks(), Relaxed);
}

/// The moment when the profiler began to prepare itself. The time before belongs to the program,
/// the time after to the profiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    cycles: u64,
    /// Time that other programs had the processor before.
    taken: u64,
}

impl Ready {
    /// The moment now.
    pub(crate) fn begins() -> Self {
        Self { cycles: ticks(), taken: METER.read() }
    }
}

impl Clock {
    pub(crate) fn new(metric: Metric, cost: Cost) -> Self {
        Self {
            metric,
            // In operations events cost nothing.
            cost: if metric == Metric::Time { cost } else { Cost::default() },
            time: 0,
            read: ticks(),
            now: 0,
            rate: 1 << RATE_BITS,
            late: 1 << RATE_BITS,
            debt: 0,
            others: 0,
            readings: 0,
            reading: 0,
        }
    }

    /// Lets time begin when the library was loaded, without the time since `ready`, which the
    /// profiler spent on itself, and without the time before it in which other programs had the
    /// processor.
    pub(crate) fn since_loaded(&mut self, ready: Ready) {
        METER.read();
        let now = ticks();
        let own = now.saturating_sub(ready.cycles) + ready.taken;
        self.read = LOADED.load(Relaxed).saturating_add(own).min(now);
    }

    /// Begins a reading of the log. Until [`Self::resume`] the time is the profiler's own.
    pub(crate) fn read(&mut self, passed: Passed) {
        let elapsed = match self.metric {
            Metric::Ops => passed.operations,
            Metric::Time => self.elapsed(),
        };
        self.passed(elapsed, passed);
    }

    fn elapsed(&mut self) -> u64 {
        let counter = ticks();
        let mut elapsed = counter.saturating_sub(self.read);
        self.read = counter;
        if elapsed > LONG {
            elapsed -= METER.read().min(elapsed);
        }
        elapsed
    }

    /// Computes the time and the rate of the operations executed since the last reading, in which
    /// `elapsed` cycles passed.
    fn passed(&mut self, elapsed: u64, passed: Passed) {
        let events = passed.events.saturating_mul(self.cost.event) >> EVENT_BITS;
        let cost = events + self.cost.reading + self.debt;
        self.debt = match self.metric {
            Metric::Time => cost.saturating_sub(elapsed),
            Metric::Ops => 0,
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

    /// Says that the event after so many operations is the last one, and that foreign code ran
    /// before it as `foreign` says.
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

    /// How long some of the operations executed since the last reading took.
    #[inline(always)]
    pub(crate) fn of(&self, operations: u64) -> u64 {
        operations.wrapping_mul(self.rate) >> RATE_BITS
    }

    /// How long an invocation's own operations took, with the time of foreign code that is the
    /// invocation's own.
    #[inline(always)]
    pub(crate) fn of_own(&self, operations: u64) -> u64 {
        self.of(operations) + self.others
    }

    /// Ends a reading of the log; returns its time.
    pub(crate) fn done(&mut self) -> u64 {
        (self.time, self.others) = (self.now, 0);
        self.now
    }

    /// Lets the program's time go on.
    #[inline(always)]
    pub(crate) fn resume(&mut self) {
        let counter = ticks();
        let took = counter.saturating_sub(self.read);
        self.readings += 1;
        self.reading += took;
        self.read = counter;
        if took > LONG {
            // Other programs may have had the processor while the profiler worked.
            METER.read();
            self.read = ticks();
        }
    }
}

#[cfg(test)]
mod tests;
