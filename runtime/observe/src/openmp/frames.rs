//! Each thread's stack of regions, waits and tasks, which nest; the end of one returns the thread
//! to its earlier state.

use std::sync::atomic::Ordering::Relaxed;

use contech_observation::State;

use super::costs::READING;
use crate::lane::Lane;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// From `parallel_begin` to `parallel_end`.
    Region,
    Implicit,
    Wait,
    Task,
}

const PLACE_SHIFT: u32 = 16;
const KIND_SHIFT: u32 = 8;

fn state_of(number: u64) -> State {
    let index = usize::try_from(number & 0xff).unwrap_or(0);
    *State::ALL.get(index).unwrap_or(&State::Running)
}

/// If a wait is shorter than this, in ticks, there was nothing to wait for.
const FREE: u64 = 1000;
/// If a task begins within these ticks after the thread was free, the task was already there. Then
/// the time that passed is the time to take the task from the thread's own queue or from another's,
/// which is work of the runtime.
const FOUND: u64 = 10_000;

fn place_of(frame: u64) -> usize {
    usize::try_from(frame >> PLACE_SHIFT).unwrap_or(0)
}

/// Counts the wait that began in the topmost frame as a wait, if that is not done yet.
fn settle(lane: &Lane) {
    let since = lane.openmp.pending.load(Relaxed);
    if since != 0 {
        lane.openmp.pending.store(0, Relaxed);
        lane.switch(State::Join, since);
        let place = lane.openmp.top().map_or(0, place_of);
        lane.sites.add(place, State::Join, 1, 0);
    }
}

/// Whether the thread is in a wait, and in no task within it.
pub(super) fn waits(lane: &Lane) -> bool {
    lane.openmp.top().is_some_and(|top| top >> KIND_SHIFT & 0xff == Kind::Wait as u64)
}

/// Begins a wait for tasks.
pub(super) fn push_join(lane: &Lane, place: usize, now: u64) {
    if lane.is_running() && lane.openmp.pending.load(Relaxed) == 0 {
        push(lane, Kind::Wait, place, State::Running, || now);
        lane.openmp.pending.store(now, Relaxed);
    } else {
        push(lane, Kind::Wait, place, State::Join, || now);
        lane.sites.add(place, State::Join, 1, 0);
    }
}

/// Ends a wait.
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
    // There was nothing to wait for, but to find that out is work of the runtime.
    lane.reassign(State::Scheduling, passed.saturating_sub(READING), now);
}

/// Changes the state if it is another one. The time that was waited belongs to the place of the
/// topmost frame.
fn change(lane: &Lane, to: State, now: impl FnOnce() -> u64) {
    settle(lane);
    let state = lane.state();
    if state == to as usize {
        return;
    }
    let now = now();
    if let Some(top) = lane.openmp.top()
        && waits(lane)
        && (state == State::Barrier as usize || state == State::Join as usize)
    {
        let (since, idle_from) = (lane.since(), lane.idle_from.load(Relaxed));
        let end = if idle_from == 0 { now } else { idle_from };
        lane.sites.add(place_of(top), State::ALL[state], 0, end.saturating_sub(since));
    }
    lane.switch(to, now);
}

/// Begins a task, perhaps within a wait.
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

/// Begins something of the given kind, in which the thread is in `state`.
pub(super) fn push(lane: &Lane, kind: Kind, place: usize, state: State, now: impl FnOnce() -> u64) {
    settle(lane);
    let prior = lane.state();
    change(lane, state, now);
    frame(lane, kind, place, prior);
}

/// Adds a frame; at its end the thread returns to state `prior`.
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

/// Ends the innermost frame of that kind and all frames within it. The thread returns to the state
/// it was in before.
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
    use contech_observation::Model;

    use super::*;

    /// A lane in which a thread began at that time.
    fn lane() -> (&'static Lane, u64) {
        let lane = Lane::new().expect("memory");
        lane.begin();
        (lane, lane.since())
    }

    /// A task from one time to another.
    fn task(lane: &Lane, from: u64, to: u64) {
        push_task(lane, || from);
        pop(lane, Kind::Task, || to);
    }

    fn ticks(lane: &Lane, now: u64) -> [u64; 3] {
        let (times, _) = lane.since_joined(Model::OpenMp, now);
        [State::Running, State::Scheduling, State::Join].map(|state| times.of(state))
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
        assert_eq!(ticks(lane, zero + 20_500), [running, 300 + 400, FOUND + 500]);
        // The wait is counted once.
        let joins = lane.sites.all().filter(|site| site.1 == State::Join as usize);
        let joins: Vec<_> = joins.map(|(place, _, count, ticks)| (place, count, ticks)).collect();
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
    fn waits_with_nothing_to_wait_for_are_scheduling() {
        let (lane, zero) = lane();
        for wait in 0..32 {
            push_join(lane, 7, zero + wait * 100);
            pop_wait(lane, zero + wait * 100 + READING + 3);
        }
        let now = lane.since();
        assert_eq!(ticks(lane, now), [now - zero - 3 * 32, 3 * 32, 0]);
        // The thread cannot have scheduled for longer than it ran.
        lane.reassign(State::Scheduling, now, now);
        assert_eq!(ticks(lane, now), [0, now - zero, 0]);
    }
}
