//! Four threads change a vector under one lock.
// MODE: golden
// COUNT: thread_create 4
// COUNT: thread_join 4

use std::sync::{Arc, Mutex};
use std::thread;

pub(crate) fn main() {
    let shared = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..4u64)
        .map(|i| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for k in 0..60 {
                    let mut values = shared.lock().unwrap();
                    values.push(i * k);
                    if k % 20 == 0 {
                        // The others find the lock taken.
                        thread::sleep(std::time::Duration::from_micros(300));
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    let values = shared.lock().unwrap();
    println!("{} {}", values.len(), values.iter().sum::<u64>());
}
