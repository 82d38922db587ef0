//! Values that the first user makes, and the others wait for.
// MODE: golden
// COUNT: thread_create 4

use std::sync::{LazyLock, OnceLock};
use std::thread;

static TABLE: LazyLock<Vec<u64>> = LazyLock::new(|| (0..64).map(|x| x * x).collect());

pub(crate) fn main() {
    let once = OnceLock::new();
    let sums = thread::scope(|scope| {
        let body = || once.get_or_init(|| TABLE.iter().sum::<u64>()) + TABLE[3];
        let threads = [(); 4].map(|()| scope.spawn(body));
        threads.map(|t| t.join().unwrap())
    });
    println!("{sums:?}");
}
