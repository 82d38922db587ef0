//! A wait for a condition that nobody signals ends by its time.
// MODE: golden

use std::sync::{Condvar, Mutex};
use std::time::Duration;

pub(crate) fn main() {
    let (value, condition) = (Mutex::new(1), Condvar::new());
    let guard = value.lock().unwrap();
    let (mut guard, result) = condition.wait_timeout_while(guard, Duration::from_millis(3), |v| *v == 1).unwrap();
    *guard += 1;
    println!("{} {}", result.timed_out(), *guard);
}
