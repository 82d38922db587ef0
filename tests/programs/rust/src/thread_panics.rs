//! A panic ends its thread only; the join gives what it carried.
// MODE: golden
// COUNT: thread_create 2
// COUNT: thread_join 2

use std::{panic, thread};

pub(crate) fn main() {
    panic::set_hook(Box::new(|_| {}));
    let fails = thread::spawn(|| -> u32 { panic::panic_any(vec![1u8, 2, 3]) });
    let works = thread::spawn(|| 5);
    let payload = fails.join().unwrap_err();
    println!("{:?} {}", payload.downcast_ref::<Vec<u8>>(), works.join().unwrap());
}
