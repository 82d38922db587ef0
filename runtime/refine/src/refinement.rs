//! The two together: what a program calls around its loop.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock;
use crate::meter::Meter;
use crate::refiner::Refiner;
use crate::sample::{Sample, State};

/// While the size stays, one round in so many is measured.
const SELDOM: u64 = 8;

/// Partition refinement of one loop; see the [crate's description](crate).
///
/// Rounds of one `Refinement` come one after the other. If they do not, sizes may be worse; nothing else is.
#[derive(Debug)]
pub struct Refinement {
    refiner: Mutex<Refiner>,
    meter: Meter,
    rounds: AtomicU64,
}

impl Refinement {
    /// For a loop over so many items and so many workers; the first size. See [`Refiner::new`].
    #[must_use]
    pub fn new(items: u64, workers: u32, initial: u64) -> Self {
        Self::of(Refiner::new(items, workers, initial))
    }

    /// With a refiner that has limits, or a history.
    #[must_use]
    pub fn of(refiner: Refiner) -> Self {
        Self {
            meter: Meter::new(refiner.workers()),
            refiner: Mutex::new(refiner),
            rounds: AtomicU64::new(0),
        }
    }

    /// The refiner; it is plain data: a thread that panicked left nothing half done that matters.
    fn refiner(&self) -> MutexGuard<'_, Refiner> {
        self.refiner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the limits of the size; see [`Refiner::with_limits`].
    pub fn limit(&self, smallest: u64, largest: u64) {
        let mut refiner = self.refiner();
        *refiner = refiner.clone().with_limits(smallest, largest);
    }

    /// Items of a part in the next, or the present, round.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.refiner().size()
    }

    /// How far it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.refiner().state()
    }

    /// What the last round told that was measured.
    #[must_use]
    pub fn last(&self) -> Sample {
        self.refiner().last()
    }

    /// Begins a round; it ends when what is returned is dropped.
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
        self.meter.begin(measure, clock::now);
    }

    pub(crate) fn round_end(&self) {
        if let Some(sample) = self.meter.end(clock::now) {
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
    /// Items of each part of this round.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Begins a part, by a worker (numbered from 0) in a stage (from 0: what is between two barriers); it ends when what is
    /// returned is dropped.
    #[must_use = "the part ends when this is dropped"]
    pub fn part(&self, worker: u32, stage: u32) -> Part<'_> {
        self.of.meter.part_begin(worker, stage, clock::now);
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

/// A part that a worker is at.
#[derive(Debug)]
pub struct Part<'a> {
    meter: &'a Meter,
    worker: u32,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.meter.part_end(self.worker, clock::now);
    }
}
