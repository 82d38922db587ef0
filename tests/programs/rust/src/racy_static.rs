//! A planted race: a thread and its creator change a static variable without order.
// MODE: golden

use std::thread;

static mut COUNTER: u64 = 0;

#[inline(never)]
fn add() {
    for _ in 0..10 {
        // SAFETY: none; this is the race.
        unsafe { COUNTER = std::hint::black_box(COUNTER) + 1 };
    }
}

pub(crate) fn main() {
    let thread = thread::spawn(add);
    add();
    thread.join().unwrap();
    println!("done");
}
