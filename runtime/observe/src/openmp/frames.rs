//! What a thread comes back to: regions, barriers and tasks nest.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use contech_observation::State;

use crate::lane::Lane;
use crate::phase::Instance;

/// How deep that is followed.
const FRAMES: usize = 250;

/// A lane's part in OpenMP, which its thread alone uses. All zero is none.
pub(crate) struct Part {
    /// The outermost region.
    region: AtomicPtr<Instance>,
    depth: AtomicU32,
    /// Frames that found no room.
    beyond: AtomicU32,
    frames: [AtomicU64; FRAMES],
    /// When the wait of the topmost frame began, if nothing has been counted of it yet: many a wait for tasks has nothing to wait
    /// for. 0 for none.
    pending: AtomicU64,
    /// When the thread asked for a lock it does not have yet; 0 for none.
    pub(super) asked: AtomicU64,
    /// The depth at which a call that is being timed began, and one more; 0 for none.
    pub(super) timed: AtomicU32,
    /// When the tasks within it began, and what they took.
    pub(super) nested_from: AtomicU64,
    pub(super) nested: AtomicU64,
    /// What such a call takes of late.
    pub(super) usual: AtomicU64,
}

/// Why there is a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// From `parallel_begin` to `parallel_end`.
    Region,
    /// An implicit task.
    Implicit,
    /// A wait.
    Wait,
    /// An explicit task.
    Task,
}

const PLACE_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 8;

fn state_of(number: u64) -> State {
    let index = usize::try_from(number & 0xff).unwrap_or(0);
    *State::ALL.get(index).unwrap_or(&State::Running)
}

impl Part {
    /// The region the thread is in.
    pub(super) fn region(&self) -> Option<&'static Instance> {
        // SAFETY: null, or one of the table of instances, which is for ever.
        unsafe { self.region.load(Relaxed).as_ref() }
    }

    pub(super) fn set_region(&self, region: Option<&'static Instance>) {
        let pointer = region.map_or(std::ptr::null_mut(), |i| std::ptr::from_ref(i).cast_mut());
        self.region.store(pointer, Relaxed);
    }

    pub(super) fn depth(&self) -> u32 {
        self.depth.load(Relaxed) + self.beyond.load(Relaxed)
    }

    fn top(&self) -> Option<u64> {
        let depth = self.depth.load(Relaxed).checked_sub(1)?;
        Some(self.frames[depth as usize].load(Relaxed))
    }

    /// Nothing is nested any more: another thread uses the lane.
    pub(crate) fn forget(&self) {
        self.depth.store(0, Relaxed);
        self.beyond.store(0, Relaxed);
        self.asked.store(0, Relaxed);
        self.pending.store(0, Relaxed);
        self.timed.store(0, Relaxed);
        self.set_region(None);
    }
}

/// Shorter than this, in ticks, there was nothing to wait for.
pub(super) const FREE: u64 = 1000;

fn place_of(frame: u64) -> usize {
    usize::try_from(frame >> PLACE_SHIFT).unwrap_or(0)
}

/// A wait that began in the topmost frame is one.
fn settle(lane: &Lane) {
    let since = lane.openmp.pending.load(Relaxed);
    if since != 0 {
        lane.openmp.pending.store(0, Relaxed);
        lane.switch(State::Join, since);
        let place = lane.openmp.top().map_or(0, place_of);
        lane.sites.add(place, State::Join, 0);
    }
}

/// A wait for tasks begins.
pub(super) fn push_join(lane: &Lane, place: usize, now: u64) {
    if lane.is_running() && lane.openmp.pending.load(Relaxed) == 0 {
        push(lane, Kind::Wait, place, State::Running, || now);
        lane.openmp.pending.store(now, Relaxed);
    } else {
        push(lane, Kind::Wait, place, State::Join, || now);
        lane.sites.add(place, State::Join, 0);
    }
}

/// It ends.
pub(super) fn pop_wait(lane: &Lane, now: u64) {
    let since = lane.openmp.pending.load(Relaxed);
    if since != 0 && now.saturating_sub(since) < FREE {
        lane.openmp.pending.store(0, Relaxed);
    }
    pop(lane, Kind::Wait, || now);
}

/// Changes the state, if it is another one; what was waited belongs to the place of the topmost frame.
fn change(lane: &Lane, to: State, now: impl FnOnce() -> u64) {
    settle(lane);
    let state = lane.state();
    if state == to as usize {
        return;
    }
    let now = now();
    if let Some(top) = lane.openmp.top()
        && top >> KIND_SHIFT & 0xff == Kind::Wait as u64
        && (state == State::Barrier as usize || state == State::Join as usize)
    {
        let (since, idle_from) = (lane.since(), lane.idle_from.load(Relaxed));
        let end = if idle_from == 0 { now } else { idle_from };
        lane.sites
            .add_ticks(place_of(top), State::ALL[state], end.saturating_sub(since));
    }
    lane.switch(to, now);
}

/// Something begins; the thread is in `state`.
pub(super) fn push(lane: &Lane, kind: Kind, place: usize, state: State, now: impl FnOnce() -> u64) {
    let part = &lane.openmp;
    settle(lane);
    let prior = lane.state() as u64;
    change(lane, state, now);
    let depth = part.depth.load(Relaxed);
    let Some(frame) = part.frames.get(depth as usize) else {
        part.beyond.store(part.beyond.load(Relaxed) + 1, Relaxed);
        return;
    };
    let place = (place as u64) << PLACE_SHIFT;
    frame.store(place | (kind as u64) << KIND_SHIFT | prior, Relaxed);
    part.depth.store(depth + 1, Relaxed);
}

/// The innermost thing of that kind ends, and whatever is within it: the thread is in the state it was in before.
pub(super) fn pop(lane: &Lane, kind: Kind, now: impl FnOnce() -> u64) {
    let part = &lane.openmp;
    let beyond = part.beyond.load(Relaxed);
    if beyond > 0 && kind != Kind::Region {
        part.beyond.store(beyond - 1, Relaxed);
        return;
    }
    let depth = part.depth.load(Relaxed);
    let found = (0..depth).rev().find(|at| {
        let frame = part.frames[*at as usize].load(Relaxed);
        frame >> KIND_SHIFT & 0xff == kind as u64
    });
    if let Some(at) = found {
        let prior = state_of(part.frames[at as usize].load(Relaxed));
        change(lane, prior, now);
        part.depth.store(at, Relaxed);
        part.beyond.store(0, Relaxed);
    }
}
