//! A lock made of one atomic variable protects a plain counter.
// MODE: golden
// COUNT: thread_create 3

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Lock(AtomicBool, UnsafeCell<u64>);
// SAFETY: the counter is used under the lock.
unsafe impl Sync for Lock {}

pub(crate) fn main() {
    static LOCK: Lock = Lock(AtomicBool::new(false), UnsafeCell::new(0));
    let add = || {
        for _ in 0..50 {
            while LOCK.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
                thread::yield_now();
            }
            // SAFETY: this thread has the lock.
            unsafe { *LOCK.1.get() += 1 };
            LOCK.0.store(false, Ordering::Release);
        }
    };
    let threads = [(); 3].map(|()| thread::spawn(add));
    threads.into_iter().for_each(|t| t.join().unwrap());
    // SAFETY: the threads are joined.
    println!("{}", unsafe { *LOCK.1.get() });
}
