//! What threads wrote before a barrier, the others read after it, twice in turn.
// MODE: golden
// COUNT: thread_create 3

use std::cell::UnsafeCell;
use std::sync::Barrier;
use std::thread;

struct Slots([UnsafeCell<u64>; 3]);
// SAFETY: the barrier separates writes from reads.
unsafe impl Sync for Slots {}

pub(crate) fn main() {
    let (barrier, slots) = (Barrier::new(3), Slots([const { UnsafeCell::new(0) }; 3]));
    let (barrier, slots) = (&barrier, &slots);
    let sums = thread::scope(|scope| {
        let body = |i: usize| {
            let mut sum = 0;
            for round in 1..4 {
                // SAFETY: each thread has a slot, and nobody reads now.
                unsafe { *slots.0[i].get() += round * (i as u64 + 1) };
                barrier.wait();
                // SAFETY: nobody writes now.
                sum += slots.0.iter().map(|s| unsafe { *s.get() }).sum::<u64>();
                barrier.wait();
            }
            sum
        };
        let threads = [0, 1, 2].map(|i| scope.spawn(move || body(i)));
        threads.map(|t| t.join().unwrap())
    });
    println!("{sums:?}");
}
