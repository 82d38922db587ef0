//! The last of several owners drops what they share, whichever thread that is.
// MODE: golden
// COUNT: thread_create 4
// COUNT: thread_join 4

use std::sync::Arc;
use std::thread;

struct Owned(Vec<u64>);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|x| *x = 0);
    }
}

pub(crate) fn main() {
    let shared = Arc::new(Owned((0..100).collect()));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.0.iter().sum::<u64>())
        })
        .collect();
    drop(shared);
    let sums: Vec<u64> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    println!("{sums:?}");
}
