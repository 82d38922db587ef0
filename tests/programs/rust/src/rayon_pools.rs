//! Pools of one's own: one within the other, broadcasts, and threads that end.
// MODE: golden

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

pub(crate) fn main() {
    let count = std::sync::Arc::new(AtomicUsize::new(0));
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (outer, inner) = (pool(3), pool(2));
    // Quarters, also if another thread steals one.
    let numbers = || (0..1000u32).into_par_iter().with_min_len(250).map(u64::from);
    let total: u64 = outer.install(|| {
        let squares = inner.install(|| numbers().map(|x| x * x).sum::<u64>());
        squares + numbers().sum::<u64>()
    });
    let threads = outer.broadcast(|context| context.num_threads());
    let counts = count.clone();
    inner.spawn_broadcast(move |_| {
        counts.fetch_add(1, Ordering::Relaxed);
    });
    while count.load(Ordering::Acquire) < 2 {
        std::thread::yield_now();
    }
    drop((outer, inner));
    println!("{total} {threads:?}");
}
