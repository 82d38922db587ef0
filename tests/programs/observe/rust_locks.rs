//! Rust's own mutex, condition variable and channel: 200 ms each of waiting in the main thread.
use std::sync::{Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn work() {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(200) {}
}

fn main() {
    let (mutex, ready, condition) = (Mutex::new(0), Mutex::new(false), Condvar::new());
    let (locked, is_locked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = mutex.lock().unwrap();
            locked.send(()).unwrap();
            work();
            drop(guard);
            work();
            *ready.lock().unwrap() = true;
            condition.notify_one();
        });
        is_locked.recv().unwrap();
        *mutex.lock().unwrap() += 1;
        let guard = ready.lock().unwrap();
        drop(condition.wait_while(guard, |ready| !*ready).unwrap());
    });
    println!("{}", mutex.lock().unwrap());
}
