//! A lock and a condition that sleep in the kernel and call nothing of the C library, as the
//! standard library's do (its `syscall`). A panic leaves them usable, because the data behind them
//! are consistent at every step.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::Duration;

use crate::clock::Instant;
use crate::kernel::{futex_wait, futex_wake};

const FREE: u32 = 0;
const LOCKED: u32 = 1;
/// Locked, and a thread may sleep for it.
const AWAITED: u32 = 2;
/// Tries before a thread sleeps.
const TRIES: u32 = 100;

/// A lock around a value.
#[derive(Debug, Default)]
pub struct Mutex<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the guard, and with it the value.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// The lock is held while this value lives.
#[derive(Debug)]
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    /// What a thread has locked it unlocks itself.
    _here: PhantomData<*const ()>,
}

impl<T> Mutex<T> {
    /// A lock that is free.
    #[must_use]
    pub const fn new(value: T) -> Self {
        Mutex { state: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    fn take(&self) -> bool {
        let taken = self.state.compare_exchange(FREE, LOCKED, Acquire, Relaxed);
        taken.is_ok()
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { mutex: self, _here: PhantomData }
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..TRIES {
            if self.take() {
                return;
            }
            std::hint::spin_loop();
        }
        while self.state.swap(AWAITED, Acquire) != FREE {
            futex_wait(&self.state, AWAITED, None);
        }
    }
}

/// Locks.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    if !mutex.take() {
        mutex.wait();
    }
    mutex.guard()
}

/// Locks if that needs no waiting.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.take().then(|| mutex.guard())
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.mutex.state.swap(FREE, Release) == AWAITED {
            futex_wake(&self.mutex.state, 1);
        }
    }
}

/// What threads that hold a lock wait for.
#[derive(Debug, Default)]
pub struct Condvar {
    /// How often it was notified.
    count: AtomicU32,
}

impl Condvar {
    /// Nobody waits.
    #[must_use]
    pub const fn new() -> Self {
        Condvar { count: AtomicU32::new(0) }
    }

    /// Wakes a thread that waits.
    pub fn notify_one(&self) {
        self.count.fetch_add(1, Relaxed);
        futex_wake(&self.count, 1);
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        self.count.fetch_add(1, Relaxed);
        futex_wake(&self.count, i32::MAX);
    }

    fn wait<'a, T>(&self, guard: MutexGuard<'a, T>, time: Option<Duration>) -> MutexGuard<'a, T> {
        // A notification after the lock is given up changes the count, and then there is no wait.
        let count = self.count.load(Relaxed);
        let mutex = guard.mutex;
        drop(guard);
        futex_wait(&self.count, count, time);
        lock(mutex)
    }
}

/// Gives up the lock until a notification; it may come back without one.
pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    condition.wait(guard, None)
}

/// Does what [`wait`] does, at most for a time. Returns whether the time is over, too.
pub fn wait_for<'a, T>(
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
    time: Duration,
) -> (MutexGuard<'a, T>, bool) {
    let begun = Instant::now();
    let guard = condition.wait(guard, Some(time));
    (guard, begun.elapsed() >= time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_value() {
        static SUM: Mutex<u64> = Mutex::new(0);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..20_000 {
                        let mut sum = lock(&SUM);
                        *sum += 1;
                        assert!(try_lock(&SUM).is_none());
                    }
                });
            }
        });
        assert_eq!(try_lock(&SUM).map(|sum| *sum), Some(80_000));
    }

    #[test]
    fn a_thread_waits_until_it_is_notified_or_its_time_is_over() {
        static TURN: Mutex<u32> = Mutex::new(0);
        static CHANGED: Condvar = Condvar::new();
        std::thread::scope(|s| {
            for me in 0..2 {
                s.spawn(move || {
                    for _ in 0..1000 {
                        let mut turn = lock(&TURN);
                        while *turn % 2 != me {
                            turn = wait(&CHANGED, turn);
                        }
                        *turn += 1;
                        CHANGED.notify_all();
                    }
                });
            }
        });
        let (turn, over) = wait_for(&CHANGED, lock(&TURN), Duration::from_millis(1));
        assert_eq!((*turn, over), (2000, true));
    }
}
