//! The marks of libraries that run tasks (`contech/tasks.rs`): which code is the library's own, and
//! where tasks are generated, begin, end and are waited for.

use std::cell::Cell;
use std::ptr::without_provenance_mut;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

use contech_runtime_core::library::Kept;
use contech_runtime_core::{Recorder, tls};
use contech_trace::event::SyncOp::{
    AtomicRmw, Sleep, TaskCreate, TaskJoin, TaskResume, TaskgroupBegin, TaskgroupEnd, ThreadCreate,
};
use contech_trace::event::{Arrival, Event, SyncOp, piece_after};

use crate::active::{Active, OWN_OBJECTS};
use crate::current::{self, guarded};
use crate::real::Ptr;
use crate::tls::block;

/// True once a library that runs tasks was called.
static CALLED: AtomicBool = AtomicBool::new(false);

/// Whether the program calls a library that runs tasks. Such a library wakes its threads through
/// descriptors, as often as chance wants.
pub(crate) fn is_called() -> bool {
    CALLED.load(Relaxed)
}

/// The calling thread, if it records, in its program or in a library.
fn recording() -> Option<Active> {
    if !CALLED.load(Relaxed) {
        CALLED.store(true, Relaxed);
    }
    let recorder = current::recorder_or_due()?;
    let tls = block();
    (recorder.is_recording() && !tls.is_quiet() && tls.takes_part())
        .then_some(Active { tls, recorder })
}

/// Marks the calling thread's thread-local variables: nothing orders the tasks that use them.
fn fresh_variables(a: Active) {
    // SAFETY: the call has no arguments.
    let this = usize::try_from(unsafe { libc::pthread_self() }).unwrap_or(0);
    // All of them lie below the thread's own block, and the program's right below it.
    let base = a.recorder.base(a.tls);
    let base = base.unwrap_or_else(|| this.saturating_sub(variables_of_program()));
    let (addr, size) = (base as u64, this.saturating_sub(base) as u64);
    a.recorder.put(a.tls, &Event::Fresh { addr, size });
}

/// Bytes of the program's thread-local variables in a thread.
fn variables_of_program() -> usize {
    static BYTES: AtomicUsize = AtomicUsize::new(usize::MAX);
    if BYTES.load(Relaxed) == usize::MAX {
        // SAFETY: the kernel says where the program's headers are, and how many; they stay as they
        // are.
        let headers = unsafe {
            let first = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
            let number = usize::try_from(libc::getauxval(libc::AT_PHNUM)).unwrap_or(0);
            if first.is_null() { &[] } else { std::slice::from_raw_parts(first, number) }
        };
        let block = headers.iter().find(|header| header.p_type == libc::PT_TLS);
        let bytes = block.map_or(0, |block| block.p_memsz.next_multiple_of(block.p_align.max(1)));
        BYTES.store(usize::try_from(bytes).unwrap_or(0), Relaxed);
    }
    BYTES.load(Relaxed)
}

/// Lets a thread that a library makes begin in that library.
pub(crate) fn begin_thread(recorder: &'static Recorder) {
    let here = 0u8;
    recorder.begin_in_library(block(), (&raw const here).addr());
}

/// Whether the calling thread is in a library.
pub(crate) fn is_inside() -> bool {
    block().role() == tls::LIBRARY
}

pub(crate) unsafe extern "C" fn enter(kept: *mut Kept) {
    let entered =
        recording().and_then(|a| guarded(|| a.recorder.enter_library(a.tls, kept.addr())));
    // SAFETY: the caller passes room for the result.
    unsafe { kept.write(entered.unwrap_or(Kept::NOTHING)) };
}

/// Leaves a library after a wait for the task, for the group that began (`task` is the greatest
/// number), or for nothing (`task` is 0).
pub(crate) unsafe extern "C" fn leave(kept: *const Kept, task: u64) {
    // SAFETY: the caller passes what `enter` wrote.
    let (here, kept) = (kept.addr(), unsafe { kept.read() });
    let Some(a) = recording().filter(|_| kept.counts()) else {
        return;
    };
    guarded(|| {
        let how = if task == 0 { Arrival::Resumes } else { Arrival::Waits };
        if a.recorder.leave_library(a.tls, &kept, how, here) {
            fresh_variables(a);
        }
        let (op, object) = match task {
            0 => return,
            u64::MAX => (TaskgroupEnd, 0),
            _ => (TaskJoin, usize::try_from(task).unwrap_or(0)),
        };
        let taken = a.since(kept.before);
        a.timed(op, without_provenance_mut(object), 0, kept.before, taken);
    });
}

fn create(op: SyncOp) -> u64 {
    let task = recording().and_then(|a| guarded(|| a.recorder.create_task(a.tls, op)));
    task.flatten().map_or(0, u64::from)
}

/// The calling thread's context generates a task, which `leave` or the end of a group waits for.
/// Returns the task; 0 if it is not known.
pub(crate) extern "C" fn create_task() -> u64 {
    create(TaskCreate)
}

/// Does what [`create_task`] does for a task that nothing waits for.
pub(crate) extern "C" fn create_detached() -> u64 {
    create(ThreadCreate)
}

pub(crate) unsafe extern "C" fn begin(task: u64, kept: *mut Kept) {
    let here = kept.addr();
    let begun = recording().and_then(|a| {
        guarded(|| {
            let task = u32::try_from(task).ok().filter(|task| *task > 0);
            let begun = a.recorder.begin_task(a.tls, task, here);
            fresh_variables(a);
            begun
        })
    });
    // SAFETY: the caller passes room for the result.
    unsafe { kept.write(begun.unwrap_or(Kept::NOTHING)) };
}

pub(crate) unsafe extern "C" fn end(kept: *const Kept) {
    // SAFETY: the caller passes what `begin` wrote.
    let (here, kept) = (kept.addr(), unsafe { kept.read() });
    if let Some(a) = recording().filter(|_| kept.counts()) {
        guarded(|| a.recorder.end_task(a.tls, &kept, here));
    }
}

/// A task that threads run in turns, of which the library keeps this for the recorder. But for
/// `woken`, only the thread that has the turn uses it.
#[repr(C)]
pub(crate) struct Turns {
    /// 0 if the task is not recorded as such, [`OWN`] for the context that is in the library
    /// between turns.
    context: u32,
    /// The piece of the context that ran last, from 1 on; 0 before the first.
    piece: Cell<u32>,
    kept: Cell<Kept>,
    /// Ticks when the last turn ended; 0 before.
    paused: Cell<u64>,
    /// Who made the task ready since then. Any thread writes this.
    woken: AtomicU32,
}

/// Not a task of the library's, but the context that runs the library.
const OWN: u32 = u32::MAX;
/// A context has woken the task.
const BY_CONTEXT: u32 = 1;
/// The task has only let others run.
const YIELDED: u32 = 2;
/// The memory order of a wake, in C's numbers (`memory_order_acq_rel`), and that of what it ends
/// (acquire).
const WAKES: u64 = 4;
const WOKEN: u64 = 2;

impl Turns {
    fn new(context: u32) -> Self {
        Self {
            context,
            piece: Cell::new(0),
            kept: Cell::new(Kept::NOTHING),
            paused: Cell::new(0),
            woken: AtomicU32::new(0),
        }
    }
}

/// The calling thread's context generates a task that threads run in turns. In a library this does
/// nothing.
pub(crate) unsafe extern "C" fn create_turns(turns: *mut Turns) {
    let task = recording()
        .filter(|_| !is_inside())
        .and_then(|a| guarded(|| a.recorder.create_task(a.tls, ThreadCreate)).flatten());
    // SAFETY: the caller passes room for the result.
    unsafe { turns.write(Turns::new(task.unwrap_or(0))) };
}

/// The context that calls a library to run tasks has turns, too. Between them it is in the library.
pub(crate) unsafe extern "C" fn own_turns(turns: *mut Turns) {
    // SAFETY: the caller passes room for the result.
    unsafe { turns.write(Turns::new(OWN)) };
}

/// Runs the task in the calling thread, in the stack frame at `here`. Turns with the same `serial`
/// come one after the other, unless that is 0.
pub(crate) unsafe extern "C" fn begin_turn(turns: *const Turns, serial: usize, here: usize) {
    // SAFETY: the caller passes what `create_turns` or `own_turns` wrote.
    let turns = unsafe { &*turns };
    let Some(a) = recording().filter(|_| turns.context > 0) else {
        return;
    };
    let woken = turns.woken.swap(0, Relaxed);
    guarded(|| {
        if turns.context == OWN {
            let kept = turns.kept.replace(Kept::NOTHING);
            if !kept.counts() {
                return;
            }
            if a.recorder.leave_library(a.tls, &kept, Arrival::Waits, here) {
                fresh_variables(a);
            }
            waited(a, turns, woken);
            return follow(a, serial);
        }
        let how = if turns.piece.get() == 0 { Arrival::Begins } else { Arrival::Waits };
        let piece = piece_after(turns.piece.get());
        let task = (turns.context, piece);
        let kept = a.recorder.run_task(a.tls, task, how, here);
        turns.kept.set(kept);
        if kept.counts() {
            turns.piece.set(piece);
            fresh_variables(a);
            waited(a, turns, woken);
            follow(a, serial);
        }
    });
}

/// What stands for something of a library's in the order of what happens to it. The program's own
/// variables may use the same memory before or after.
fn object(address: usize) -> Ptr {
    let number = address as u64 | OWN_OBJECTS;
    without_provenance_mut(usize::try_from(number).unwrap_or(address))
}

/// What the calling context does now comes after all that went before at the same `serial`, and
/// before all that comes.
fn follow(a: Active, serial: usize) {
    if serial > 0 {
        a.in_order(AtomicRmw, object(serial), WAKES, a.now(), 0);
    }
}

/// Orders the calling context with the turns that have the same `serial`.
pub(crate) extern "C" fn order(serial: usize) {
    if let Some(a) = recording().filter(|_| !is_inside()) {
        guarded(|| follow(a, serial));
    }
}

/// Records the wait between two turns. What no context has ended is a wait for time, or for input.
fn waited(a: Active, turns: &Turns, woken: u32) {
    let (object, before) = (object((&raw const *turns).addr()), turns.paused.get());
    if before == 0 {
        return;
    }
    let taken = a.since(before);
    if woken == 0 {
        return a.timed(Sleep, std::ptr::null_mut(), 0, before, taken);
    }
    if woken == YIELDED {
        // The task has woken itself.
        a.in_order(AtomicRmw, object, WAKES, before, 0);
    }
    a.in_order(TaskResume, object, WOKEN, before, taken);
}

/// Leaves the task, which is over if `ends` says so. The thread is in the stack frame at `here`.
pub(crate) unsafe extern "C" fn end_turn(
    turns: *const Turns,
    ends: bool,
    serial: usize,
    here: usize,
) {
    // SAFETY: the caller passes what `create_turns` or `own_turns` wrote.
    let turns = unsafe { &*turns };
    let Some(a) = recording().filter(|_| turns.context > 0) else {
        return;
    };
    let kept = turns.kept.replace(Kept::NOTHING);
    guarded(|| {
        if kept.counts() || turns.context == OWN {
            follow(a, serial);
        }
        if ends {
            return a.recorder.end_task(a.tls, &kept, here);
        }
        turns.paused.set(a.now());
        if turns.context == OWN {
            turns.kept.set(a.recorder.enter_library(a.tls, here));
        } else {
            a.recorder.leave_task(a.tls, &kept, here);
        }
    });
}

/// Makes the task ready to run, or says that it has only let others run.
pub(crate) unsafe extern "C" fn wake_turns(turns: *const Turns, yielded: bool) {
    // SAFETY: the caller passes what `create_turns` or `own_turns` wrote.
    let turns = unsafe { &*turns };
    let Some(a) = recording().filter(|_| turns.context > 0) else {
        return;
    };
    if yielded {
        turns.woken.fetch_or(YIELDED, Relaxed);
    } else if !is_inside() {
        let object = object((&raw const *turns).addr());
        guarded(|| a.in_order(AtomicRmw, object, WAKES, a.now(), 0));
        turns.woken.fetch_or(BY_CONTEXT, Relaxed);
    }
}

/// A group of tasks begins, which ends when the library is left.
pub(crate) extern "C" fn begin_group() {
    if let Some(a) = recording().filter(|_| !is_inside()) {
        guarded(|| a.instant(TaskgroupBegin, std::ptr::null_mut(), 0));
    }
}
