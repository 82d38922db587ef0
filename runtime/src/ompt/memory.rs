//! Memory that tasks use although nobody allocates it: libomp's descriptors of tasks, with their
//! firstprivate variables, which libomp hands from one task to the next, and the stacks of threads,
//! on which tasks follow one another. The trace marks where each use of such memory begins. Without
//! these marks, tasks that nothing orders would seem to share it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use contech_interpose::in_front_of;
use contech_trace::event::Event;

use super::abi::{Data, FRAME_APPLICATION, Frames, GetTaskInfo, Lookup};
use super::callback;
use super::node::Task;
use super::team::Worker;
use crate::active::Active;
use crate::real::Ptr;

/// Bytes of a thread's stack below a task that are marked as new. Every task may use at least this
/// many (the default stack of libomp's threads has 4 MiB).
const STACK: usize = 1 << 20;
/// A descriptor's first word is at most this far before the task's own memory.
const MOST_BEFORE: usize = 1024;

/// Bytes from a task's word to the memory that the program gets, once known. They are the same for
/// all tasks.
static OFFSET: AtomicUsize = AtomicUsize::new(0);
/// Address of `ompt_get_task_info`; 0 if libomp has none.
static TASK_INFO: AtomicUsize = AtomicUsize::new(0);

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

in_front_of! {
    // Gives the program a task to fill in.
    __kmpc_omp_task_alloc(at: Ptr, thread: c_int, flags: c_int, task: usize, shareds: usize, entry: Ptr) -> Ptr => |call| {
        let block = call();
        // The addresses of the shared variables follow the task.
        let size = task.next_multiple_of(8).saturating_add(shareds);
        gives(block, size, |worker| worker.descriptor.set((block.addr(), size)));
        block
    };
}

/// Marks memory that libomp gives to the program.
fn gives(block: Ptr, size: usize, then: impl FnOnce(&Worker)) {
    if !block.is_null() {
        callback(|a, worker| {
            fresh(a, block.addr(), size);
            then(worker);
        });
    }
}

/// Marks the memory of a generated task. The task of a taskloop is a copy, which libomp made of the
/// one that the program filled in.
pub(super) fn generated(a: Active, worker: &Worker, task: Task) {
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

/// Marks the stack of an explicit task, or of a part of an untied one, that begins in this thread.
/// It lies below the function of libomp that calls the task. If the task runs at once and the
/// program itself calls it, it lies below what the program's function uses.
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
    let top =
        if frames.exit_flags & FRAME_APPLICATION != 0 { worker.stack.get() } else { frames.exit };
    if top > STACK {
        fresh(a, top - STACK, STACK);
    }
}

/// What the compiler says of a reduction of tasks (`kmp_taskred_input_t`).
#[repr(C)]
struct Reduced {
    variable: usize,
    original: usize,
    size: usize,
    rest: [usize; 4],
}

/// The variables that tasks reduce, with their sizes. A variable that another one replaces has no
/// marks.
static REDUCED: [(AtomicUsize, AtomicUsize); 64] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; 64];

fn reduced(variable: usize) -> &'static (AtomicUsize, AtomicUsize) {
    &REDUCED[(variable / 8) % REDUCED.len()]
}

/// Called before `__kmpc_taskred_init`, with which a taskgroup says what its tasks reduce.
unsafe fn keep_reduced(count: c_int, list: *const Reduced) {
    // SAFETY: the caller passes what the program gives to libomp: a list of that length.
    let list = unsafe { std::slice::from_raw_parts(list, usize::try_from(count).unwrap_or(0)) };
    for item in list {
        let (variable, size) = reduced(item.variable);
        variable.store(item.variable, Relaxed);
        size.store(item.size, Relaxed);
    }
}

in_front_of! {
    __kmpc_taskred_init(thread: c_int, count: c_int, list: *const Reduced) -> Ptr => |call| {
        // SAFETY: the program's list has that length.
        unsafe { keep_reduced(count, list) };
        call()
    };
    __kmpc_taskred_modifier_init(at: Ptr, thread: c_int, shares: c_int, count: c_int, list: *const Reduced) -> Ptr => |call| {
        // SAFETY: the program's list has that length.
        unsafe { keep_reduced(count, list) };
        call()
    };
    // Gives a task the partial result of the thread that it runs in. Tasks that run in the thread
    // one after the other have the same, and nothing orders them.
    __kmpc_task_reduction_get_th_data(thread: c_int, group: Ptr, item: Ptr) -> Ptr => |call| {
        let data = call();
        let (variable, size) = reduced(item.addr());
        if variable.load(Relaxed) == item.addr() {
            gives(data, size.load(Relaxed), |_| ());
        }
        data
    };
}

fn fresh(a: Active, address: usize, size: usize) {
    let (addr, size) = (address as u64, size as u64);
    a.recorder.put(a.tls, &Event::Fresh { addr, size });
}
