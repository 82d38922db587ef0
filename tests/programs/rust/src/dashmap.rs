//! Threads write, change and read entries of a map with a lock for each of its parts.
// MODE: golden
// COUNT: thread_create 4

use dashmap::DashMap;
use std::thread;

pub(crate) fn main() {
    let map: DashMap<u64, Vec<u64>> = DashMap::new();
    thread::scope(|scope| {
        for i in 0..4u64 {
            let map = &map;
            scope.spawn(move || {
                for k in 0..40 {
                    map.entry(k % 10).or_default().push(i);
                    if let Some(found) = map.get(&(k % 7)) {
                        assert!(found.iter().all(|&by| by < 4));
                    }
                }
                map.insert(100 + i, vec![i]);
                map.remove(&(100 + i));
            });
        }
    });
    let sum: u64 = map.iter().map(|entry| entry.value().iter().sum::<u64>()).sum();
    println!("{} {sum}", map.len());
}
