//! The calling thread's block of thread-local data, with its lane.

use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed};

use contech_interpose::thread_block;

use crate::lane::Lane;

/// Size of the block in bytes: a cache line.
const BYTES: usize = 64;

/// The thread-local data of one thread.
#[repr(C, align(64))]
pub(crate) struct Block {
    lane: AtomicPtr<Lane>,
    /// The caller of the hooked function, for stubs that have no argument free for it.
    pub(crate) caller: AtomicUsize,
    /// Number of calls until the next one that is timed, by function.
    left: [AtomicU32; TIMED],
    /// Number of calls from the last one that was timed to the next, by function.
    gaps: [AtomicU8; TIMED],
    random: AtomicU32,
}

/// Number of functions of which some calls are timed: seven of libomp's, and the use of locks.
const TIMED: usize = 8;
/// Index of the use of locks among them.
pub(crate) const LOCKS: usize = 7;
/// Offset of [`Block::caller`] in bytes.
pub(crate) const CALLER: usize = 8;
/// After this (estimated) number of uses of locks, a thread has enough timed uses, and fewer of
/// them are timed.
const MANY_LOCKS: u64 = 20_000;

const _: () = assert!(size_of::<Block>() == BYTES);
const _: () = assert!(std::mem::offset_of!(Block, caller) == CALLER);

impl Block {
    /// The number of calls of a function that this call stands for, if it is one that is timed.
    #[inline(always)]
    pub(crate) fn is_timed(&self, function: usize) -> Option<u64> {
        let left = &self.left[function];
        match left.load(Relaxed).checked_sub(1) {
            Some(fewer) => {
                left.store(fewer, Relaxed);
                None
            }
            None => Some(self.gap(function)),
        }
    }

    /// The number of calls that this call, which is timed, stands for. The next timed call of
    /// libomp comes after 9 to 24 calls, 16.5 on average; about every 64th use of a lock is timed,
    /// and about every 192nd after many uses. The number varies, because programs call in patterns.
    #[cold]
    #[inline(never)]
    fn gap(&self, function: usize) -> u64 {
        let (least, shift) = match (function, lane()) {
            (LOCKS, Some(lane)) if lane.locks.load(Relaxed) >= MANY_LOCKS => (128, 25),
            (LOCKS, _) => (33, 26),
            _ => (9, 28),
        };
        let step = self.random.load(Relaxed).wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.random.store(step, Relaxed);
        let gap = least + (step >> shift);
        let last = self.gaps[function].load(Relaxed);
        self.gaps[function].store(u8::try_from(gap).unwrap_or(1), Relaxed);
        self.left[function].store(gap - 1, Relaxed);
        u64::from(last).max(1)
    }
}

/// The ticks of so many calls, one of which was timed. A call that takes long was interrupted: its
/// time counts, but does not stand for other calls.
pub(crate) fn stands_for(ticks: u64, calls: u64) -> u64 {
    const LONG: u64 = 20_000;
    if ticks > LONG { ticks } else { ticks * calls }
}

thread_block! {
    /// The block itself, whose symbol the stubs use.
    static __contech_observe_tls: Block;
    /// The calling thread's block.
    pub(crate) fn block();
}

/// The calling thread's lane; `None` in threads that are not observed, and while nothing is
/// observed.
#[inline(always)]
pub(crate) fn lane() -> Option<&'static Lane> {
    // SAFETY: the pointer is null, or points into the table of lanes, which is never unmapped.
    unsafe { block().lane.load(Relaxed).as_ref() }
}

/// Gives the calling thread its lane, or takes it away.
pub(crate) fn set_lane(lane: Option<&'static Lane>) {
    let lane = lane.map_or(std::ptr::null_mut(), |lane| std::ptr::from_ref(lane).cast_mut());
    block().lane.store(lane, Relaxed);
}
