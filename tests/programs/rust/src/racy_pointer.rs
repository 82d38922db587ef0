//! A planted race: a pointer to a vector is sent to a thread while its owner writes.
// MODE: golden

use std::thread;

struct Sent(*mut u64);
// SAFETY: none; this is the race.
unsafe impl Send for Sent {}

#[inline(never)]
fn fill(sent: &Sent, value: u64) {
    for i in 0..8 {
        // SAFETY: the vector has eight places and lives on.
        unsafe { sent.0.add(i).write_volatile(value) };
    }
}

pub(crate) fn main() {
    let mut values = vec![0u64; 8];
    let (sent, own) = (Sent(values.as_mut_ptr()), Sent(values.as_mut_ptr()));
    let thread = thread::spawn(move || fill(&sent, 1));
    fill(&own, 2);
    thread.join().unwrap();
    println!("{}", values.len());
}
