//! Memory that tasks use although nobody allocates it: libomp's descriptors of tasks, with their firstprivate
//! variables, which libomp hands from one task to the next, and the stacks of threads, on which tasks follow one
//! another. The trace marks where each use of such memory begins. Without these marks, tasks that nothing orders would
//! seem to share it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_trace::event::Event;

use super::abi::{Data, FRAME_APPLICATION, Frames, GetTaskInfo, Lookup};
use super::active;
use super::team::{WORKER, Worker};
use crate::active::Active;
use crate::current::guarded;
use crate::real::{self, Ptr};

/// Bytes of a thread's stack below a task that are marked as new. Every task may use at least this many (the default
/// stack of libomp's threads has 4 MiB).
const STACK: usize = 1 << 20;
/// A descriptor's first word is at most this far before the task's own memory.
const MOST_BEFORE: usize = 1024;

/// Bytes from a task's word to the memory that the program gets, once known. They are the same for all tasks.
static OFFSET: AtomicUsize = AtomicUsize::new(0);
/// Address of `ompt_get_task_info`; 0 if libomp has none.
static TASK_INFO: AtomicUsize = AtomicUsize::new(0);

type Alloc = unsafe extern "C-unwind" fn(Ptr, c_int, c_int, usize, usize, Ptr) -> Ptr;

/// Asks libomp for the function that this module needs.
///
/// # Safety
/// `lookup` is the function that libomp passed to the tool.
pub(super) unsafe fn initialize(lookup: Lookup) {
    // SAFETY: the function is libomp's own, and the name is a C string.
    if let Some(found) = unsafe { lookup(c"ompt_get_task_info".as_ptr()) } {
        TASK_INFO.store(found as usize, Relaxed);
    }
}

/// Stands in for `__kmpc_omp_task_alloc`, which gives the program a task to fill in.
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
    // SAFETY: the function of that name has this type.
    let alloc = unsafe { std::mem::transmute::<usize, Alloc>(found) };
    // SAFETY: the caller's arguments are passed on.
    let block = unsafe { alloc(location, thread, flags, task, shareds, entry) };
    // The addresses of the shared variables follow the task.
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

/// Marks the memory of a generated task. The task of a taskloop is a copy, which libomp made of the one that the
/// program filled in.
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

/// Marks the stack of an explicit task that begins in this thread. It lies below the function of libomp that calls the
/// task. If the task runs at once and the program itself calls it, it lies below what the program's function uses.
pub(super) fn task_begins(a: Active, worker: &Worker) {
    let found = TASK_INFO.load(Relaxed);
    if found == 0 {
        return;
    }
    // SAFETY: the function of that name has this type.
    let info = unsafe { std::mem::transmute::<usize, GetTaskInfo>(found) };
    let mut frames: *const Frames = std::ptr::null();
    let (null, word) = (std::ptr::null_mut(), std::ptr::null_mut::<Data>());
    // SAFETY: level 0 is the task that begins; libomp fills in what is not null.
    let known = unsafe { info(0, null, word, &raw mut frames, word, null) };
    if known != 2 {
        return;
    }
    // SAFETY: the pointer is null or points to libomp's record of a task that runs in this thread.
    let Some(frames) = (unsafe { frames.as_ref() }) else {
        return;
    };
    let top = if frames.exit_flags & FRAME_APPLICATION != 0 {
        worker.stack.get()
    } else {
        frames.exit
    };
    if top > STACK {
        fresh(a, top - STACK, STACK);
    }
}

fn fresh(a: Active, address: usize, size: usize) {
    let (addr, size) = (address as u64, size as u64);
    a.recorder.put(a.tls, &Event::Fresh { addr, size });
}
