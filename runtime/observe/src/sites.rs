//! Where a thread waited: a small table for each thread, which only that thread writes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contech_observation::State;

/// The largest number of places of a thread.
const SLOTS: usize = 256;
const STATE_BITS: u32 = 8;

struct Site {
    /// Address and state; 0 if the slot is free.
    key: AtomicU64,
    count: AtomicU64,
    ticks: AtomicU64,
}

/// The table of one thread. A table that is all zero is empty.
pub(crate) struct Sites {
    slots: [Site; SLOTS],
    /// Number of waits that found no free slot.
    lost: AtomicU64,
}

/// Adds to a cell that only one thread writes and others may read.
pub(crate) fn bump(cell: &AtomicU64, by: u64) {
    cell.store(cell.load(Relaxed).wrapping_add(by), Relaxed);
}

impl Sites {
    /// Counts so many waits at `address` that are over, and the ticks of waits or of parts of them.
    pub(crate) fn add(&self, address: usize, state: State, count: u64, ticks: u64) {
        let key = (address as u64) << STATE_BITS | (state as u64 + 1);
        let hash = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        for step in 0..SLOTS {
            let slot = &self.slots[(hash + step) % SLOTS];
            let found = slot.key.load(Relaxed);
            if found != key && found != 0 {
                continue;
            }
            slot.key.store(key, Relaxed);
            bump(&slot.count, count);
            bump(&slot.ticks, ticks);
            return;
        }
        bump(&self.lost, 1);
    }

    pub(crate) fn clear(&self) {
        for slot in &self.slots {
            slot.key.store(0, Relaxed);
            slot.count.store(0, Relaxed);
            slot.ticks.store(0, Relaxed);
        }
        self.lost.store(0, Relaxed);
    }

    /// Address, number of the state, count and ticks of each place.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, usize, u64, u64)> + '_ {
        let used = |slot: &&Site| slot.key.load(Relaxed) != 0;
        self.slots.iter().filter(used).map(|slot| {
            let key = slot.key.load(Relaxed);
            let state = (key & 0xff) as usize;
            let address = usize::try_from(key >> STATE_BITS).unwrap_or(0);
            let (count, ticks) = (slot.count.load(Relaxed), slot.ticks.load(Relaxed));
            (address, state.saturating_sub(1), count, ticks)
        })
    }

    /// Number of waits whose place is not known.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }
}
