//! Fences order relaxed operations.
// MODE: golden
// COUNT: thread_create 1

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::thread;

struct Cell(UnsafeCell<u64>);
// SAFETY: the fences order the accesses.
unsafe impl Sync for Cell {}

pub(crate) fn main() {
    static DATA: Cell = Cell(UnsafeCell::new(0));
    static STEP: AtomicU32 = AtomicU32::new(0);
    let reader = thread::spawn(|| {
        while STEP.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        fence(Ordering::Acquire);
        // SAFETY: the fences order this after the write.
        unsafe { *DATA.0.get() }
    });
    // SAFETY: nobody reads yet.
    unsafe { *DATA.0.get() = 9 };
    fence(Ordering::Release);
    STEP.store(1, Ordering::Relaxed);
    println!("{}", reader.join().unwrap());
}
