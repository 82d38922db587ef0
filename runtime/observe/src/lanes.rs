//! The table of lanes.

use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release,
};

use crate::lane::Lane;

/// The largest number of threads that live at the same time.
pub(crate) const LANES: usize = 1024;

static TABLE: OnceLock<&[Lane]> = OnceLock::new();
/// Number of lanes that were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Number of threads that found no free lane, and so were not observed.
pub(crate) static TURNED_AWAY: AtomicU64 = AtomicU64::new(0);

/// Maps the table; whether there was enough memory.
pub(crate) fn start() -> bool {
    Lane::map(LANES).is_some_and(|table| TABLE.set(table).is_ok())
}

/// Lanes that have been used.
pub(crate) fn all() -> &'static [Lane] {
    TABLE.get().map_or(&[], |table| &table[..USED.load(Acquire)])
}

/// The first free lane, for a thread about to begin.
pub(crate) fn take() -> Option<&'static Lane> {
    for (index, lane) in TABLE.get()?.iter().enumerate() {
        let free = lane.taken.load(Relaxed) == 0;
        if free && lane.taken.compare_exchange(0, 1, AcqRel, Relaxed).is_ok() {
            USED.fetch_max(index + 1, AcqRel);
            return Some(lane);
        }
    }
    TURNED_AWAY.fetch_add(1, Relaxed);
    None
}

/// Frees the lane after its thread has ended.
pub(crate) fn give_back(lane: &Lane) {
    lane.taken.store(0, Release);
}
