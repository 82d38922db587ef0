//! A channel of two places: the sender waits for the receiver.
// MODE: golden
// COUNT: thread_create 1
// COUNT: thread_join 1

use std::sync::mpsc;
use std::thread;

pub(crate) fn main() {
    let (sender, receiver) = mpsc::sync_channel(2);
    let thread = thread::spawn(move || (0..50).for_each(|k| sender.send(Box::new(k)).unwrap()));
    let all: Vec<u64> = receiver.iter().map(|b| *b).collect();
    thread.join().unwrap();
    println!("{} {}", all.len(), all.is_sorted());
}
