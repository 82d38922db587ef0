//! Attempts at a lock that may fail.
// MODE: golden
// COUNT: thread_create 2

use std::sync::Mutex;
use std::thread;

pub(crate) fn main() {
    let value = Mutex::new(0u64);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut left = 40;
                while left > 0 {
                    if let Ok(mut value) = value.try_lock() {
                        *value += 1;
                        left -= 1;
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    println!("{}", value.into_inner().unwrap());
}
