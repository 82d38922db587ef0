//! Records parallel and teams regions and their implicit tasks.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::Ordering::Relaxed;

use contech_trace::event::SyncOp::{ParallelBegin, ParallelEnd};
use contech_trace::event::{Arrival, SyncOp, TEAM_STREAMS};

use super::abi::{self, BEGIN, Data, THREAD_INITIAL};
use super::enter;
use super::node::Task;
use super::team::{Region, Worker};
use super::word::Word;
use crate::active::{Active, object, recording_if};
use crate::current::guarded;

/// The region that a word belongs to.
///
/// # Safety
/// `parallel` is null or the word of a region that libomp passed.
pub(super) unsafe fn region(parallel: Data) -> *mut Region {
    // SAFETY: the caller vouches for the word.
    let address = unsafe { abi::read(parallel) };
    std::ptr::with_exposed_provenance_mut(usize::try_from(address).unwrap_or(0))
}

pub(super) unsafe extern "C" fn thread_begin(kind: c_int, _thread: Data) {
    // This comes before anything is recorded, which would give the thread a context.
    if let Some(a) = recording_if(|_| kind != THREAD_INITIAL) {
        guarded(|| a.recorder.join_team(a.tls));
    }
}

pub(super) fn parallel_begin(a: Active, worker: &Worker, encountering: Task, parallel: Data) {
    let (outer, team) = (worker.region.get(), worker.team.get());
    let region = Region::new(encountering.word(), outer, team, a.now());
    let address = Box::into_raw(Box::new(region)).expose_provenance();
    // SAFETY: libomp passed the word of the new region.
    unsafe { abi::write(parallel, address as u64) };
}

pub(super) fn implicit_task(
    a: Active,
    worker: &Worker,
    endpoint: c_int,
    parallel: Data,
    task: Task,
    (size, index): (c_uint, c_uint),
) {
    if endpoint != BEGIN {
        return end_implicit(a, worker, task);
    }
    // SAFETY: the word is of a region that began and has not ended; it is null for an initial task.
    match unsafe { region(parallel).as_ref() } {
        Some(region) => {
            let first = region.first_context(a, size);
            begin_implicit(a, worker, region, task, (first, size, index));
        }
        None => {
            if let Some(context) = a.recorder.current_context(a.tls) {
                task.write(Word::new(context, Word::STARTED));
            }
            worker.task.set(task);
        }
    }
}

fn begin_implicit(
    a: Active,
    worker: &Worker,
    region: &Region,
    task: Task,
    (first, size, index): (u32, u32, u32),
) {
    region.begun.fetch_add(1, Relaxed);
    let mut flags = Word::STARTED;
    if index == 0 {
        flags |= Word::PRIMARY;
        edge(a, ParallelBegin, region, (first, size));
        worker.region.set(std::ptr::from_ref(region).cast_mut());
    }
    let word = Word::new(first + index, flags);
    task.write(word);
    worker.task.set(task);
    worker.team.set((first, size));
    enter(a, word, Arrival::Begins);
}

/// Records that the region's primary begins or has ended.
fn edge(a: Active, op: SyncOp, region: &Region, (first, size): (u32, u32)) {
    let before = region.before.get();
    a.with_aux(op, object(first.into()), 0, size.into(), before, a.since(before));
}

/// Ends the implicit task for its thread: it arrives at the barrier that ends the region (other
/// threads are told of that end only when they are needed again), or the region has no barrier.
pub(super) fn end_implicit(a: Active, worker: &Worker, task: Task) {
    let word = task.word();
    let runs = a.recorder.current_context(a.tls) == Some(word.context());
    if !word.has(Word::VALID) || word.has(Word::ENDED) || !runs {
        return;
    }
    // SAFETY: a region lives until `parallel_end` in its primary thread, which is this one.
    let region = unsafe { worker.region.get().as_ref() };
    let back = match region {
        Some(region) if word.has(Word::PRIMARY) => region.encountering,
        _ if word.has(Word::PRIMARY) => return,
        _ => Word::new(u32::MAX, 0),
    };
    if is_own(a, word) {
        return;
    }
    a.recorder.end_entered(a.tls);
    task.write(back.with(Word::ENDED | Word::STARTED | Word::WAITS));
    if let Some(region) = region.filter(|_| word.has(Word::PRIMARY)) {
        region.before.set(a.now());
        enter(a, back, Arrival::Resumes);
    }
}

/// Whether the word is that of an initial task, whose context is that of the thread.
fn is_own(a: Active, word: Word) -> bool {
    a.recorder.own_context(a.tls).is_some_and(|own| own < TEAM_STREAMS && own == word.context())
}

pub(super) fn parallel_end(a: Active, worker: &Worker, parallel: Data, encountering: Task) {
    // SAFETY: the word is that of a region that began.
    let region = unsafe { region(parallel) };
    if region.is_null() {
        return;
    }
    // SAFETY: `parallel_begin` made the pointer from a box. The region is over, so nobody else
    // refers to it.
    let region = unsafe { Box::from_raw(region) };
    // SAFETY: libomp passed the word of the region.
    unsafe { abi::write(parallel, 0) };
    worker.task.set(encountering);
    worker.team.set(region.outer_team);
    if let Some((first, size)) = region.team() {
        worker.region.set(region.outer);
        // libomp announces a region right inside of a teams region twice. The first time only the
        // primary's task begins, which then meets the region.
        if region.begun.load(Relaxed) == 1 {
            for index in 1..size {
                enter(a, Word::new(first + index, Word::STARTED), Arrival::Begins);
                a.recorder.end_entered(a.tls);
                enter(a, region.encountering, Arrival::Resumes);
            }
        }
        edge(a, ParallelEnd, &region, (first, size));
    }
}
