//! What a program tells the observer itself (`contech/observe.h`): idle and scheduling times of its
//! own runtime, phases, and the region of interest.

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicPtr, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
};

use contech_interpose::exports;
use contech_observation::{Model, State};

use crate::phase::{self, Instance};
use crate::{clock, lanes, tls};

exports! {
    __contech_idle_begin = idle_begin;
    __contech_idle_end = idle_end;
    __contech_scheduling_begin = scheduling_begin;
    __contech_scheduling_end = scheduling_end;
    __contech_phase_begin = phase_begin;
    __contech_phase_end = phase_end;
    __contech_region_begin = region_begin;
    __contech_region_end = region_end;
}

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

extern "C" fn idle_begin() {
    begin(State::Idle);
}

extern "C" fn idle_end() {
    end(State::Idle);
}

extern "C" fn scheduling_begin() {
    begin(State::Scheduling);
}

extern "C" fn scheduling_end() {
    end(State::Scheduling);
}

/// The running marked phase; there is at most one at a time.
static MARKED: AtomicPtr<Instance> = AtomicPtr::new(std::ptr::null_mut());
static NESTED: AtomicU32 = AtomicU32::new(0);

/// Names of marked phases; a name is never removed.
static NAMES: [OnceLock<String>; 256] = [const { OnceLock::new() }; 256];

/// A number for a name, too small to be an address in the program; 0 if there are too many names.
fn number(name: &str) -> usize {
    let found = NAMES.iter().position(|known| known.get_or_init(|| name.to_owned()) == name);
    found.map_or(0, |index| index + 1)
}

/// The name of a marked phase's place.
pub(crate) fn name(place: usize) -> String {
    let name = place.checked_sub(1).and_then(|index| NAMES.get(index)?.get());
    name.cloned().unwrap_or_default()
}

unsafe extern "C" fn phase_begin(name: *const c_char) {
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

extern "C" fn phase_end() {
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

extern "C" fn region_begin() {
    let first = tls::lane().is_some() && REGIONS.fetch_add(1, AcqRel) == 0;
    if first && clock::resume() {
        phase::forget();
    }
}

extern "C" fn region_end() {
    if tls::lane().is_some() && REGIONS.fetch_sub(1, AcqRel) == 1 {
        clock::pause();
    }
}
