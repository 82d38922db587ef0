//! Threads get values and give results back.
// MODE: golden
// COUNT: thread_create 3
// COUNT: thread_join 3

use std::thread;

pub(crate) fn main() {
    let threads: Vec<_> = (1..4u64)
        .map(|i| {
            let values: Vec<u64> = (0..i * 10).collect();
            thread::spawn(move || (values.len(), values.into_iter().map(|x| x * i).sum::<u64>()))
        })
        .collect();
    for thread in threads {
        println!("{:?}", thread.join().unwrap());
    }
}
