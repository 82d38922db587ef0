//! Reads the log, and gives each event its time.
#![allow(unsafe_code, reason = "the log has addresses of variables")]

use std::sync::atomic::Ordering::Relaxed;

use workspan::Kind;
use workspan::abi::{self, Event, Function};

use super::{Arrival, Profile};
use crate::clock::{Foreign, Passed};
use crate::log::{New, Reading};

impl Profile {
    /// Reads what is new in the log. `by` is the slot of the caller of code that counts no
    /// operations, since the last reading. If no event made the log be read (`by_event`), what was
    /// done since the last one is the innermost invocation's. Returns how many events were whole,
    /// and the time.
    pub(crate) fn read(&mut self, new: &New, by: u64, by_event: bool) -> (usize, u64) {
        let told_last = new.events.last().filter(|_| by_event);
        let slot = told_last.map(|event| event.slot.load(Relaxed));
        let foreign = match by {
            0 => Foreign::None,
            by if slot == Some(usize::try_from(by).unwrap_or(0)) => Foreign::Own,
            _ => Foreign::Before,
        };
        self.clock.read(Passed { operations: new.operations, events: new.told, foreign });
        let split = match foreign {
            Foreign::None => new.events.len(),
            _ => new.events.len() - usize::from(told_last.is_some()),
        };
        let mut reading = new.reading();
        let mut read = self.given_up(new);
        if read > 0 {
            reading = reading.after(&new.events[0]);
        }
        for event in &new.events[read..] {
            if read == split {
                // The time of the foreign code is this event's own, or lies before it.
                self.clock.ends(reading.of(event), foreign);
            }
            let Some(after) = self.take(event, reading) else { break };
            reading = after;
            read += 1;
        }
        (read, self.clock.done())
    }

    /// Returns one if the first event, which a handler interrupted, will never be whole. The
    /// handler then jumped, because an invocation that was there before goes on or returns.
    #[inline(always)]
    fn given_up(&mut self, new: &New) -> usize {
        if new.has_begun() && self.has_jumped(new) {
            self.jumped += 1;
            return 1;
        }
        0
    }

    #[cold]
    #[inline(never)]
    fn has_jumped(&self, new: &New) -> bool {
        let [begun, .., last] = new.events else {
            return false;
        };
        let slot = self.slot(last.slot.load(Relaxed));
        begun.what.load(Relaxed) == 0 && slot < self.stack.size && slot >= self.shadow.top().slot
    }

    /// Takes an event; `None` if it is not whole.
    #[inline(always)]
    fn take(&mut self, event: &Event, before: Reading) -> Option<Reading> {
        let what = event.what.load(Relaxed);
        let reading = before.after(event);
        let passed = reading.operations - before.operations;
        let now = self.clock.time_of(reading.operations);
        let slot = event.slot.load(Relaxed);
        // The events of a handler may lie between the event's own operations and the event.
        let own = || event.own.load(Relaxed).min(passed);
        event.what.store(0, Relaxed);
        match what & abi::KIND {
            abi::LEAF => self.returns_as_leaf(event, what, now, own()),
            abi::DONE => match event.synced.load(Relaxed) {
                0 => self.returns_as_leaf(event, what, now, own()),
                // The invocation did not sync, so all its own operations lie before.
                1 => self.returns(slot, now, 0),
                synced => self.returns(slot, now, own().saturating_sub(synced - 2)),
            },
            abi::ENTER => self.enters(event, what, now, own()),
            abi::LEAVE => self.returns(slot, now, 0),
            abi::SYNC => self.sync(Some(slot), now),
            _ => return None,
        }
        Some(reading)
    }

    // Each kind of event has a function of its own, which has all registers to itself.

    #[inline(never)]
    fn enters(&mut self, event: &Event, what: u64, now: u64, own: u64) {
        let at = self.arrival(what, event);
        let began = now - self.clock.of_own(own);
        if !self.enter_at_once(at, began) && !self.enter(at, began) {
            self.is_none(at);
        }
    }

    #[inline(never)]
    fn returns(&mut self, slot: usize, now: u64, after: u64) {
        let after = self.clock.of(after);
        if !self.leave_at_once(slot, now, after) {
            self.leave(slot, now, after);
        }
    }

    #[inline(never)]
    fn returns_as_leaf(&mut self, event: &Event, what: u64, now: u64, own: u64) {
        let own = self.clock.of_own(own);
        let at = self.arrival(what, event);
        if !self.leaf_at_once(at, now, own) && !self.leaf(at, now, own) {
            self.is_none(at);
        }
    }

    /// The invocation that an event reports.
    #[inline(always)]
    fn arrival<'f>(&mut self, what: u64, event: &Event) -> Arrival<'f> {
        let kind = match what & abi::SPAWN | self.spawn {
            0 => Kind::Call,
            _ => Kind::Spawn,
        };
        self.spawn = 0;
        Arrival {
            // SAFETY: by the contract, `what` without its flags is the address of the function's
            // variable.
            function: unsafe { function(what) },
            slot: event.slot.load(Relaxed),
            from: event.from.load(Relaxed),
            kind,
        }
    }

    /// Leaves the invocation out. If it was marked as a spawn, the next one is the spawn.
    #[cold]
    #[inline(never)]
    fn is_none(&mut self, at: Arrival<'_>) {
        self.spawn = if at.kind == Kind::Call { 0 } else { abi::SPAWN };
    }
}

/// The variable whose address an event holds.
///
/// # Safety
/// The event holds the address of a variable.
#[inline(always)]
unsafe fn function<'f>(what: u64) -> &'f Function {
    let address = usize::try_from(what & !abi::FLAGS).unwrap_or(0);
    // SAFETY: this function's contract; variables live as long as their code, and only the owner's
    // thread gets here.
    unsafe { &*std::ptr::with_exposed_provenance(address) }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::clock::Cost;
    use crate::log::{self, event, tests::begun};
    use crate::profile::Bounds;
    use workspan::file::Metric;

    /// A profile, and a function as events report it.
    fn profile() -> (Profile, u64) {
        let stack = Bounds { low: 0, size: 4096 };
        let function = Box::leak(Box::new(Function { code: 1, number: Cell::new(0) }));
        let function = std::ptr::from_ref(function).expose_provenance() as u64;
        (Profile::new(Metric::Ops, Cost::default(), stack), function)
    }

    #[test]
    fn an_event_that_is_never_whole_is_given_up_when_its_caller_returns() {
        let (_one, state) = log::tests::log();
        let (mut profile, function) = profile();
        let mut read = || {
            let new = log::new(state);
            let (read, now) = profile.read(&new, 0, false);
            log::read(state, &new, read);
            (profile.running(), profile.jumped, now)
        };
        event(function + abi::ENTER, 3000, 7, 1);
        event(function + abi::ENTER, 2000, 8, 1);
        // A handler comes in the middle of the next event, causes a reading of the log, and jumps
        // back to the second function.
        let _never = begun(function + abi::LEAF, 1000, 1);
        event(function + abi::ENTER, 900, 9, 1);
        assert_eq!(read(), (2, 0, 4));
        event(function + abi::LEAF, 1000, 8, 1);
        assert_eq!(read(), (2, 0, 5), "this might be the handler's");
        event(abi::LEAVE, 2000, 0, 1);
        assert_eq!(read(), (1, 1, 6));
        event(function + abi::LEAF, 2000, 7, 1);
        event(abi::LEAVE, 3000, 0, 1);
        assert_eq!(read(), (0, 1, 8));
    }

    #[test]
    fn what_was_executed_since_the_last_event_is_not_the_invocations_that_ended_with_it() {
        let (_one, state) = log::tests::log();
        let (mut profile, function) = profile();
        event(function + abi::ENTER, 3000, 7, 1);
        event(function + abi::ENTER, 2000, 8, 2);
        event(abi::LEAVE, 2000, 0, 3);
        // The outer one executes four operations and calls what counts none, which makes the log be
        // read.
        state.left.store(state.left.load(Relaxed) - 4, Relaxed);
        let new = log::new(state);
        let (read, now) = profile.read(&new, 3000, false);
        log::read(state, &new, read);
        profile.shadow.advance_to(now);
        event(abi::LEAVE, 3000, 0, 1);
        let new = log::new(state);
        profile.read(&new, 0, true);
        let own = |site| profile.shadow.on_work(site).local.work;
        assert_eq!((own(1), own(2)), (1 + 4 + 1, 5));
    }
}
