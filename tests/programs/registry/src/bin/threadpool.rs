//! A pool of threads: jobs of one queue, and a wait for all of them.

use std::sync::{Arc, Mutex};

use threadpool::ThreadPool;

fn main() {
    let pool = ThreadPool::new(4);
    let found = Arc::new(Mutex::new(Vec::new()));
    for job in 0..40u64 {
        let found = Arc::clone(&found);
        pool.execute(move || {
            let steps = (0..).scan(job + 1, |n, i| {
                *n = if *n % 2 == 0 { *n / 2 } else { 3 * *n + 1 };
                (*n > 1).then_some(i)
            });
            let steps = steps.count();
            found.lock().unwrap().push((job, steps));
        });
    }
    pool.join();
    let mut found = found.lock().unwrap().clone();
    found.sort();
    println!("{found:?}");
}
