//! A planted race: a cell is called shareable and is not.
// MODE: golden

use std::cell::Cell;
use std::sync::Arc;
use std::thread;

struct Shared(Cell<u64>);
// SAFETY: none; this is the race.
unsafe impl Sync for Shared {}

#[inline(never)]
fn change(shared: &Shared) {
    shared.0.set(std::hint::black_box(shared.0.get()) + 1);
}

pub(crate) fn main() {
    let shared = Arc::new(Shared(Cell::new(1)));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || change(&other));
    change(&shared);
    thread.join().unwrap();
    println!("done");
}
