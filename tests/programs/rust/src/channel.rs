//! Three senders and one receiver.
// MODE: golden
// COUNT: thread_create 3

use std::sync::mpsc;
use std::thread;

pub(crate) fn main() {
    let (sender, receiver) = mpsc::channel();
    for i in 0..3u64 {
        let sender = sender.clone();
        thread::spawn(move || (0..40).for_each(|k| sender.send(vec![i * k; 4]).unwrap()));
    }
    drop(sender);
    let sum: u64 = receiver.iter().map(|v| v.iter().sum::<u64>()).sum();
    println!("{sum}");
}
