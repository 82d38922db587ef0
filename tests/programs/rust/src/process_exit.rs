//! A thread ends the whole program while others run.
// MODE: verify
// EXPECT: exit 7

use std::{process, thread};

pub(crate) fn main() {
    println!("before");
    thread::spawn(|| thread::park());
    let thread = thread::spawn(|| process::exit(7));
    let _ = thread.join();
    loop {
        thread::park();
    }
}
