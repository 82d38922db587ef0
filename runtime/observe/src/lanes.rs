//! The table of lanes. It is mapped once; the kernel adds its pages as threads use them.

use std::sync::atomic::{
    AtomicPtr, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
    Ordering::Release,
};

use contech_interpose::memory;

use crate::lane::Lane;

/// The largest number of threads that live at the same time.
pub(crate) const LANES: usize = 1024;

static TABLE: AtomicPtr<Lane> = AtomicPtr::new(std::ptr::null_mut());
/// Number of lanes that were ever used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Number of threads that found no free lane.
static TURNED_AWAY: AtomicU64 = AtomicU64::new(0);

/// Maps the table; whether there was enough memory.
pub(crate) fn start() -> bool {
    let table = memory::map(LANES * size_of::<Lane>());
    if let Some(table) = table {
        TABLE.store(table.cast(), Release);
    }
    table.is_some()
}

/// Lanes that have been used.
pub(crate) fn all() -> &'static [Lane] {
    let table = TABLE.load(Acquire);
    if table.is_null() {
        return &[];
    }
    // SAFETY: the mapping has room for `LANES` lanes and is never unmapped; a zero lane is valid,
    // and all fields are atomics.
    unsafe { std::slice::from_raw_parts(table, USED.load(Acquire)) }
}

/// The first free lane, for a thread about to begin.
pub(crate) fn take() -> Option<&'static Lane> {
    let table = TABLE.load(Acquire);
    if table.is_null() {
        return None;
    }
    // SAFETY: the same holds as in `all`.
    let lanes = unsafe { std::slice::from_raw_parts(table, LANES) };
    for (index, lane) in lanes.iter().enumerate() {
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

/// Number of threads that were not observed.
pub(crate) fn turned_away() -> u64 {
    TURNED_AWAY.load(Relaxed)
}
