//! The words that other modules keep in each lane. A lane only holds them; the module that a part
//! belongs to says what they mean.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use contech_observation::State;

use crate::clock;

/// A thread's participation in a phase (`phase`).
pub(crate) struct Member {
    /// Number of the phase; 0 for none.
    pub(crate) instance: AtomicU64,
    pub(crate) epoch: AtomicU32,
    /// The lane's times when the thread joined the phase.
    pub(crate) before: [AtomicU64; State::COUNT],
    pub(crate) pieces_before: AtomicU64,
}

impl Member {
    /// Ticks that the thread had run when its phase began; 0 outside of a phase.
    pub(crate) fn running_before(&self) -> u64 {
        if self.instance.load(Relaxed) == 0 || self.epoch.load(Relaxed) != clock::epoch() {
            return 0;
        }
        self.before[State::Running as usize].load(Relaxed)
    }
}

/// The largest depth of the stack of frames.
const FRAMES: usize = 250;

/// A lane's part in OpenMP (`openmp`), which its thread alone uses. A part that is all zero is
/// empty.
pub(crate) struct OpenMp {
    /// The phase of the outermost region that the thread is in.
    pub(crate) region: AtomicPtr<c_void>,
    pub(crate) depth: AtomicU32,
    /// Number of frames that found no room.
    pub(crate) beyond: AtomicU32,
    pub(crate) frames: [AtomicU64; FRAMES],
    /// When the wait of the topmost frame began, if none of it has been counted yet; 0 if there is
    /// no such wait. Many waits for tasks have nothing to wait for.
    pub(crate) pending: AtomicU64,
    /// Number of waits that had nothing to wait for since such waits were last counted, and the
    /// ticks that they took.
    pub(crate) asks: AtomicU64,
    pub(crate) asking: AtomicU64,
    /// When the thread asked for a lock that it does not have yet; 0 if there is none.
    pub(crate) asked: AtomicU64,
    /// 1 + the depth at which a call that is being timed began; 0 if no call is being timed.
    pub(crate) timed: AtomicU32,
    /// When the current task within that call began, and the ticks of the tasks within the call so
    /// far.
    pub(crate) nested_from: AtomicU64,
    pub(crate) nested: AtomicU64,
    /// A running average of the ticks of such a call.
    pub(crate) usual: AtomicU64,
}

impl OpenMp {
    pub(crate) fn depth(&self) -> u32 {
        self.depth.load(Relaxed) + self.beyond.load(Relaxed)
    }

    pub(crate) fn top(&self) -> Option<u64> {
        let depth = self.depth.load(Relaxed).checked_sub(1)?;
        Some(self.frames[depth as usize].load(Relaxed))
    }

    /// Clears everything, because another thread uses the lane.
    pub(crate) fn forget(&self) {
        self.depth.store(0, Relaxed);
        self.beyond.store(0, Relaxed);
        self.asked.store(0, Relaxed);
        self.pending.store(0, Relaxed);
        self.timed.store(0, Relaxed);
        self.asks.store(0, Relaxed);
        self.asking.store(0, Relaxed);
        self.region.store(std::ptr::null_mut(), Relaxed);
    }
}
