//! Consumers wait for a condition; a queue goes from hand to hand.
// MODE: golden
// COUNT: thread_create 2

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};
use std::thread;

pub(crate) fn main() {
    let (queue, filled) = (Mutex::new(VecDeque::<Option<Box<u64>>>::new()), Condvar::new());
    let sum: u64 = thread::scope(|scope| {
        let consume = || {
            let mut sum = 0;
            loop {
                let some = filled.wait_while(queue.lock().unwrap(), |q| q.is_empty());
                match some.unwrap().pop_front() {
                    Some(Some(item)) => sum += *item,
                    _ => return sum,
                }
            }
        };
        let consumers = [scope.spawn(consume), scope.spawn(consume)];
        for item in 0..30u64 {
            queue.lock().unwrap().push_back(Some(Box::new(item)));
            filled.notify_one();
        }
        queue.lock().unwrap().extend([None, None]);
        filled.notify_all();
        consumers.into_iter().map(|c| c.join().unwrap()).sum()
    });
    println!("{sum}");
}
