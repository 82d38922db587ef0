//! Memory that tasks use and nobody allocates: libomp's descriptors of tasks, with their firstprivate variables, which it
//! hands from one task to the next, and the stacks of threads, on which tasks follow one another. Without a mark of where
//! a life of it ends, tasks that nothing orders would seem to share it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_trace::event::Event;

use super::abi::{Data, Frames, GetTaskInfo, Lookup};
use super::active;
use super::team::{WORKER, Worker};
use crate::active::Active;
use crate::current::guarded;
use crate::real::{self, Ptr};

/// Bytes of a thread's stack below a task that are marked as new: what a task may use at the least (the default of
/// libomp's threads is 4 MiB).
const STACK: usize = 1 << 20;
/// A descriptor's first word is at most this far before the task's own memory.
const MOST_BEFORE: usize = 1024;

/// Bytes from a task's word to the memory that the program gets, once known; the same for all tasks.
static OFFSET: AtomicUsize = AtomicUsize::new(0);
/// `ompt_get_task_info`.
static TASK_INFO: AtomicUsize = AtomicUsize::new(0);

type Alloc = unsafe extern "C-unwind" fn(Ptr, c_int, c_int, usize, usize, Ptr) -> Ptr;

/// Asks libomp for what is needed here.
///
/// # Safety
/// `lookup` is what libomp passed to the tool.
pub(super) unsafe fn initialize(lookup: Lookup) {
    // SAFETY: libomp's own function, with a C string.
    if let Some(found) = unsafe { lookup(c"ompt_get_task_info".as_ptr()) } {
        TASK_INFO.store(found as usize, Relaxed);
    }
}

/// `__kmpc_omp_task_alloc`: the program is about to fill in a task.
pub(crate) unsafe extern "C-unwind" fn task_alloc(
    location: Ptr,
    thread: c_int,
    flags: c_int,
    task: usize,
    shareds: usize,
    entry: Ptr,
) -> Ptr {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    let mut found = REAL.load(Relaxed);
    if found == 0 {
        found = real::next(c"__kmpc_omp_task_alloc").addr();
        REAL.store(found, Relaxed);
    }
    // SAFETY: that name has this type.
    let alloc = unsafe { std::mem::transmute::<usize, Alloc>(found) };
    // SAFETY: the caller's arguments, passed on.
    let block = unsafe { alloc(location, thread, flags, task, shareds, entry) };
    // The shared variables' addresses follow the task.
    let size = task.next_multiple_of(8).saturating_add(shareds);
    if !block.is_null()
        && let Some(a) = active()
    {
        guarded(|| {
            a.recorder.make_room(a.tls);
            fresh(a, block.addr(), size);
            WORKER.with(|worker| worker.descriptor.set((block.addr(), size)));
        });
    }
    block
}

/// A task was generated. That of a taskloop is a copy, made by libomp, of the one the program filled in.
pub(super) fn generated(a: Active, worker: &Worker, task: Data) {
    let (last, size) = worker.descriptor.get();
    let before = last.wrapping_sub(task.addr());
    if (1..MOST_BEFORE).contains(&before) {
        OFFSET.store(before, Relaxed);
        return;
    }
    let offset = OFFSET.load(Relaxed);
    if offset > 0 && size > 0 {
        fresh(a, task.addr() + offset, size);
    }
}

/// An explicit task begins on the stack of this thread: below the function of libomp that calls it, or below the
/// program's where it runs at once.
pub(super) fn task_begins(a: Active) {
    let found = TASK_INFO.load(Relaxed);
    if found == 0 {
        return;
    }
    // SAFETY: that name has this type.
    let info = unsafe { std::mem::transmute::<usize, GetTaskInfo>(found) };
    let mut frames: *const Frames = std::ptr::null();
    let (null, word) = (std::ptr::null_mut(), std::ptr::null_mut::<Data>());
    // SAFETY: level 0 is the task that begins; libomp fills in what is not null.
    let known = unsafe { info(0, null, word, &raw mut frames, word, null) };
    if known != 2 {
        return;
    }
    // SAFETY: libomp's own record of a task that runs in this thread, or null.
    let exit = unsafe { frames.as_ref() }.map_or(0, |frames| frames.exit);
    if exit > STACK {
        fresh(a, exit - STACK, STACK);
    }
}

fn fresh(a: Active, address: usize, size: usize) {
    let (addr, size) = (address as u64, size as u64);
    a.recorder.put(a.tls, &Event::Fresh { addr, size });
}
