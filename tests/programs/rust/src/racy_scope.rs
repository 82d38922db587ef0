//! A planted race: two scoped threads get parts of a vector that overlap by one place.
// MODE: golden

use std::sync::Barrier;
use std::thread;

struct Part(*mut u64, usize);
// SAFETY: none; this is the race.
unsafe impl Send for Part {}

#[inline(never)]
fn fill(part: &Part, both: &Barrier) {
    both.wait();
    for i in 0..part.1 {
        // SAFETY: the vector has as many places, but another thread has the last one, too.
        unsafe { part.0.add(i).write_volatile(i as u64) };
    }
}

pub(crate) fn main() {
    let mut values = vec![0u64; 9];
    let start = values.as_mut_ptr();
    // SAFETY: the vector has nine places.
    let parts = [Part(start, 5), Part(unsafe { start.add(4) }, 5)];
    let both = Barrier::new(2);
    thread::scope(|scope| {
        for part in parts {
            let both = &both;
            scope.spawn(move || fill(&part, both));
        }
    });
    println!("{}", values.len());
}
