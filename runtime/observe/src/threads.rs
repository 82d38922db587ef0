//! Observes how threads are created, joined and detached, and finds the phases of threads.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::atomic::Ordering::Relaxed;

use contech_interpose::life::{is_at_home, watch_this_thread};
use contech_interpose::lock::{Mutex, lock};
use contech_interpose::thread_functions;
use contech_interpose::threads::{Threads, Wanted};
use contech_observation::{Model, State};

use crate::lane::Lane;
use crate::phase::{self, Running};
use crate::real::{Ptr, real};
use crate::waits::wait;
use crate::{Observed, clock, lanes, places, tls};

/// The threads of the program that were created and not joined yet, and the phase that they are.
struct Fork {
    handles: BTreeSet<usize>,
    phase: Option<Running>,
}

/// The lock is held while a thread is created, so that no other thread joins or detaches it before
/// it is known.
static FORK: Mutex<Fork> = Mutex::new(Fork { handles: BTreeSet::new(), phase: None });

/// Removes a thread that was joined or will not be joined. The last one ends the phase.
fn gone(handle: usize, joined: bool) {
    // In a copy of the process the lock may be held for ever, by a thread that was creating another
    // one.
    if !is_at_home() {
        return;
    }
    let mut fork = lock(&FORK);
    if fork.handles.remove(&handle)
        && fork.handles.is_empty()
        && let Some(phase) = fork.phase.take()
    {
        phase.end(clock::now(), joined);
    }
}

/// Ends the lane of a thread, however the thread ends.
pub(crate) fn end(lane: &'static Lane) {
    tls::set_lane(None);
    lane.end();
    phase::thread_ends(lane, clock::now());
    lanes::give_back(lane);
}

impl Threads for Observed {
    fn create(wanted: &Wanted, call: impl FnOnce(Option<Ptr>) -> c_int) -> c_int {
        let Some(creator) = tls::lane().filter(|_| is_at_home()) else {
            return call(None);
        };
        let entered = creator.enter(State::Scheduling);
        let counted = wanted.joinable && !places::is_openmp(wanted.caller);
        let mut fork = counted.then(|| lock(&FORK));
        if let Some(fork) = &mut fork
            && fork.handles.is_empty()
        {
            fork.phase = phase::begin(Model::Threads, places::of_program(wanted.caller));
            fork.phase.inspect(|phase| phase.join(creator));
        }
        let lane = lanes::take();
        if let Some(lane) = lane {
            lane.body.store(wanted.body, Relaxed);
            lane.argument.store(wanted.argument.expose_provenance(), Relaxed);
            if let Some(phase) = fork.as_ref().and_then(|fork| fork.phase) {
                phase.join(lane);
            }
        }
        let result = call(lane.map(|lane| std::ptr::from_ref(lane).cast_mut().cast()));
        if result != 0
            && let Some(lane) = lane
        {
            phase::thread_ends(lane, clock::now());
            lanes::give_back(lane);
        }
        if let Some(mut fork) = fork {
            if result == 0 {
                // SAFETY: the creation succeeded, so the handle is set.
                fork.handles.insert(unsafe { wanted.handle.read() });
            } else if fork.handles.is_empty()
                && let Some(phase) = fork.phase.take()
            {
                phase.end(clock::now(), false);
            }
        }
        if entered.is_some() {
            creator.switch(State::Running, clock::now());
        }
        result
    }

    fn begin(lane: Ptr) -> (usize, Ptr) {
        // SAFETY: the creator passed a lane that it took for this thread.
        let lane: &'static Lane = unsafe { &*lane.cast::<Lane>() };
        let body = lane.body.load(Relaxed);
        let argument = lane.argument.load(Relaxed);
        tls::set_lane(Some(lane));
        watch_this_thread();
        lane.begin();
        phase::thread_begins(lane);
        (body, std::ptr::with_exposed_provenance_mut(argument))
    }

    fn join(handle: usize, caller: usize, call: impl FnOnce() -> c_int) -> c_int {
        let result = wait(State::Join, caller, call);
        if result == 0 {
            gone(handle, true);
        }
        result
    }

    fn detach(handle: usize, call: impl FnOnce() -> c_int) -> c_int {
        gone(handle, false);
        call()
    }
}

thread_functions!(Observed, real);
