//! A channel without a place: sender and receiver meet.
// MODE: golden
// COUNT: thread_create 1

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

pub(crate) fn main() {
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || {
        for k in 0..20u64 {
            sender.send([k; 8]).unwrap();
        }
    });
    let sum: u64 = (0..20).map(|_| receiver.recv().unwrap().iter().sum::<u64>()).sum();
    thread.join().unwrap();
    let end = receiver.recv_timeout(Duration::from_millis(1));
    println!("{sum} {}", end == Err(RecvTimeoutError::Disconnected));
}
