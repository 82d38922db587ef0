//! Observes how threads are created, joined and detached, and finds the phases of threads.

use std::ffi::c_int;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

use contech_interpose::life::{is_at_home, watch_this_thread};
use contech_interpose::memory;
use contech_interpose::thread_functions;
use contech_interpose::threads::{Threads, Wanted};
use contech_observation::{Model, State};

use crate::lane::Lane;
use crate::phase::{self, Instance};
use crate::real::{Ptr, real};
use crate::waits::wait;
use crate::{api, clock, lanes, places, tls};

/// The largest number of threads of the program that wait to be joined.
const HANDLES: usize = 4096;

struct Fork {
    locked: AtomicBool,
    handles: [AtomicU64; HANDLES],
    live: AtomicU32,
    instance: std::sync::atomic::AtomicPtr<Instance>,
}

static FORK: Fork = Fork {
    locked: AtomicBool::new(false),
    handles: [const { AtomicU64::new(0) }; HANDLES],
    live: AtomicU32::new(0),
    instance: std::sync::atomic::AtomicPtr::new(std::ptr::null_mut()),
};

impl Fork {
    /// The lock is held while a thread is created, so that no other thread joins or detaches it
    /// before it is known.
    fn lock(&self) {
        while self.locked.swap(true, Acquire) {
            std::thread::yield_now();
        }
    }

    fn unlock(&self) {
        self.locked.store(false, Release);
    }

    fn instance(&self) -> Option<&'static Instance> {
        // SAFETY: the pointer is null, or points into the table of instances, which is static.
        unsafe { self.instance.load(Relaxed).as_ref() }
    }

    fn set(&self, instance: Option<&'static Instance>) {
        let pointer = instance.map_or(std::ptr::null_mut(), |i| std::ptr::from_ref(i).cast_mut());
        self.instance.store(pointer, Relaxed);
    }

    fn slots(handle: usize) -> impl Iterator<Item = usize> {
        let hash = ((handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize;
        // A handle is at most 64 slots from its hash; one that does not fit there is not counted.
        (0..64).map(move |step| (hash + step) % HANDLES)
    }

    fn insert(&self, handle: usize) -> bool {
        let free = Self::slots(handle).find(|at| self.handles[*at].load(Relaxed) == 0);
        free.inspect(|at| self.handles[*at].store(handle as u64, Relaxed)).is_some()
    }

    fn remove(&self, handle: usize) -> bool {
        let found = Self::slots(handle).find(|at| self.handles[*at].load(Relaxed) == handle as u64);
        found.inspect(|at| self.handles[*at].store(0, Relaxed)).is_some()
    }

    /// Removes a thread that was joined or will not be joined. The last one ends the phase.
    fn gone(&self, handle: usize, joined: bool) {
        // In a copy of the process the lock may be held for ever, by a thread that was creating
        // another one.
        if !is_at_home() {
            return;
        }
        self.lock();
        if self.remove(handle) && self.live.fetch_sub(1, Relaxed) == 1 {
            if let Some(instance) = self.instance() {
                if joined {
                    instance.end(clock::now());
                } else {
                    instance.cancel();
                }
            }
            self.set(None);
        }
        self.unlock();
    }
}

/// Ends the lane of a thread, however the thread ends.
pub(crate) fn end(lane: &'static Lane) {
    tls::set_lane(None);
    lane.end();
    phase::thread_ends(lane, clock::now());
    // SAFETY: the type is plain data for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the record is live.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let ns = |t: libc::timeval| {
        t.tv_sec.unsigned_abs() * 1_000_000_000 + t.tv_usec.unsigned_abs() * 1000
    };
    let used = ns(usage.ru_utime) + ns(usage.ru_stime);
    lane.cpu_ns.fetch_add(used, Relaxed);
    lane.voluntary.fetch_add(usage.ru_nvcsw.unsigned_abs(), Relaxed);
    lane.involuntary.fetch_add(usage.ru_nivcsw.unsigned_abs(), Relaxed);
    lanes::give_back(lane);
}

/// The observer's part in the functions that create and join threads.
struct Observed;

impl Threads for Observed {
    fn create(wanted: &Wanted, call: impl FnOnce(Option<Ptr>) -> c_int) -> c_int {
        let Some(creator) = tls::lane().filter(|_| is_at_home()) else {
            return call(None);
        };
        let entered = creator.enter(State::Scheduling);
        let counted = wanted.joinable && !places::is_openmp(wanted.caller);
        if counted {
            FORK.lock();
            if FORK.live.fetch_add(1, Relaxed) == 0 {
                let instance = phase::begin(Model::Threads, places::of_program(wanted.caller));
                FORK.set(instance);
                if let Some(instance) = instance {
                    instance.join(creator);
                }
            }
        }
        let lane = lanes::take();
        if let Some(lane) = lane {
            lane.body.store(wanted.body, Relaxed);
            lane.argument.store(wanted.argument.expose_provenance(), Relaxed);
            if counted && let Some(instance) = FORK.instance() {
                instance.join(lane);
            }
        }
        let result = call(lane.map(|lane| std::ptr::from_ref(lane).cast_mut().cast()));
        if result != 0
            && let Some(lane) = lane
        {
            phase::thread_ends(lane, clock::now());
            lanes::give_back(lane);
        }
        if counted {
            // SAFETY: the creation succeeded, so the handle is set.
            let known = result == 0 && FORK.insert(unsafe { wanted.handle.read() });
            if !known && FORK.live.fetch_sub(1, Relaxed) == 1 {
                FORK.instance().inspect(|instance| instance.cancel());
                FORK.set(None);
            }
            FORK.unlock();
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
        lane.begin(memory::thread_id());
        if let Some(marked) = api::marked() {
            marked.join(lane);
        }
        (body, std::ptr::with_exposed_provenance_mut(argument))
    }

    fn join(handle: usize, caller: usize, call: impl FnOnce() -> c_int) -> c_int {
        let result = wait(State::Join, caller, call);
        if result == 0 {
            FORK.gone(handle, true);
        }
        result
    }

    fn detach(handle: usize, call: impl FnOnce() -> c_int) -> c_int {
        FORK.gone(handle, false);
        call()
    }
}

thread_functions!(Observed, real);
