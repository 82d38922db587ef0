//! Many short threads, detached or joined, get the same stack again and again.
// MODE: golden
// COUNT: thread_create 40

use std::sync::mpsc;
use std::thread;

fn body(n: u64) -> u64 {
    let mut values = std::hint::black_box([n; 64]);
    values.iter_mut().for_each(|v| *v += 1);
    values.iter().sum()
}

pub(crate) fn main() {
    let mut sum = 0;
    for n in 0..20 {
        sum += thread::spawn(move || body(n)).join().unwrap();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(body(n)).unwrap());
        sum += receiver.recv().unwrap();
    }
    println!("{sum}");
}
