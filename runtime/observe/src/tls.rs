//! What belongs to the calling thread: its lane.

use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed};

use contech_guest::thread_block;

use crate::lane::Lane;

/// Bytes of the block: a cache line.
const BYTES: usize = 64;

/// The thread's part.
#[repr(C, align(64))]
pub(crate) struct Block {
    lane: AtomicPtr<Lane>,
    /// Caller of the function being passed on, where a stub has no argument free for it.
    pub(crate) caller: AtomicUsize,
    /// Calls until the next one that is timed, by function.
    left: [AtomicU32; TIMED],
    /// Calls from the last one that was timed to the next.
    gaps: [AtomicU8; TIMED],
    random: AtomicU32,
}

/// Functions that are timed now and then: seven of libomp's, and the use of locks.
const TIMED: usize = 8;
/// Number of the use of locks among them.
const LOCKS: usize = 7;
/// Where [`Block::caller`] is.
pub(crate) const CALLER: usize = 8;
/// Where [`Block::left`] is.
pub(crate) const LEFT: usize = 16;
/// Where its element for locks is.
pub(crate) const LEFT_LOCKS: usize = LEFT + 4 * LOCKS;
/// A thread that used so many locks (an estimate) has enough of them timed to do with fewer.
const MANY_LOCKS: u64 = 20_000;

const _: () = assert!(size_of::<Block>() == BYTES);
const _: () = assert!(std::mem::offset_of!(Block, left) == LEFT);
const _: () = assert!(std::mem::offset_of!(Block, caller) == CALLER);

impl Block {
    const fn new() -> Self {
        Self {
            lane: AtomicPtr::new(std::ptr::null_mut()),
            caller: AtomicUsize::new(0),
            left: [const { AtomicU32::new(0) }; TIMED],
            gaps: [const { AtomicU8::new(0) }; TIMED],
            random: AtomicU32::new(0),
        }
    }

    /// A call of a function is timed: how many it stands for. The next one comes after 9 to 24 calls, 16.5 on average; not after
    /// 16, as programs call in patterns.
    pub(crate) fn next_gap(&self, function: usize) -> u64 {
        self.gap(function, 9, 28)
    }

    /// Whether this use of a lock is timed, and then how many it stands for.
    #[inline(always)]
    pub(crate) fn lock_is_timed(&self) -> Option<u64> {
        let left = &self.left[LOCKS];
        match left.load(Relaxed).checked_sub(1) {
            Some(fewer) => {
                left.store(fewer, Relaxed);
                None
            }
            None => Some(self.lock_gap()),
        }
    }

    /// This use of a lock is timed: how many it stands for. About every 64th is, of many about every 192nd.
    #[cold]
    #[inline(never)]
    pub(crate) fn lock_gap(&self) -> u64 {
        match lane() {
            Some(lane) if lane.locks.load(Relaxed) >= MANY_LOCKS => self.gap(LOCKS, 128, 25),
            _ => self.gap(LOCKS, 33, 26),
        }
    }

    #[cold]
    fn gap(&self, function: usize, least: u32, shift: u32) -> u64 {
        let step = self
            .random
            .load(Relaxed)
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        self.random.store(step, Relaxed);
        let gap = least + (step >> shift);
        let last = self.gaps[function].load(Relaxed);
        self.gaps[function].store(u8::try_from(gap).unwrap_or(1), Relaxed);
        self.left[function].store(gap - 1, Relaxed);
        u64::from(last).max(1)
    }
}

thread_block! {
    /// The block itself, for the stubs.
    static __contech_observe_tls: Block = Block::new();
    /// The calling thread's block.
    pub(crate) fn block();
}

/// The calling thread's lane: none in threads that are not observed, and while nothing is.
#[inline(always)]
pub(crate) fn lane() -> Option<&'static Lane> {
    // SAFETY: null, or of the table of lanes, which is never unmapped.
    unsafe { block().lane.load(Relaxed).as_ref() }
}

/// Gives the calling thread its lane, or takes it away.
pub(crate) fn set_lane(lane: Option<&'static Lane>) {
    let lane = lane.map_or(std::ptr::null_mut(), |lane| {
        std::ptr::from_ref(lane).cast_mut()
    });
    block().lane.store(lane, Relaxed);
}
