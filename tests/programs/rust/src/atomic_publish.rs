//! A release store publishes plain data to an acquire load.
// MODE: golden
// COUNT: thread_create 1

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Cell(UnsafeCell<u64>, AtomicBool);
// SAFETY: the flag orders the accesses.
unsafe impl Sync for Cell {}

pub(crate) fn main() {
    static CELL: Cell = Cell(UnsafeCell::new(0), AtomicBool::new(false));
    let reader = thread::spawn(|| {
        while !CELL.1.load(Ordering::Acquire) {
            thread::yield_now();
        }
        // SAFETY: the flag was seen.
        unsafe { *CELL.0.get() }
    });
    // SAFETY: the flag is not set yet.
    unsafe { *CELL.0.get() = 42 };
    CELL.1.store(true, Ordering::Release);
    println!("{}", reader.join().unwrap());
}
