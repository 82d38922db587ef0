//! A thread ends the whole program while others, which have begun, wait.
// MODE: verify
// EXPECT: exit 7

use std::sync::mpsc;
use std::{process, thread};

pub(crate) fn main() {
    println!("before");
    let (began, begun) = mpsc::channel();
    thread::spawn(move || {
        began.send(()).unwrap();
        loop {
            thread::park();
        }
    });
    begun.recv().unwrap();
    let thread = thread::spawn(|| process::exit(7));
    let _ = thread.join();
    loop {
        thread::park();
    }
}
