//! What the program has spent since the last hook: operations exactly, or cycles.
//!
//! Reading the cycle counter takes as long as several hooks. It is read when something long may have happened: code
//! that counts no operations was called, or many operations or hooks have passed since. In between time follows from
//! operations at the rate of late, and the next reading gives or takes the difference: sums are those of the counter,
//! and what is attributed wrongly is at most a strand of [`READ_AFTER`] operations.
#![allow(unsafe_code, reason = "an instruction")]

mod told;

pub(crate) use told::{Foreign, Told};

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use contech_meter::{LONG, Meter};

/// Operations after which the counter is read.
const READ_AFTER: i64 = 1024;
/// So many cycles of hooks count as an operation towards that: their own cost is only an estimate.
const CYCLES: i64 = 8;
/// Binary places of a rate.
const RATE_BITS: u32 = 16;
/// No reading: in operations nothing has to be corrected.
const NEVER: i64 = 1 << 42;

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

/// What the profiler's own work costs, in cycles: what [`Clock`] subtracts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub enter: i64,
    pub leaf: i64,
    pub leave: i64,
    pub sync: i64,
    /// To move an element of a profile, in parts ([`MOVED_BITS`]) of a cycle: hooks do that now and then, many at a time.
    pub moved: u64,
    /// A reading with all that is made of it.
    pub reading: u64,
}

/// Binary places of [`Cost::moved`].
pub(crate) const MOVED_BITS: u32 = 8;

/// See the module's description.
#[derive(Debug)]
pub(crate) struct Clock {
    /// Operations at the last reading, and the time when there were so many.
    read_operations: u64,
    base: u64,
    /// Operations at the last hook.
    operations: u64,
    /// Time of an operation.
    rate: u64,
    /// [`CYCLES`] for each operation from which on the counter is to be read; hooks take of it what they cost.
    limit: i64,
    pub cost: Cost,
    metric: Metric,
    /// The time, the limit and the counter at the last reading, and what was given out too much before.
    read_time: u64,
    read_limit: i64,
    read: u64,
    debt: u64,
    /// Elements of profiles moved until then.
    read_moved: u64,
    /// Readings so far.
    pub readings: u64,
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
        let time = metric == Metric::Time;
        let limit = CYCLES * if time { READ_AFTER } else { NEVER };
        Self {
            read_operations: 0,
            base: 0,
            operations: 0,
            rate: 1 << RATE_BITS,
            limit,
            // In operations hooks cost nothing.
            cost: if time { cost } else { Cost::default() },
            metric,
            read_time: 0,
            read_limit: limit,
            read: cycles(),
            debt: 0,
            read_moved: 0,
            readings: 0,
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

    /// A hook that costs `cost` is called when so many operations were executed: what is to be told to [`Self::called`]
    /// if it goes on at once; none if the counter is to be read before.
    #[inline(always)]
    #[allow(clippy::cast_possible_wrap, reason = "operations are fewer than 2^60")]
    pub(crate) fn not_due(&self, operations: u64, cost: i64) -> Option<i64> {
        let limit = self.limit - cost;
        ((operations as i64) * CYCLES < limit).then_some(limit)
    }

    /// That hook went on.
    #[inline(always)]
    pub(crate) fn called(&mut self, operations: u64, limit: i64) {
        (self.operations, self.limit) = (operations, limit);
    }

    /// A hook that costs `cost` is called, and is not one that goes on at once. If the counter is read in it this is told
    /// afterwards: most of its cost is in the next interval.
    pub(crate) fn costs(&mut self, cost: i64) {
        self.limit -= cost;
    }

    /// The time when so many operations were executed.
    #[inline(always)]
    pub(crate) fn time_of(&self, operations: u64) -> u64 {
        self.base
            .wrapping_add(self.of(operations.wrapping_sub(self.read_operations)))
    }

    /// The time of a few operations.
    #[inline(always)]
    pub(crate) fn of(&self, operations: u64) -> u64 {
        operations.wrapping_mul(self.rate) >> RATE_BITS
    }

    /// The time of the last hook.
    pub(crate) fn last(&self) -> u64 {
        self.time_of(self.operations).max(self.read_time)
    }

    /// The time after all that was `told`, and how much of it since the last hook is the invocation's own; so many elements
    /// of profiles were `moved` so far.
    pub(crate) fn time(&mut self, told: Told, moved: u64) -> (u64, u64) {
        let operations = told.operations + told.own;
        if self.not_due(operations, 0).is_none() || told.foreign != Foreign::None {
            self.read(told, moved)
        } else {
            self.operations = operations;
            (self.time_of(operations), self.of(told.own))
        }
    }

    /// The same, and the counter is read.
    pub(crate) fn read(&mut self, told: Told, moved: u64) -> (u64, u64) {
        if self.metric == Metric::Operations {
            let passed = (told.operations + told.own).saturating_sub(self.operations);
            let now = self.last() + passed;
            self.set(told, now);
            return (now, told.own.min(passed));
        }
        let mut counter = cycles();
        let mut elapsed = counter.saturating_sub(self.read);
        if elapsed > LONG {
            elapsed -= METER.read().min(elapsed);
            counter = cycles();
        }
        self.read = counter;
        self.readings += 1;
        self.elapsed(elapsed, told, moved)
    }

    /// The same when so many cycles have passed since the last reading.
    fn elapsed(&mut self, elapsed: u64, told: Told, moved: u64) -> (u64, u64) {
        let operations = told.operations + told.own;
        let counted = operations.saturating_sub(self.read_operations);
        let passed = operations.saturating_sub(self.operations);
        let last = self.last();
        let moved = moved.saturating_sub(std::mem::replace(&mut self.read_moved, moved));
        let hooks = u64::try_from(self.read_limit - self.limit).unwrap_or(0)
            + (moved.saturating_mul(self.cost.moved) >> MOVED_BITS);
        let elapsed = elapsed.saturating_sub(self.cost.reading + hooks);
        let given = self.debt + (last - self.read_time);
        let rest = elapsed.saturating_sub(given);
        // What was given too much is taken from what comes.
        self.debt = given.saturating_sub(elapsed);
        if told.foreign == Foreign::None && counted > 0 {
            let rate = (elapsed << RATE_BITS) / counted;
            self.rate = (self.rate * 3 + rate.min(64 << RATE_BITS)) / 4;
        }
        self.set(told, last + rest);
        let own = match told.foreign {
            Foreign::Own => rest,
            Foreign::Before => 0,
            Foreign::None => share(rest, told.own, passed),
        };
        (last + rest, own)
    }

    /// It is `now`, when all was executed that was `told`. What is the invocation's own will be told again if it was not
    /// counted yet.
    fn set(&mut self, told: Told, now: u64) {
        let pending = if told.pending { told.own } else { 0 };
        self.operations = told.operations + told.own;
        self.read_operations = self.operations - pending;
        // Below zero where the program began faster than at the rate of late: it comes back when they are counted.
        (self.base, self.read_time) = (now.wrapping_sub(self.of(pending)), now);
        let every = if self.metric == Metric::Time {
            READ_AFTER
        } else {
            NEVER
        };
        let operations = i64::try_from(self.read_operations).unwrap_or(NEVER);
        self.limit = (operations + every) * CYCLES;
        self.read_limit = self.limit;
    }
}

/// `part` of `whole`, of `all`.
fn share(all: u64, part: u64, whole: u64) -> u64 {
    let (part, whole) = (part.min(whole), whole.max(1));
    match all.checked_mul(part) {
        Some(product) => product / whole,
        None => {
            let share = u128::from(all) * u128::from(part) / u128::from(whole);
            u64::try_from(share).unwrap_or(all)
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
