//! Threads print in turn; the lock of the output keeps lines whole.
// MODE: golden
// COUNT: thread_create 3

use std::io::Write as _;
use std::thread;

pub(crate) fn main() {
    for i in 0..3 {
        let thread = thread::spawn(move || {
            let mut out = std::io::stdout().lock();
            for word in ["a", "line", "of", "words"] {
                write!(out, "{word} ").unwrap();
            }
            writeln!(out, "{i}").unwrap();
        });
        thread.join().unwrap();
    }
}
