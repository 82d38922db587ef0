//! The log (`workspan::abi::Event`): where the owner's log is, and which part of it is new.
#![allow(
    unsafe_code,
    reason = "a place in the log is found by its distance from the thread's state"
)]

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicUsize, compiler_fence};

use contech_interpose::{arch, thread_block};
use workspan::abi::{EVENT_OPERATIONS, Event, FEW, State};

use crate::clock::READ_AFTER;

/// The number of operations that an event counts as.
const EACH: i64 = EVENT_OPERATIONS.cast_signed();
/// Room for the events between two readings, and for as many events of handlers that interrupted an
/// event.
const EVENTS: usize = 2 * UNTIL_DUE + FEW;
/// Events of the log that stay when one is taken back; the others are for handlers within handlers.
const ROOM: usize = EVENTS - FEW;
/// Each event counts as some operations, so there are fewer events than this before too little is
/// left and the log is read.
const UNTIL_DUE: usize = 257;
const _: () = assert!(READ_AFTER / EACH < UNTIL_DUE as i64);

thread_block! {
    /// Of each thread, for instrumented code.
    static contech_ws_state: State;
    /// The calling thread's state.
    pub(crate) fn state();
}

/// The events of the owner.
// SAFETY: an event is made of integers.
static EVENTS_OF_OWNER: [Event; EVENTS] = unsafe { std::mem::zeroed() };

/// How far the log was read: the first event that is not read yet, the end of the log at the last
/// reading, and what was left then.
static READ: Read =
    Read { first: AtomicUsize::new(0), end: AtomicUsize::new(0), left: AtomicI64::new(0) };

/// Only the owner's thread uses it, while the gate is closed.
#[derive(Debug)]
struct Read {
    first: AtomicUsize,
    end: AtomicUsize,
    left: AtomicI64,
}

/// The place where the owner's log begins, in the form of [`State::next`].
fn base(state: &State) -> usize {
    (&raw const EVENTS_OF_OWNER).addr().wrapping_sub((&raw const state.few).addr())
}

/// The part of the log that is new.
#[derive(Clone, Copy, Debug)]
pub(crate) struct New {
    pub events: &'static [Event],
    /// Operations executed since the last reading.
    pub operations: u64,
    /// What was left at the last reading, and how many of the events were in the log by then (one,
    /// if it was not whole).
    left: i64,
    before: i64,
    /// Number of events added to the log since the last reading.
    pub told: u64,
}

/// The progress of a reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Operations executed from the last reading until the last event.
    pub operations: u64,
    /// What would be left at the next event if nothing had been executed.
    left: i64,
}

impl New {
    /// Whether the first event was not whole at the last reading.
    #[inline(always)]
    pub(crate) fn has_begun(&self) -> bool {
        self.before > 0
    }

    /// The state of a reading at the beginning of the new part.
    pub(crate) fn reading(&self) -> Reading {
        Reading { operations: 0, left: self.left + (self.before - 1) * EACH }
    }
}

impl Reading {
    /// Operations executed until this event, which is the next one.
    #[inline(always)]
    #[allow(clippy::cast_sign_loss, reason = "not below what there was before")]
    pub(crate) fn of(&self, event: &Event) -> u64 {
        let passed = self.left - event.left.load(Relaxed);
        // The events of a handler and of the code that it interrupted may be out of order.
        passed.max(self.operations.cast_signed()) as u64
    }

    /// The progress after this event.
    #[inline(always)]
    pub(crate) fn after(&self, event: &Event) -> Self {
        Self { operations: self.of(event), left: self.left - EACH }
    }
}

/// Converts a number of events, which are few.
#[inline(always)]
fn count(events: usize) -> i64 {
    i64::try_from(events).unwrap_or(i64::MAX)
}

/// Makes the calling thread's log the owner's. The events that it has so far are the first new
/// ones.
pub(crate) fn begin(state: &State) {
    let told = (state.next.load(Relaxed) / size_of::<Event>()).min(FEW);
    for (from, to) in state.few.iter().zip(&EVENTS_OF_OWNER).take(told) {
        for (from, to) in [(&from.slot, &to.slot), (&from.from, &to.from)] {
            to.store(from.load(Relaxed), Relaxed);
        }
        for (from, to) in [(&from.own, &to.own), (&from.synced, &to.synced), (&from.what, &to.what)]
        {
            to.store(from.swap(0, Relaxed), Relaxed);
        }
        to.left.store(from.left.load(Relaxed), Relaxed);
    }
    let next = base(state).wrapping_add(told * size_of::<Event>());
    state.next.store(next, Relaxed);
    READ.first.store(0, Relaxed);
    READ.end.store(0, Relaxed);
    READ.left.store(0, Relaxed);
}

/// Takes the values out of the state, and gives it an empty log.
pub(crate) fn keep(state: &State) -> [u64; 4] {
    let kept = [
        state.left.swap(0, Relaxed).cast_unsigned(),
        state.foreign.swap(0, Relaxed),
        state.spawn.swap(0, Relaxed),
        state.next.swap(0, Relaxed) as u64,
    ];
    begin(state);
    kept
}

/// Puts the values back into the state; all events since [`keep`] have been read.
pub(crate) fn put_back(state: &State, kept: &[u64; 4]) {
    state.left.store(kept[0].cast_signed(), Relaxed);
    state.foreign.store(kept[1], Relaxed);
    state.spawn.store(kept[2], Relaxed);
    let next = usize::try_from(kept[3]).unwrap_or(0);
    state.next.store(next, Relaxed);
    state.least.store(0, Relaxed);
}

/// Finds what is new. The gate must be closed.
#[inline(always)]
pub(crate) fn new(state: &State) -> New {
    let end = state.next.load(Relaxed).wrapping_sub(base(state)) / size_of::<Event>();
    let (first, read) = (READ.first.load(Relaxed), READ.end.load(Relaxed));
    let events = EVENTS_OF_OWNER.get(first..end).unwrap_or_default();
    let left = READ.left.load(Relaxed);
    if first != read
        && let Some(event) = events.first()
    {
        // The event was begun before the last reading, so it counts as executed then.
        event.left.store(left, Relaxed);
    }
    let told = count(end.saturating_sub(read));
    let passed = left - state.left.load(Relaxed) - told * EACH;
    New {
        events,
        operations: u64::try_from(passed).unwrap_or(0),
        left,
        before: count(read - first),
        told: told.unsigned_abs(),
    }
}

/// Whether an event is not whole: a signal handler interrupted it. Until it is whole, every further
/// event makes the log be read, and so is left out.
#[inline(always)]
pub(crate) fn has_begun() -> bool {
    READ.first.load(Relaxed) != READ.end.load(Relaxed)
}

/// Notes that so many new events were read: all of them, or those before one that a handler
/// interrupted.
#[inline(always)]
pub(crate) fn read(state: &State, new: &New, events: usize) {
    let passed = (new.operations + new.told * EVENT_OPERATIONS).cast_signed();
    // What handlers executed meanwhile counts for the next reading.
    let since = new.left - passed - state.left.load(Relaxed);
    let (first, end) = if events == new.events.len() {
        (0, 0)
    } else {
        let at = READ.first.load(Relaxed) + events;
        (at, at + 1)
    };
    for event in new.events.iter().skip(events) {
        event.what.store(0, Relaxed);
    }
    READ.first.store(first, Relaxed);
    READ.end.store(end, Relaxed);
    let fresh = READ_AFTER.min(count((EVENTS - end) / 2) * EACH);
    READ.left.store(fresh, Relaxed);
    let next = base(state).wrapping_add(end * size_of::<Event>());
    state.next.store(next, Relaxed);
    state.left.store(fresh - since, Relaxed);
}

/// The event at a place, in the form of [`State::next`].
#[inline(always)]
fn event_at(state: &State, at: usize) -> &Event {
    let event = (&raw const state.few).wrapping_byte_add(at).cast();
    // SAFETY: the place is in the thread's log, by the contract of `State::next`.
    unsafe { &*event }
}

/// Removes the last event; its operations stay counted. While the log is not read, each handler
/// that jumps away may leave an event behind. Those beyond the room are removed, too, because the
/// next one would be written over others' memory.
pub(crate) fn take_back(state: &State) {
    let next = state.next.load(Relaxed) - size_of::<Event>();
    event_at(state, next).what.store(0, Relaxed);
    let used = next.wrapping_sub(base(state)).min(ROOM * size_of::<Event>());
    state.next.store(base(state).wrapping_add(used), Relaxed);
    state.left.store(state.left.load(Relaxed) + EACH, Relaxed);
}

/// Adds an event as instrumented code does.
#[inline(always)]
pub(crate) fn event(what: u64, slot: usize, from: usize, own: u64) -> bool {
    let state = state();
    let taken = own.wrapping_add(EVENT_OPERATIONS);
    arch::subtract_here(&state.left, taken.cast_signed());
    let at = arch::fetch_add_here(&state.next, size_of::<Event>());
    let event = event_at(state, at);
    event.slot.store(slot, Relaxed);
    event.own.store(own, Relaxed);
    event.from.store(from, Relaxed);
    let left = state.left.load(Relaxed);
    event.left.store(left, Relaxed);
    let spawn = state.spawn.load(Relaxed);
    state.spawn.store(0, Relaxed);
    compiler_fence(std::sync::atomic::Ordering::Release);
    event.what.store(what + spawn, Relaxed);
    left < state.least.load(Relaxed)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    static ONE: Mutex<()> = Mutex::new(());

    /// The log for one test at a time: it is reset, and this thread is its owner.
    pub(crate) fn log() -> (MutexGuard<'static, ()>, &'static State) {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let state = state();
        begin(state);
        (one, state)
    }

    /// Begins the next event, which is not whole until the returned function is called.
    pub(crate) fn begun(what: u64, slot: usize, own: u64) -> impl FnOnce() {
        let at = new(state()).events.len() + READ.first.load(Relaxed);
        event(what, slot, 0, own);
        let event = &EVENTS_OF_OWNER[at];
        let what = event.what.swap(0, Relaxed);
        move || event.what.store(what, Relaxed)
    }

    /// The result of a reading: the slots of the events that are whole with the operations until
    /// each, and the operations until now.
    fn readings(state: &State) -> (Vec<(usize, u64)>, u64) {
        let new = new(state);
        let mut reading = new.reading();
        let whole = new.events.iter().take_while(|e| e.what.load(Relaxed) != 0);
        let mut slots = Vec::new();
        for event in whole {
            reading = reading.after(event);
            slots.push((event.slot.load(Relaxed), reading.operations));
            event.what.store(0, Relaxed);
        }
        read(state, &new, slots.len());
        (slots, new.operations)
    }

    #[test]
    fn an_event_that_a_handler_interrupted_is_read_when_it_is_whole() {
        let (_one, state) = log();
        event(1, 10, 0, 3);
        event(1, 11, 0, 4);
        assert_eq!(readings(state), (vec![(10, 3), (11, 7)], 7));
        assert_eq!(readings(state), (vec![], 0));
        event(1, 12, 0, 5);
        // One event is not whole, and a handler's event after it reads the log.
        let whole = begun(1, 13, 6);
        event(1, 14, 0, 7);
        assert_eq!(readings(state), (vec![(12, 5)], 18));
        event(1, 15, 0, 8);
        assert_eq!(readings(state), (vec![], 8), "the handler's are dropped");
        whole();
        event(1, 16, 0, 9);
        // The event was begun before that reading, which has counted its operations.
        assert_eq!(readings(state), (vec![(13, 0), (16, 9)], 9));
        assert_eq!(state.next.load(Relaxed), base(state));
    }

    #[test]
    fn events_that_handlers_leave_behind_do_not_outgrow_the_room() {
        let (_one, state) = log();
        for _ in 0..2 * EVENTS {
            // The first event's handler jumps away; the second one finds the gate closed.
            event(1, 10, 0, 1);
            event(1, 11, 0, 1);
            take_back(state);
            let used = state.next.load(Relaxed).wrapping_sub(base(state)) / size_of::<Event>();
            assert!(used + 2 <= EVENTS, "{used}");
        }
    }
}
