//! Scoped threads write parts of a vector of their parent's, which reads it after them.
// MODE: golden
// COUNT: thread_create 4

use std::thread;

pub(crate) fn main() {
    let mut values = vec![0u64; 400];
    let factor = values.len() as u64;
    thread::scope(|scope| {
        for (part, i) in values.chunks_mut(100).zip(0u64..) {
            let factor = &factor;
            scope.spawn(move || part.iter_mut().zip(i * 100..).for_each(|(v, x)| *v = x * factor));
        }
    });
    println!("{}", values.iter().sum::<u64>());
}
