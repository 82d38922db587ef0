#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "the included files are a library's; these tests use of them what records pass through"
)]
#![allow(unsafe_code, reason = "stands in for instrumented code, which writes at the cursor")]
//! Every interleaving of the way from a thread's buffer to the writer, and of the order of atomic
//! operations, by loom: the runtime's own source files, with loom's locks and atomics in place of
//! the standard library's.

#[path = "../../src/bias.rs"]
mod bias;
#[path = "../../src/buffer.rs"]
mod buffer;
#[path = "../../src/desk.rs"]
mod desk;
#[path = "../../src/inner.rs"]
mod inner;
#[path = "../../src/lane.rs"]
mod lane;
#[path = "../../src/level.rs"]
mod level;
#[path = "../../src/patience.rs"]
mod patience;
#[path = "../../src/pool.rs"]
mod pool;
#[path = "../../src/queue.rs"]
mod queue;
#[path = "../../src/stripe.rs"]
mod stripe;
#[path = "../../src/turns.rs"]
mod turns;

use contech_interpose::memory;
use loom::sync::Arc;
use loom::thread::{JoinHandle, spawn};

/// What the runtime's `primitive` names, of loom.
mod primitive {
    pub(crate) use loom::hint::spin_loop;
    pub(crate) use loom::sync::{Condvar, Mutex};
    pub(crate) use loom::thread::yield_now;

    use atomic::{AtomicU64, Ordering::Relaxed, Ordering::Release, Ordering::SeqCst, fence};

    /// Each round is a step, and all that a thread may do instead is tried.
    pub(crate) const ROUNDS: u32 = 2;

    /// The fence to leave out: 1 an owner's, 2 that of a thread that takes from an owner.
    pub(crate) static PLANTED: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

    fn fence_but_for(planted: u8) {
        if PLANTED.load(std::sync::atomic::Ordering::SeqCst) != planted {
            fence(SeqCst);
        }
    }

    /// Together with [`heavy_fence`] it is a fence. Alone it does nothing, which nobody can see.
    pub(crate) fn light_fence() {
        fence_but_for(1);
    }

    pub(crate) fn heavy_fence() -> bool {
        fence_but_for(2);
        true
    }

    /// Reads, then writes: another thread may come in between.
    pub(crate) fn add_here(word: &AtomicU64, what: u64) {
        word.store(word.load(Relaxed).wrapping_add(what), Release);
    }

    pub(crate) mod atomic {
        pub(crate) use loom::sync::atomic::{
            AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
        };
    }
}

/// What the runtime's `sync` names, of loom.
mod sync {
    use std::time::Duration;

    use loom::sync::{Condvar, Mutex, MutexGuard};

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap()
    }

    pub(crate) fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        mutex.try_lock().ok()
    }

    pub(crate) fn wait<'a, T>(on: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        on.wait(guard).unwrap()
    }

    pub(crate) fn wait_for<'a, T>(
        on: &Condvar,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> (MutexGuard<'a, T>, bool) {
        let (guard, over) = on.wait_timeout(guard, time).unwrap();
        (guard, over.timed_out())
    }
}

mod end;
mod queues;
mod stripes;
mod thread;

type Test = (&'static str, fn());

/// Without the test harness: under it the included files would bring their own tests, for which
/// loom is not made.
fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wanted: Vec<&String> = wanted.iter().filter(|a| !a.starts_with('-')).collect();
    for (name, test) in [queues::TESTS, end::TESTS, stripes::TESTS].concat() {
        if wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str())) {
            let started = std::time::Instant::now();
            test();
            println!("model {name} ... ok, {:.1?}", started.elapsed());
        }
    }
}

/// Names and functions, as `#[test]` would find them.
macro_rules! tests {
    ($($name:ident)*) => {
        pub(crate) const TESTS: &[crate::Test] = &[$((stringify!($name), $name)),*];
    };
}
use tests;

/// Every interleaving, or every one with at most so many preemptions where there are too many.
fn model(preemptions: Option<usize>, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    // Three threads that wait for each other take more steps than the usual 1,000.
    builder.max_branches = 20_000;
    builder.check(f);
}

/// What another thread does with something meanwhile.
fn beside<T: 'static, R: 'static>(
    shared: &Arc<T>,
    act: impl FnOnce(&T) -> R + 'static,
) -> JoinHandle<R> {
    let shared = Arc::clone(shared);
    spawn(move || act(&shared))
}
