//! Parallel regions, their implicit tasks, barriers and waits for tasks.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::in_front_of;
use contech_interpose::ompt::{
    self, BEGIN, Code, Data, END, Frame, REGION_REDUCTION, REGION_TASKGROUP, REGION_TASKWAIT,
    THREAD_INITIAL,
};
use contech_observation::{Model, State};

use super::frames::{self, Kind, pop, pop_wait, push, push_join};
use super::running;
use crate::lane::Lane;
use crate::phase::{self, Running};
use crate::real::Ptr;
use crate::tls;

/// `ompt_task_initial`.
const INITIAL: c_int = 1;
/// Bit of a region's word that is set if the region is within another one.
const INNER: u64 = 1 << 12;
/// Value of an implicit task's word.
pub(super) const IMPLICIT: u64 = 2;
/// `ompt_work_loop_dynamic`, `_guided`, `_other`.
const WORK_DYNAMIC: std::ops::RangeInclusive<c_int> = 11..=13;

/// The phase in a region's word, and whether the region is within another one.
///
/// # Safety
/// libomp passed the word, or it is null.
unsafe fn phase_of(parallel: Data) -> (Option<Running>, bool) {
    // SAFETY: the caller promises that the word is valid or null.
    let word = unsafe { ompt::read(parallel) };
    (Running::of(word & !INNER), word & INNER != 0)
}

fn set_region(lane: &Lane, region: Option<Running>) {
    lane.openmp.region.store(region.map_or(0, Running::word), Relaxed);
}

/// The phase of the outermost region that the lane's thread is in.
fn region(lane: &Lane) -> Option<Running> {
    Running::of(lane.openmp.region.load(Relaxed))
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
    let outer = region(lane);
    let inner = if outer.is_some() { INNER } else { 0 };
    if let Some(region) = outer.or_else(|| phase::begin(Model::OpenMp, place.addr())) {
        region.join(lane);
        set_region(lane, Some(region));
        // SAFETY: libomp passed its word for the new region.
        unsafe { ompt::write(parallel, region.word() | inner) };
    }
    push(lane, Kind::Region, place.addr(), State::Scheduling, || now);
}

pub(super) unsafe extern "C" fn parallel_end(parallel: Data, _: Data, _flags: c_int, _: Code) {
    let Some((lane, now)) = running() else { return };
    pop(lane, Kind::Region, || now);
    // SAFETY: libomp's word of the region.
    if let (Some(region), false) = unsafe { phase_of(parallel) } {
        set_region(lane, None);
        region.end(now, true);
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
    if let (Some(region), _) = unsafe { phase_of(parallel) } {
        set_region(lane, Some(region));
        region.join(lane);
    }
    push(lane, Kind::Implicit, 0, State::Running, || now);
}

pub(super) unsafe extern "C" fn sync_region(
    kind: c_int,
    endpoint: c_int,
    _: Data,
    _: Data,
    place: Code,
) {
    // At a taskgroup this event is the begin of the body.
    if matches!(kind, REGION_REDUCTION | REGION_TASKGROUP) {
        return;
    }
    let Some((lane, now)) = running() else { return };
    if endpoint == END {
        pop_wait(lane, now);
        return;
    }
    // Workers do not know where their region ends, so the place where it began is used.
    let region = || region(lane).map_or(0, Running::place);
    let place = if place.is_null() { region() } else { place.addr() };
    if kind == REGION_TASKWAIT {
        push_join(lane, place, now);
    } else {
        push(lane, Kind::Wait, place, State::Barrier, || now);
        lane.sites.add(place, State::Barrier, 1, 0);
    }
}

in_front_of! {
    __kmpc_end_taskgroup [after at thread] (at: Ptr, thread: c_int; caller) => |call| group(caller, call);
    GOMP_taskgroup_end [after] (; caller) => |call| group(caller, call);
}

/// Waits for the tasks of a group. libomp would tell that only with all barriers and waits for
/// tasks once more. The second function calls the first.
fn group(caller: usize, call: impl FnOnce()) {
    let Some((lane, now)) = running().filter(|(lane, _)| !frames::waits(lane)) else {
        return call();
    };
    push_join(lane, caller, now);
    call();
    if let Some((lane, now)) = running() {
        pop_wait(lane, now);
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
        && let Some(lane) = tls::lane()
    {
        lane.openmp.dynamic.store(true, Relaxed);
    }
}
