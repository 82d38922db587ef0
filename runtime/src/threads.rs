//! Records how threads are created, joined and detached.

use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::mask::Blocked;
use contech_interpose::objects::file_at;
use contech_interpose::threads::{Threads, Wanted};
use contech_interpose::{memory, thread_functions};
use contech_runtime_core::host::Host;
use contech_runtime_core::thread::NO_CONTEXT;
use contech_runtime_core::{Recorder, Thread};
use contech_trace::event::Event;
use contech_trace::event::SyncOp::{ThreadCreate, ThreadJoin};

use crate::active::{Active, active, object};
use crate::current::{self, guarded};
use crate::library;
use crate::ompt;
use crate::real::{Ptr, real};
use crate::service::SERVICE;
use crate::tls::block;

/// The state for the thread about to be made. Every thread has one while something is recorded,
/// even if the program does not create it, so that its end is seen. It gets a context only if the
/// program creates it.
fn child(creator: Option<Active>, wanted: &Wanted) -> Option<&'static Thread> {
    let recorder = current::recorder()?;
    if !recorder.is_recording() {
        return None;
    }
    let tls = creator.map_or_else(block, |a| a.tls);
    if tls.is_quiet() {
        return None;
    }
    guarded(|| {
        // A handler that ran in the meantime would not be recorded.
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        recorder.expect_threads();
    });
    guarded(|| recorder.new_child(tls, creator.is_some(), wanted.body, wanted.argument.addr()))
        .flatten()
}

/// Makes the first thread known, which may be joined too if it left by `pthread_exit`.
pub(crate) fn announce_main(recorder: &Recorder) {
    if memory::thread_id() == memory::process_id() {
        // SAFETY: the call has no arguments.
        let this = unsafe { libc::pthread_self() };
        recorder.joins.insert(handle(this), 0);
    }
}

fn handle(thread: libc::pthread_t) -> usize {
    usize::try_from(thread).unwrap_or(0)
}

/// Marks the calling thread's stack and its thread-local variables as new. The C library gives the
/// memory of threads that have ended to later ones, which no event orders.
fn new_stack(recorder: &'static Recorder, this: usize, size: usize) {
    /// The C library's stacks end with a page.
    const PAGE: usize = 4096;
    // The description of the thread comes last, after its thread-local variables.
    let top = this.next_multiple_of(PAGE);
    if size > 0 && size < top {
        let (addr, size) = ((top - size) as u64, size as u64);
        recorder.put(block(), &Event::Fresh { addr, size });
    }
}

/// Notes that the calling thread ends by itself, or can be cancelled only at calls, so that no
/// record of it is missing.
fn leaving() {
    if let Some(recorder) = current::recorder() {
        recorder.set_unsafe_end(block(), false);
    }
}

/// Stands in for `pthread_setcanceltype`, with which the program says where the calling thread may
/// be cancelled.
pub(crate) unsafe extern "C-unwind" fn setcanceltype(kind: c_int, old: *mut c_int) -> c_int {
    const ASYNCHRONOUS: c_int = 1;
    // This comes before the call, because a cancellation may strike inside the call.
    if kind == ASYNCHRONOUS
        && let Some(recorder) = current::recorder()
    {
        recorder.set_unsafe_end(block(), true);
    }
    // SAFETY: the caller's arguments are passed on.
    let result = unsafe { (real().pthread_setcanceltype)(kind, old) };
    if result == 0 && kind != ASYNCHRONOUS {
        leaving();
    }
    result
}

/// Called before `pthread_exit`. Returns the function to call.
pub(crate) extern "C" fn before_pthread_exit() -> usize {
    leaving();
    real().pthread_exit as usize
}

/// Does what [`before_pthread_exit`] does, for `thrd_exit`.
pub(crate) extern "C" fn before_thrd_exit() -> usize {
    leaving();
    real().thrd_exit as usize
}

/// Records the program's threads.
pub(crate) struct Recorded;

impl Threads for Recorded {
    fn create(wanted: &Wanted, call: impl FnOnce(Option<Ptr>) -> c_int) -> c_int {
        let creator = active(wanted.caller);
        let library = if creator.is_none() { file_at(wanted.caller) } else { None };
        if let Some(name) = &library {
            ompt::thread_created_by(name);
        }
        wanted.argument.expose_provenance();
        let Some(child) = child(creator, wanted) else {
            return call(None);
        };
        child.set_inside(creator.is_none() && library::is_inside());
        if let (Some(name), Some(recorder)) = (&library, current::recorder()) {
            recorder.made_by(child, &String::from_utf8_lossy(name));
        }
        let context = child.context();
        let before = creator.map_or(0, Active::now);
        // The new thread inherits the mask, so that no handler runs in it before it has its state.
        // Nor may a handler run in this thread before the creation is recorded: the new thread's
        // work may come before what the handler does, but never before its creation.
        let blocked = Blocked::new();
        child.mask.store(blocked.before(), Relaxed);
        child.stack.store(wanted.stack, Relaxed);
        let result = call(Some(std::ptr::from_ref(child).cast_mut().cast()));
        if result != 0 {
            if let Some(recorder) = current::recorder() {
                recorder.drop_child(child);
            }
            return result;
        }
        // From here on the state belongs to the new thread, which may have ended already.
        if let Some(a) = creator
            && context != NO_CONTEXT
        {
            if wanted.joinable {
                // SAFETY: creation succeeded, so the handle is there.
                a.recorder.joins.insert(unsafe { wanted.handle.read() }, context);
            }
            a.timed(ThreadCreate, object(context.into()), 0, before, a.since(before));
        }
        result
    }

    fn begin(child: Ptr) -> (usize, Ptr) {
        // SAFETY: the creator passed a state that lives for ever, for this thread alone.
        let child: &'static Thread = unsafe { &*child.cast::<Thread>() };
        let (body, argument) = child.start();
        if let Some(recorder) = current::recorder() {
            guarded(|| {
                SERVICE.watch_thread_end();
                recorder.adopt(block(), child);
                if child.is_inside() {
                    library::begin_thread(recorder);
                } else if child.context() != NO_CONTEXT {
                    // SAFETY: the call has no arguments.
                    let this = unsafe { libc::pthread_self() };
                    recorder.joins.insert(handle(this), child.context());
                    new_stack(recorder, handle(this), child.stack.load(Relaxed));
                }
            });
        }
        Blocked::restore(child.mask.load(Relaxed));
        (body, std::ptr::with_exposed_provenance_mut(argument))
    }

    fn returned() {
        leaving();
    }

    /// The context is looked up first, because after the join the system may use the handle for
    /// another thread.
    fn join(handle: usize, caller: usize, call: impl FnOnce() -> c_int) -> c_int {
        let Some(a) = active(caller) else {
            return call();
        };
        let context = a.recorder.joins.get(handle);
        let before = a.now();
        let result = call();
        if result == 0
            && let Some(context) = context
        {
            let taken = a.since(before);
            a.recorder.joins.remove(handle, context);
            a.timed(ThreadJoin, object(context.into()), 0, before, taken);
        }
        result
    }

    fn detach(handle: usize, call: impl FnOnce() -> c_int) -> c_int {
        let known = current::recorder().and_then(|r| Some((r, r.joins.get(handle)?)));
        let result = call();
        if result == 0
            && let Some((recorder, context)) = known
        {
            recorder.joins.remove(handle, context);
        }
        result
    }
}

thread_functions!(Recorded, real);
