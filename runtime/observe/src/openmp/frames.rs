//! What a thread comes back to: regions, barriers and tasks nest.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::Relaxed};

use contech_observation::State;

use super::costs::READING;
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
    /// Waits that had nothing to wait for since some were last counted, and what they took.
    asks: AtomicU64,
    asking: AtomicU64,
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
        self.asks.store(0, Relaxed);
        self.asking.store(0, Relaxed);
        self.set_region(None);
    }
}

/// Shorter than this, in ticks, there was nothing to wait for.
pub(super) const FREE: u64 = 1000;
/// So many of those are counted at once.
const ASKS: u64 = 32;
/// A task that begins this soon, in ticks, after the thread was free for it was there to be found: what passed is taking it,
/// from the thread's own queue or another's, which is work of the runtime.
const FOUND: u64 = 10_000;

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
    let part = &lane.openmp;
    let since = part.pending.load(Relaxed);
    let passed = now.saturating_sub(since);
    if since == 0 || passed >= FREE {
        pop(lane, Kind::Wait, || now);
        return;
    }
    part.pending.store(0, Relaxed);
    pop(lane, Kind::Wait, || now);
    // No wait: but asking whether there is something to wait for is the runtime's work, counted a few dozen at a time.
    let count = part.asks.load(Relaxed) + 1;
    let ticks = part.asking.load(Relaxed) + passed.saturating_sub(READING);
    let full = count >= ASKS;
    part.asks.store(if full { 0 } else { count }, Relaxed);
    part.asking.store(if full { 0 } else { ticks }, Relaxed);
    if full {
        lane.reassign(State::Scheduling, ticks, 0, now);
    }
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

/// A task begins, perhaps within a wait.
#[inline]
pub(super) fn push_task(lane: &Lane, now: impl FnOnce() -> u64) {
    settle(lane);
    let state = lane.state();
    if state == State::Running as usize {
        return frame(lane, Kind::Task, 0, state);
    }
    let now = now();
    let waits = state == State::Barrier as usize || state == State::Join as usize;
    let found = now.saturating_sub(lane.since()) < FOUND;
    if waits && found && lane.idle_from.load(Relaxed) == 0 {
        lane.switch_from(State::Scheduling as usize, State::Running, now);
    } else {
        change(lane, State::Running, || now);
    }
    frame(lane, Kind::Task, 0, state);
}

/// Something begins; the thread is in `state`.
pub(super) fn push(lane: &Lane, kind: Kind, place: usize, state: State, now: impl FnOnce() -> u64) {
    settle(lane);
    let prior = lane.state();
    change(lane, state, now);
    frame(lane, kind, place, prior);
}

/// The thread will come back to state `prior`.
#[inline]
fn frame(lane: &Lane, kind: Kind, place: usize, prior: usize) {
    let part = &lane.openmp;
    let depth = part.depth.load(Relaxed);
    let Some(frame) = part.frames.get(depth as usize) else {
        part.beyond.store(part.beyond.load(Relaxed) + 1, Relaxed);
        return;
    };
    let place = (place as u64) << PLACE_SHIFT;
    frame.store(place | (kind as u64) << KIND_SHIFT | prior as u64, Relaxed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes;

    /// A lane in which a thread began at that time.
    fn lane() -> (&'static Lane, u64) {
        let lane = lanes::single();
        lane.begin(1);
        (lane, lane.since())
    }

    /// A task from one time to another.
    fn task(lane: &Lane, from: u64, to: u64) {
        push_task(lane, || from);
        pop(lane, Kind::Task, || to);
    }

    fn ticks(lane: &Lane, now: u64) -> [u64; 3] {
        let times = lane.times(now);
        [State::Running, State::Scheduling, State::Join].map(|state| times[state as usize])
    }

    #[test]
    fn taking_a_task_that_is_there_is_scheduling_and_waiting_for_one_is_a_wait() {
        let (lane, zero) = lane();
        push_join(lane, 7, zero);
        task(lane, zero + 300, zero + 5_300);
        task(lane, zero + 5_700, zero + 6_700);
        task(lane, zero + 6_700 + FOUND, zero + 20_000);
        pop_wait(lane, zero + 20_500);
        let running = 5_000 + 1_000 + (13_300 - FOUND);
        assert_eq!(
            ticks(lane, zero + 20_500),
            [running, 300 + 400, FOUND + 500]
        );
        // The wait is counted once.
        let joins = lane
            .sites
            .all()
            .filter(|site| site.1 == State::Join as usize);
        let joins: Vec<_> = joins
            .map(|(place, _, count, ticks)| (place, count, ticks))
            .collect();
        assert_eq!(joins, [(7, 1, FOUND + 500)]);
    }

    #[test]
    fn a_task_within_a_task_within_a_wait_comes_back_to_each() {
        let (lane, zero) = lane();
        push_join(lane, 7, zero);
        push_task(lane, || zero + 100);
        push_join(lane, 8, zero + 200);
        task(lane, zero + 250, zero + 1_250);
        pop_wait(lane, zero + 3_250);
        pop(lane, Kind::Task, || zero + 4_250);
        pop_wait(lane, zero + 5_250);
        assert_eq!(
            ticks(lane, zero + 6_250),
            [100 + 1_000 + 1_000 + 1_000, 100 + 50, 2_000 + 1_000]
        );
    }

    #[test]
    fn waits_with_nothing_to_wait_for_are_scheduling_when_there_were_some() {
        let (lane, zero) = lane();
        for wait in 0..ASKS {
            push_join(lane, 7, zero + wait * 10);
            pop_wait(lane, zero + wait * 10 + READING + 3);
        }
        let now = lane.since();
        let [running, scheduling, join] = ticks(lane, now);
        assert!(scheduling <= 3 * ASKS && join == 0, "{scheduling} {join}");
        assert_eq!(running + scheduling, now - zero);
        // Not more than the thread ran.
        assert!(scheduling == 3 * ASKS || running == 0, "{running}");
    }
}
