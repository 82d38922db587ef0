//! A panic under a lock poisons it; its data stays readable.
// MODE: golden
// COUNT: thread_create 1
// COUNT: thread_join 1

use std::sync::{Arc, Mutex, PoisonError};
use std::{panic, thread};

pub(crate) fn main() {
    panic::set_hook(Box::new(|_| {}));
    let shared = Arc::new(Mutex::new(1));
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || {
        let mut value = other.lock().unwrap();
        *value = 7;
        panic!("under the lock");
    });
    let failed = thread.join().is_err();
    let poisoned = shared.is_poisoned();
    let value = *shared.lock().unwrap_or_else(PoisonError::into_inner);
    println!("{failed} {poisoned} {value}");
}
