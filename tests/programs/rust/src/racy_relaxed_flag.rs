//! A planted race: a value is published by a flag that orders nothing.
// MODE: golden

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

struct Slot(UnsafeCell<u64>, AtomicBool);
// SAFETY: none; this is the race.
unsafe impl Sync for Slot {}

#[inline(never)]
fn publish(slot: &Slot) {
    // SAFETY: none; this is the race.
    unsafe { slot.0.get().write_volatile(42) };
    slot.1.store(true, Ordering::Relaxed);
}

#[inline(never)]
fn wait(slot: &Slot) -> u64 {
    while !slot.1.load(Ordering::Relaxed) {
        thread::yield_now();
    }
    // SAFETY: none; this is the race.
    unsafe { slot.0.get().read_volatile() }
}

pub(crate) fn main() {
    let slot = Arc::new(Slot(UnsafeCell::new(0), AtomicBool::new(false)));
    let other = Arc::clone(&slot);
    let thread = thread::spawn(move || publish(&other));
    println!("{}", wait(&slot));
    thread.join().unwrap();
}
