//! Crossbeam's channels, queues, sharded lock, wait group, and memory that is freed when nobody looks at it any more.
// MODE: golden
// COUNT: thread_create 6

use crossbeam::channel::{bounded, select, unbounded};
use crossbeam::epoch::{self, Atomic, Owned};
use crossbeam::queue::{ArrayQueue, SegQueue};
use crossbeam::sync::{ShardedLock, WaitGroup};
use std::sync::atomic::Ordering;
use std::thread;

pub(crate) fn main() {
    let ((sends, receives), (ends, ended)) = (bounded(4), unbounded::<()>());
    let (array, list) = (ArrayQueue::new(64), SegQueue::new());
    let (lock, latest) = (ShardedLock::new(0u64), Atomic::new(vec![0u64]));
    let group = WaitGroup::new();
    let sum: u64 = thread::scope(|scope| {
        for i in 0..3u64 {
            let (sends, group) = (sends.clone(), group.clone());
            let (array, list, lock, latest) = (&array, &list, &lock, &latest);
            scope.spawn(move || {
                for k in 0..20 {
                    sends.send(vec![i, k]).unwrap();
                    array.push(Box::new(k)).unwrap();
                    list.push(vec![k]);
                    *lock.write().unwrap() += k;
                    let guard = epoch::pin();
                    let old = latest.swap(Owned::new(vec![i, k]), Ordering::AcqRel, &guard);
                    // SAFETY: nobody finds the old vector any more, and readers hold guards.
                    unsafe { guard.defer_destroy(old) };
                }
                drop(group);
            });
        }
        let reads = scope.spawn(|| {
            let read = |_| {
                let guard = epoch::pin();
                let now = latest.load(Ordering::Acquire, &guard);
                // SAFETY: the guard keeps the vector.
                unsafe { now.deref() }.len() as u64 + u64::from(*lock.read().unwrap() > 1 << 40)
            };
            (0..50).map(read).filter(|&length| length > 2).count() as u64
        });
        let all = group.clone();
        scope.spawn(move || (drop(sends), all.wait(), drop(ends)));
        let takes = scope.spawn(move || {
            let mut sum = 0;
            loop {
                select! {
                    recv(receives) -> got => match got {
                        Ok(got) => sum += got.iter().sum::<u64>(),
                        Err(_) => break,
                    },
                    recv(ended) -> _ => {}
                }
            }
            sum
        });
        drop(group);
        reads.join().unwrap() + takes.join().unwrap()
    });
    let queued: u64 = std::iter::from_fn(|| array.pop()).map(|k| *k).sum();
    let listed: u64 = std::iter::from_fn(|| list.pop()).map(|k| k[0]).sum();
    println!("{sum} {queued} {listed} {}", lock.read().unwrap());
    // SAFETY: no other thread is left.
    drop(unsafe { latest.into_owned() });
}
