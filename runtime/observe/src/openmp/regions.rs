//! Parallel regions, their implicit tasks, barriers and waits for tasks.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::ompt::{
    self, BEGIN, Code, Data, END, Frame, REGION_REDUCTION, REGION_TASKGROUP, REGION_TASKWAIT,
    THREAD_INITIAL, ask, event,
};
use contech_observation::{Model, State};

use super::frames::{self, Kind, pop, pop_wait, push, push_join, set_region};
use super::late::Late;
use super::running;
use crate::phase::{self, Instance};

/// `ompt_task_initial`.
const INITIAL: c_int = 1;
/// Bit of a region's word that is set if the region is within another one.
const INNER: u64 = 1;
/// Value of an implicit task's word.
pub(super) const IMPLICIT: u64 = 2;
/// `ompt_work_loop_dynamic`, `_guided`, `_other`.
const WORK_DYNAMIC: std::ops::RangeInclusive<c_int> = 11..=13;

/// The callback of waits for task groups.
pub(super) static GROUPS: Late = Late::new(|set| {
    ask(set, &[event::SYNC_REGION_WAIT.to(sync_region_wait)], |_, _| ());
});

/// The phase in a region's word, and whether the region is within another one.
///
/// # Safety
/// libomp passed the word, or it is null.
unsafe fn instance(parallel: Data) -> (Option<&'static Instance>, bool) {
    // SAFETY: the caller promises that the word is valid or null.
    let word = unsafe { ompt::read(parallel) };
    let address = usize::try_from(word & !INNER).unwrap_or(0);
    let pointer = std::ptr::with_exposed_provenance::<Instance>(address);
    // SAFETY: the pointer is null, or points into the table of instances, which is static.
    (unsafe { pointer.as_ref() }, word & INNER != 0)
}

pub(super) unsafe extern "C" fn thread_begin(kind: c_int, _: Data) {
    if kind != THREAD_INITIAL
        && let Some((lane, now)) = running()
    {
        lane.switch(State::Idle, now);
    }
}

pub(super) unsafe extern "C" fn parallel_begin(
    _: Data,
    _: Frame,
    parallel: Data,
    _requested: c_uint,
    _flags: c_int,
    place: Code,
) {
    let Some((lane, now)) = running() else { return };
    let outer = frames::region(lane);
    let mut inner = INNER;
    let region = outer.or_else(|| {
        inner = 0;
        let begun = phase::begin(Model::OpenMp, place.addr())?;
        begun.join(lane);
        set_region(lane, Some(begun));
        Some(begun)
    });
    if let Some(region) = region {
        let address = std::ptr::from_ref(region).expose_provenance() as u64;
        // SAFETY: libomp passed its word for the new region.
        unsafe { ompt::write(parallel, address | inner) };
    }
    push(lane, Kind::Region, place.addr(), State::Scheduling, || now);
}

pub(super) unsafe extern "C" fn parallel_end(parallel: Data, _: Data, _flags: c_int, _: Code) {
    let Some((lane, now)) = running() else { return };
    pop(lane, Kind::Region, || now);
    // SAFETY: libomp's word of the region.
    if let (Some(region), false) = unsafe { instance(parallel) } {
        set_region(lane, None);
        region.release(lane, now);
        region.end(now);
    }
}

pub(super) unsafe extern "C" fn implicit_task(
    endpoint: c_int,
    parallel: Data,
    task: Data,
    _size: c_uint,
    _index: c_uint,
    flags: c_int,
) {
    if endpoint == BEGIN {
        // SAFETY: libomp passed its word of the task.
        unsafe { ompt::write(task, IMPLICIT) };
    }
    if flags & INITIAL != 0 {
        return;
    }
    let Some((lane, now)) = running() else { return };
    if endpoint != BEGIN {
        pop(lane, Kind::Implicit, || now);
        return;
    }
    // SAFETY: libomp's word of the region.
    if let (Some(region), _) = unsafe { instance(parallel) } {
        set_region(lane, Some(region));
        region.join(lane);
    }
    push(lane, Kind::Implicit, 0, State::Running, || now);
}

/// At a taskgroup this event is the begin of the body; [`sync_region_wait`] sees the wait.
pub(super) unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _: Data,
    _: Data,
    place: Code,
) {
    match kind {
        REGION_REDUCTION => {}
        REGION_TASKGROUP => GROUPS.want(),
        _ => waits(kind, endpoint, place.addr()),
    }
}

pub(super) unsafe extern "C" fn sync_region_wait(
    kind: c_int,
    endpoint: c_int,
    _: Data,
    _: Data,
    place: Code,
) {
    if kind == REGION_TASKGROUP {
        waits(kind, endpoint, place.addr());
    }
}

fn waits(kind: c_int, endpoint: c_int, place: usize) {
    let Some((lane, now)) = running() else { return };
    if endpoint == END {
        pop_wait(lane, now);
        return;
    }
    let state = if matches!(kind, REGION_TASKWAIT | REGION_TASKGROUP) {
        State::Join
    } else {
        State::Barrier
    };
    // Workers do not know where their region ends, so the place where it began is used.
    let region = || frames::region(lane).map_or(0, Instance::place);
    let place = if place == 0 { region() } else { place };
    if state == State::Join {
        push_join(lane, place, now);
    } else {
        push(lane, Kind::Wait, place, state, || now);
        lane.sites.add(place, state, 0);
    }
}

pub(super) unsafe extern "C" fn work(
    kind: c_int,
    endpoint: c_int,
    _: Data,
    _: Data,
    _: u64,
    _: Code,
) {
    if endpoint == BEGIN
        && WORK_DYNAMIC.contains(&kind)
        && let Some(region) = crate::tls::lane().and_then(frames::region)
        && !region.sums.dynamic.load(Relaxed)
    {
        region.sums.dynamic.store(true, Relaxed);
    }
}
