//! What a program tells the observer itself (`contech/observe.h`): idle and scheduling times of its
//! own runtime, phases, and the region of interest.

use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicU32, Ordering::AcqRel, Ordering::Relaxed};

use contech_interpose::exports;
use contech_observation::State;

use crate::{clock, phase, tls};

exports!(@ __contech_idle_begin [] begin::<IDLE>);
exports!(@ __contech_idle_end [] end::<IDLE>);
exports!(@ __contech_scheduling_begin [] begin::<SCHEDULING>);
exports!(@ __contech_scheduling_end [] end::<SCHEDULING>);
exports! {
    __contech_phase_begin = phase_begin;
    __contech_phase_end = phase_end;
    __contech_region_begin = region_begin;
    __contech_region_end = region_end;
}

const IDLE: usize = State::Idle as usize;
const SCHEDULING: usize = State::Scheduling as usize;

/// Begins and ends nest, and only the outermost ones count.
extern "C" fn begin<const STATE: usize>() {
    let Some(lane) = tls::lane() else { return };
    if lane.is_running() {
        lane.switch(State::ALL[STATE], clock::now());
    }
    lane.said.store(lane.said.load(Relaxed) + 1, Relaxed);
}

extern "C" fn end<const STATE: usize>() {
    let Some(lane) = tls::lane() else { return };
    let said = lane.said.load(Relaxed);
    lane.said.store(said.saturating_sub(1), Relaxed);
    if said == 1 && lane.state() == STATE {
        lane.switch(State::Running, clock::now());
    }
}

static NESTED: AtomicU32 = AtomicU32::new(0);

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
    phase::mark(&name.to_string_lossy());
}

extern "C" fn phase_end() {
    if tls::lane().is_some() && NESTED.fetch_sub(1, AcqRel) == 1 {
        phase::unmark(clock::now());
    }
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
