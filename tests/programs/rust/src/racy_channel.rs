//! A planted race: a pointer is sent through a channel, and its sender goes on writing.
// MODE: golden

use std::sync::mpsc;
use std::thread;

struct Sent(*mut u64);
// SAFETY: none; this is the race.
unsafe impl Send for Sent {}

#[inline(never)]
fn write(place: *mut u64, value: u64) {
    // SAFETY: none; this is the race.
    unsafe { place.write_volatile(value) };
}

pub(crate) fn main() {
    let (sends, receives) = mpsc::channel::<Sent>();
    let thread = thread::spawn(move || receives.iter().for_each(|sent| write(sent.0, 1)));
    let mut value = Box::new(0u64);
    let place = &raw mut *value;
    sends.send(Sent(place)).unwrap();
    write(place, 2);
    drop(sends);
    thread.join().unwrap();
    println!("done");
}
