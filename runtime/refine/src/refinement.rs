//! Decisions and measuring together: what a program calls around its loop.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use contech_guest::arch::ticks;

use crate::meter::Meter;
use crate::refiner::Refiner;
use crate::sample::{Sample, State};

/// While the size stays, one of so many rounds is measured.
const SELDOM: u64 = 8;

/// Partition refinement of one loop; see the [crate's description](crate).
///
/// Rounds of one `Refinement` must come one after the other. If they do not, sizes may be worse, and nothing else
/// happens.
#[derive(Debug)]
pub struct Refinement {
    refiner: Mutex<Refiner>,
    meter: Meter,
    rounds: AtomicU64,
}

impl Refinement {
    /// A refinement for a loop over so many items with so many workers, and the first size. See [`Refiner::new`].
    #[must_use]
    pub fn new(items: u64, workers: u32, initial: u64) -> Self {
        Self::of(Refiner::new(items, workers, initial))
    }

    /// A refinement with a refiner that has limits, or a history.
    #[must_use]
    pub fn of(refiner: Refiner) -> Self {
        Self {
            meter: Meter::new(refiner.workers()),
            refiner: Mutex::new(refiner),
            rounds: AtomicU64::new(0),
        }
    }

    /// The refiner. It is plain data, so a thread that panicked left nothing in it that matters.
    fn refiner(&self) -> MutexGuard<'_, Refiner> {
        self.refiner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the limits of the size; see [`Refiner::with_limits`].
    pub fn limit(&self, smallest: u64, largest: u64) {
        let mut refiner = self.refiner();
        *refiner = refiner.clone().with_limits(smallest, largest);
    }

    /// Number of items of a part in the next or the present round.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.refiner().size()
    }

    #[must_use]
    pub fn state(&self) -> State {
        self.refiner().state()
    }

    /// The result of the last measured round.
    #[must_use]
    pub fn last(&self) -> Sample {
        self.refiner().last()
    }

    /// Begins a round, which ends when the returned value is dropped.
    pub fn round(&self) -> Round<'_> {
        self.round_begin();
        Round {
            of: self,
            size: self.size(),
        }
    }

    pub(crate) fn round_begin(&self) {
        let count = self.rounds.fetch_add(1, Relaxed);
        let measure = self.state() != State::Holding || count.is_multiple_of(SELDOM);
        self.meter.begin(measure, ticks);
    }

    pub(crate) fn round_end(&self) {
        if let Some(sample) = self.meter.end(ticks) {
            self.refiner().observe(sample);
        }
    }

    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }
}

/// A round: one run of the loop.
#[derive(Debug)]
pub struct Round<'a> {
    of: &'a Refinement,
    size: u64,
}

impl Round<'_> {
    /// Number of items of each part of this round.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A worker (numbered from 0) begins a part in a stage (numbered from 0; barriers separate stages). The part ends
    /// when the returned value is dropped.
    #[must_use = "the part ends when this is dropped"]
    pub fn part(&self, worker: u32, stage: u32) -> Part<'_> {
        self.of.meter.part_begin(worker, stage, ticks);
        Part {
            meter: &self.of.meter,
            worker,
        }
    }
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        self.of.round_end();
    }
}

/// A part on which a worker works.
#[derive(Debug)]
pub struct Part<'a> {
    meter: &'a Meter,
    worker: u32,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.meter.part_end(self.worker, ticks);
    }
}
