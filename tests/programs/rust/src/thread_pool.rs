//! A pool of threads takes boxed jobs from one channel behind a lock.
// MODE: golden
// COUNT: thread_create 3
// COUNT: thread_join 3

use std::sync::{Arc, Mutex, mpsc};
use std::thread;

type Job = Box<dyn FnOnce() -> u64 + Send>;

pub(crate) fn main() {
    let (jobs, queue) = mpsc::channel::<Job>();
    let (results, done) = mpsc::channel();
    let queue = Arc::new(Mutex::new(queue));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (queue, results) = (Arc::clone(&queue), results.clone());
            thread::spawn(move || {
                loop {
                    let job = queue.lock().unwrap().recv();
                    match job {
                        Ok(job) => results.send(job()).unwrap(),
                        Err(_) => return,
                    }
                }
            })
        })
        .collect();
    drop(results);
    for i in 0..30u64 {
        let values = vec![i; 10];
        jobs.send(Box::new(move || values.iter().sum())).unwrap();
    }
    drop(jobs);
    println!("{}", done.iter().sum::<u64>());
    threads.into_iter().for_each(|t| t.join().unwrap());
}
