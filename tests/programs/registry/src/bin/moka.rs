//! A cache that threads share: each of 50 values is made once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use moka::sync::Cache;

fn main() {
    let cache: Cache<u64, u64> = Cache::new(1000);
    let made = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..4)
        .map(|t| {
            let (cache, made) = (cache.clone(), made.clone());
            thread::spawn(move || {
                let value = |i: u64| {
                    cache.get_with(i, || {
                        made.fetch_add(1, Ordering::AcqRel);
                        i * i
                    })
                };
                (0..200).map(|i| value((i + t) % 50)).sum::<u64>()
            })
        })
        .collect();
    let sums: Vec<u64> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    println!("{sums:?}, {} values made", made.load(Ordering::Acquire));
}
