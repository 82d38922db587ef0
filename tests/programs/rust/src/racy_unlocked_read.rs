//! A planted race: a value is written under a lock and read without it.
// MODE: golden

use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};
use std::thread;

struct Guarded(Mutex<()>, UnsafeCell<u64>);
// SAFETY: none; this is the race.
unsafe impl Sync for Guarded {}

#[inline(never)]
fn write(guarded: &Guarded) {
    for value in 0..20 {
        let _lock = guarded.0.lock().unwrap();
        // SAFETY: the lock is held, which the reader does not do.
        unsafe { guarded.1.get().write_volatile(value) };
    }
}

#[inline(never)]
fn read(guarded: &Guarded) -> u64 {
    // SAFETY: none; this is the race.
    unsafe { guarded.1.get().read_volatile() }
}

pub(crate) fn main() {
    let guarded = Arc::new(Guarded(Mutex::new(()), UnsafeCell::new(0)));
    let other = Arc::clone(&guarded);
    let thread = thread::spawn(move || write(&other));
    std::hint::black_box(read(&guarded));
    thread.join().unwrap();
    println!("{}", read(&guarded));
}
