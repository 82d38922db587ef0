//! A thread sleeps until another one has written its data and wakes it.
// MODE: golden
// COUNT: thread_create 1

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Cell(UnsafeCell<Vec<u64>>);
// SAFETY: the flag orders the accesses.
unsafe impl Sync for Cell {}

pub(crate) fn main() {
    static DATA: Cell = Cell(UnsafeCell::new(Vec::new()));
    static READY: AtomicBool = AtomicBool::new(false);
    let sleeper = thread::spawn(|| {
        while !READY.load(Ordering::Acquire) {
            thread::park();
        }
        // SAFETY: the flag is set.
        unsafe { (*DATA.0.get()).iter().sum::<u64>() }
    });
    thread::sleep(std::time::Duration::from_millis(2));
    // SAFETY: the flag is not set yet.
    unsafe { (*DATA.0.get()).extend(0..20) };
    READY.store(true, Ordering::Release);
    sleeper.thread().unpark();
    println!("{}", sleeper.join().unwrap());
}
