//! Creating, joining and detaching threads.

use std::ffi::c_int;

use contech_runtime_core::host::Host;
use contech_runtime_core::mask::Blocked;
use contech_runtime_core::thread::NO_CONTEXT;
use contech_runtime_core::{Recorder, Thread, memory};
use contech_trace::event::SyncOp::{ThreadCreate, ThreadJoin};

use crate::active::{Active, active};
use crate::ompt;
use crate::real::{Body, Body11, Ptr, Time, real};
use crate::service::SERVICE;
use crate::start::{self, guarded};
use crate::tls::block;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: Ptr, state: *mut c_int) -> c_int;
}

/// A context as the object of an event.
fn object(context: u32) -> Ptr {
    std::ptr::without_provenance_mut(context as usize)
}

/// State for the thread about to be made: every thread has one while something is recorded, whoever
/// creates it, so that its end is seen; a context only if the creator is the program.
fn child(creator: Option<Active>, body: usize, argument: Ptr) -> Option<&'static Thread> {
    let recorder = start::recorder()?;
    if !recorder.is_recording() {
        return None;
    }
    let tls = creator.map_or_else(block, |a| a.tls);
    if tls.is_quiet() {
        return None;
    }
    guarded(|| recorder.new_child(tls, creator.is_some(), body, argument.addr())).flatten()
}

/// First act of the new thread; what it is to run, and with what.
fn begin(child: Ptr) -> (usize, Ptr) {
    // SAFETY: the creator passed a state that lives for ever, for this thread alone.
    let child: &'static Thread = unsafe { &*child.cast::<Thread>() };
    let (body, argument) = child.start();
    if let Some(recorder) = start::recorder() {
        guarded(|| {
            SERVICE.watch_thread_end();
            recorder.adopt(block(), child);
            if child.context() != NO_CONTEXT {
                // SAFETY: no arguments.
                let this = unsafe { libc::pthread_self() };
                recorder.joins.insert(handle(this), child.context());
            }
        });
    }
    Blocked::restore(child.mask());
    (body, std::ptr::with_exposed_provenance_mut(argument))
}

/// The first thread may be joined, too, when it left by `pthread_exit`.
pub(crate) fn announce_main(recorder: &Recorder) {
    if memory::thread_id() == memory::process_id() {
        // SAFETY: no arguments.
        let this = unsafe { libc::pthread_self() };
        recorder.joins.insert(handle(this), 0);
    }
}

fn handle(thread: libc::pthread_t) -> usize {
    usize::try_from(thread).unwrap_or(0)
}

/// The calling thread ends by itself, or can be cancelled only at calls: no record of it is missing.
fn leaving() {
    if let Some(recorder) = start::recorder() {
        recorder.set_unsafe_end(block(), false);
    }
}

/// The program says where the calling thread may be cancelled.
pub(crate) unsafe extern "C-unwind" fn setcanceltype(kind: c_int, old: *mut c_int) -> c_int {
    const ASYNCHRONOUS: c_int = 1;
    // Before, as a cancellation may strike inside.
    if kind == ASYNCHRONOUS
        && let Some(recorder) = start::recorder()
    {
        recorder.set_unsafe_end(block(), true);
    }
    // SAFETY: the caller's arguments, passed on.
    let result = unsafe { (real().pthread_setcanceltype)(kind, old) };
    if result == 0 && kind != ASYNCHRONOUS {
        leaving();
    }
    result
}

/// Before `pthread_exit`; the function to call.
pub(crate) extern "C" fn before_pthread_exit() -> usize {
    leaving();
    real().pthread_exit as usize
}

/// As [`before_pthread_exit`].
pub(crate) extern "C" fn before_thrd_exit() -> usize {
    leaving();
    real().thrd_exit as usize
}

unsafe extern "C-unwind" fn run(child: Ptr) -> Ptr {
    let (body, argument) = begin(child);
    // SAFETY: the creator was given this function as the thread's body.
    let body = unsafe { std::mem::transmute::<usize, Body>(body) };
    // SAFETY: called once with its argument, as the creator asked.
    let result = unsafe { body(argument) };
    leaving();
    result
}

unsafe extern "C-unwind" fn run11(child: Ptr) -> c_int {
    let (body, argument) = begin(child);
    // SAFETY: as in `run`.
    let body = unsafe { std::mem::transmute::<usize, Body11>(body) };
    // SAFETY: as in `run`.
    let result = unsafe { body(argument) };
    leaving();
    result
}

/// Creates a thread by `call`, which gets the state for the new thread if it is to have one.
fn create(
    thread: *mut usize,
    body: usize,
    argument: Ptr,
    caller: usize,
    joinable: bool,
    call: impl FnOnce(Option<Ptr>) -> c_int,
) -> c_int {
    let creator = active(caller);
    let library = if creator.is_none() {
        ompt::object_of(caller)
    } else {
        None
    };
    if let Some(name) = &library {
        ompt::thread_created_by(name);
    }
    argument.expose_provenance();
    let Some(child) = child(creator, body, argument) else {
        return call(None);
    };
    if let (Some(name), Some(recorder)) = (&library, start::recorder()) {
        recorder.made_by(child, name);
    }
    let context = child.context();
    let before = creator.map_or(0, Active::now);
    // The new thread inherits the mask: no handler may run in it before it has its state. Nor in this one before the
    // creation is recorded: the new thread's work may come before what the handler does, but never before its creation.
    let blocked = Blocked::new();
    child.set_mask(blocked.before());
    let result = call(Some(std::ptr::from_ref(child).cast_mut().cast()));
    if result != 0 {
        if let Some(recorder) = start::recorder() {
            recorder.drop_child(child);
        }
        return result;
    }
    // From here on the state belongs to the new thread, which may have ended already.
    if let Some(a) = creator
        && context != NO_CONTEXT
    {
        if joinable {
            // SAFETY: creation succeeded, so the handle is there.
            a.recorder.joins.insert(unsafe { thread.read() }, context);
        }
        let taken = a.since(before);
        a.timed(ThreadCreate, object(context), 0, before, taken);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_create(
    thread: *mut usize,
    attributes: Ptr,
    body: Body,
    argument: Ptr,
    caller: usize,
) -> c_int {
    let mut detached = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: the caller's attributes.
        unsafe { pthread_attr_getdetachstate(attributes, &raw mut detached) };
    }
    let joinable = detached == libc::PTHREAD_CREATE_JOINABLE;
    create(thread, body as usize, argument, caller, joinable, |child| {
        let (body, argument) = child.map_or((body, argument), |child| (run as Body, child));
        // SAFETY: the caller's arguments, or the stand-in with the state it expects.
        unsafe { (real().pthread_create)(thread, attributes, body, argument) }
    })
}

pub(crate) unsafe extern "C-unwind" fn thrd_create(
    thread: *mut usize,
    body: Body11,
    argument: Ptr,
    caller: usize,
) -> c_int {
    create(thread, body as usize, argument, caller, true, |child| {
        let (body, argument) = child.map_or((body, argument), |child| (run11 as Body11, child));
        // SAFETY: as in `pthread_create`.
        unsafe { (real().thrd_create)(thread, body, argument) }
    })
}

/// Joins by `call`. The context is looked up first: after the join the system may use the handle for
/// another thread.
fn join(thread: usize, caller: usize, call: impl FnOnce() -> c_int) -> c_int {
    let Some(a) = active(caller) else {
        return call();
    };
    let context = a.recorder.joins.get(thread);
    let before = a.now();
    let result = call();
    if result == 0
        && let Some(context) = context
    {
        let taken = a.since(before);
        a.recorder.joins.remove(thread, context);
        a.timed(ThreadJoin, object(context), 0, before, taken);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_join(
    thread: usize,
    value: *mut Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    join(thread, caller, || unsafe {
        (real().pthread_join)(thread, value)
    })
}

pub(crate) unsafe extern "C-unwind" fn tryjoin(
    thread: usize,
    value: *mut Ptr,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    join(thread, caller, || unsafe {
        (real().pthread_tryjoin_np)(thread, value)
    })
}

pub(crate) unsafe extern "C-unwind" fn timedjoin(
    thread: usize,
    value: *mut Ptr,
    until: Time,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    join(thread, caller, || unsafe {
        (real().pthread_timedjoin_np)(thread, value, until)
    })
}

pub(crate) unsafe extern "C-unwind" fn clockjoin(
    thread: usize,
    value: *mut Ptr,
    clock: c_int,
    until: Time,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    join(thread, caller, || unsafe {
        (real().pthread_clockjoin_np)(thread, value, clock, until)
    })
}

pub(crate) unsafe extern "C-unwind" fn thrd_join(
    thread: usize,
    value: *mut c_int,
    caller: usize,
) -> c_int {
    // SAFETY: as above.
    join(thread, caller, || unsafe {
        (real().thrd_join)(thread, value)
    })
}

fn detach(thread: usize, call: impl FnOnce() -> c_int) -> c_int {
    let known = start::recorder().and_then(|r| Some((r, r.joins.get(thread)?)));
    let result = call();
    if result == 0
        && let Some((recorder, context)) = known
    {
        recorder.joins.remove(thread, context);
    }
    result
}

pub(crate) unsafe extern "C-unwind" fn pthread_detach(thread: usize) -> c_int {
    // SAFETY: as above.
    detach(thread, || unsafe { (real().pthread_detach)(thread) })
}

pub(crate) unsafe extern "C-unwind" fn thrd_detach(thread: usize) -> c_int {
    // SAFETY: as above.
    detach(thread, || unsafe { (real().thrd_detach)(thread) })
}
