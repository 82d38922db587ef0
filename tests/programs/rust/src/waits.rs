//! Threads wait in each way that std has, for one that takes its time after it saw that they begin to wait.
// MODE: golden
// COUNT: thread_create 9

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::Duration;

static TABLE: LazyLock<u64> = LazyLock::new(|| rest(4));

/// Goes on long after so many threads are about to wait.
fn rest(result: u64) -> u64 {
    while ABOUT.load(Ordering::Acquire) < 9 {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(200));
    result
}

static ABOUT: AtomicUsize = AtomicUsize::new(0);
/// Threads that have what the others are to wait for.
static READY: AtomicUsize = AtomicUsize::new(0);

/// Waits in one way, once the others have what is waited for.
fn waits<T>(way: impl FnOnce() -> T) {
    while READY.load(Ordering::Acquire) < 4 {
        thread::sleep(Duration::from_millis(1));
    }
    ABOUT.fetch_add(1, Ordering::AcqRel);
    way();
}

fn ready<T>(result: T) -> T {
    READY.fetch_add(1, Ordering::AcqRel);
    result
}

pub(crate) fn main() {
    let (mutex, rwlock) = (Mutex::new(1), RwLock::new(1));
    let (condition, slot) = (Condvar::new(), Mutex::new(false));
    let (once, cell, barrier) = (Once::new(), OnceLock::new(), Barrier::new(2));
    let (sends, receives) = mpsc::channel();
    thread::scope(|scope| {
        let held = (ready(mutex.lock().unwrap()), ready(rwlock.write().unwrap()));
        let parked = scope.spawn(|| waits(thread::park)).thread().clone();
        scope.spawn(|| waits(|| *mutex.lock().unwrap()));
        scope.spawn(|| waits(|| *rwlock.read().unwrap()));
        scope.spawn(|| waits(|| drop(condition.wait_while(slot.lock().unwrap(), |full| !*full))));
        scope.spawn(|| waits(|| barrier.wait()));
        scope.spawn(move || waits(|| receives.recv()));
        scope.spawn(|| waits(|| once.call_once(|| unreachable!())));
        scope.spawn(|| waits(|| *cell.get_or_init(|| 7u64)));
        scope.spawn(|| waits(|| *TABLE));
        // One thread begins all initialisations, each within the one before.
        once.call_once(|| {
            ready(());
            cell.get_or_init(|| {
                ready(());
                *TABLE
            });
        });
        drop(held);
        *slot.lock().unwrap() = true;
        condition.notify_all();
        barrier.wait();
        sends.send(1).unwrap();
        parked.unpark();
    });
    println!("done");
}
