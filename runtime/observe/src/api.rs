//! What a program tells the observer itself (`contech/observe.h`): idle and scheduling times of its
//! own runtime, phases, and the region of interest.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{
    AtomicPtr, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
};

use contech_observation::{Model, State};

use crate::phase::{self, Instance};
use crate::{clock, lanes, tls};

/// Begins and ends nest, and only the outermost ones count.
fn begin(state: State) {
    let Some(lane) = tls::lane() else { return };
    if lane.is_running() {
        lane.switch(state, clock::now());
    }
    lane.said.store(lane.said.load(Relaxed) + 1, Relaxed);
}

fn end(state: State) {
    let Some(lane) = tls::lane() else { return };
    let said = lane.said.load(Relaxed);
    lane.said.store(said.saturating_sub(1), Relaxed);
    if said == 1 && lane.state() == state as usize {
        lane.switch(State::Running, clock::now());
    }
}

pub(crate) extern "C" fn idle_begin() {
    begin(State::Idle);
}

pub(crate) extern "C" fn idle_end() {
    end(State::Idle);
}

pub(crate) extern "C" fn scheduling_begin() {
    begin(State::Scheduling);
}

pub(crate) extern "C" fn scheduling_end() {
    end(State::Scheduling);
}

/// The running marked phase; there is at most one at a time.
static MARKED: AtomicPtr<Instance> = AtomicPtr::new(std::ptr::null_mut());
static NESTED: AtomicU32 = AtomicU32::new(0);

/// Names of marked phases, distinguished by their text; a name is never removed.
static NAMES: [AtomicPtr<Name>; 256] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 256];

struct Name(String);

/// A number for a name; it is too small to be an address in the program.
fn number(name: &str) -> usize {
    let named = |index: usize| index + 1;
    for (index, slot) in NAMES.iter().enumerate() {
        // SAFETY: the pointer is null, or points to a name that was leaked.
        if let Some(known) = unsafe { slot.load(Acquire).as_ref() } {
            if known.0 == name {
                return named(index);
            }
            continue;
        }
        let new = Box::into_raw(Box::new(Name(name.to_owned())));
        let null = std::ptr::null_mut();
        if slot.compare_exchange(null, new, AcqRel, Acquire).is_ok() {
            return named(index);
        }
        // SAFETY: no other thread has seen the pointer.
        drop(unsafe { Box::from_raw(new) });
        return number(name);
    }
    0
}

/// The name of a marked phase's place.
pub(crate) fn name(place: usize) -> String {
    let slot = place.checked_sub(1).and_then(|index| NAMES.get(index));
    let pointer = slot.map_or(std::ptr::null_mut(), |slot| slot.load(Acquire));
    // SAFETY: the pointer is null, or points to a name that was leaked.
    unsafe { pointer.as_ref() }.map_or_else(String::new, |name| name.0.clone())
}

pub(crate) unsafe extern "C" fn phase_begin(name: *const c_char) {
    if tls::lane().is_none() || NESTED.fetch_add(1, AcqRel) > 0 {
        return;
    }
    let name = if name.is_null() {
        c""
    } else {
        // SAFETY: the caller passes a C string.
        unsafe { CStr::from_ptr(name) }
    };
    if let Some(instance) = phase::begin(Model::Marked, number(&name.to_string_lossy())) {
        for lane in lanes::all() {
            if lane.taken.load(Acquire) != 0 {
                instance.join(lane);
            }
        }
        MARKED.store(std::ptr::from_ref(instance).cast_mut(), Relaxed);
    }
}

pub(crate) extern "C" fn phase_end() {
    if tls::lane().is_none() || NESTED.fetch_sub(1, AcqRel) != 1 {
        return;
    }
    let marked = MARKED.swap(std::ptr::null_mut(), AcqRel);
    // SAFETY: the pointer is null, or points into the table of instances, which is static.
    if let Some(instance) = unsafe { marked.as_ref() } {
        instance.end(clock::now());
    }
}

/// The running marked phase, for a thread that begins within it.
pub(crate) fn marked() -> Option<&'static Instance> {
    // SAFETY: the pointer is null, or points into the table of instances, which is static.
    unsafe { MARKED.load(Acquire).as_ref() }
}

static REGIONS: AtomicU32 = AtomicU32::new(0);

pub(crate) extern "C" fn region_begin() {
    let first = tls::lane().is_some() && REGIONS.fetch_add(1, AcqRel) == 0;
    if first && clock::resume() {
        phase::forget();
    }
}

pub(crate) extern "C" fn region_end() {
    if tls::lane().is_some() && REGIONS.fetch_sub(1, AcqRel) == 1 {
        clock::pause();
    }
}
