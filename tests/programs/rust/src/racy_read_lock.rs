//! A planted race: two threads write while they hold a lock for reading.
// MODE: golden

use std::cell::UnsafeCell;
use std::sync::{Barrier, RwLock};
use std::thread;

struct Guarded(RwLock<()>, UnsafeCell<u64>);
// SAFETY: none; this is the race.
unsafe impl Sync for Guarded {}

#[inline(never)]
fn add(guarded: &Guarded, both: &Barrier) {
    let _lock = guarded.0.read().unwrap();
    both.wait();
    // SAFETY: none; this is the race.
    unsafe { guarded.1.get().write_volatile(guarded.1.get().read_volatile() + 1) };
}

pub(crate) fn main() {
    let (guarded, both) = (Guarded(RwLock::new(()), UnsafeCell::new(0)), Barrier::new(2));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| add(&guarded, &both));
        }
    });
    println!("done");
}
