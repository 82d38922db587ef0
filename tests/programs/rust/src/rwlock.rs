//! Readers and writers of one map.
// MODE: golden
// COUNT: thread_create 4

use std::collections::BTreeMap;
use std::sync::RwLock;
use std::thread;

pub(crate) fn main() {
    let map = RwLock::new(BTreeMap::new());
    let map = &map;
    thread::scope(|scope| {
        for i in 0..2u64 {
            scope.spawn(move || {
                for k in 0..20 {
                    map.write().unwrap().insert(2 * k + i, vec![k; 3]);
                    thread::sleep(std::time::Duration::from_micros(50));
                }
            });
            scope.spawn(move || {
                let mut most = 0;
                while most < 40 {
                    most = map.read().unwrap().values().count();
                    thread::yield_now();
                }
            });
        }
    });
    println!("{}", map.read().unwrap().values().flatten().sum::<u64>());
}
