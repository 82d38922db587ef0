//! parking_lot's mutex, fair unlocking, lock for readers with upgrades, condition variable and once.
// MODE: golden
// COUNT: thread_create 4

use parking_lot::{Condvar, Mutex, MutexGuard, Once, RwLock, RwLockUpgradableReadGuard};
use std::thread;

static FIRST: Once = Once::new();

pub(crate) fn main() {
    let (count, changed) = (Mutex::new(vec![0u64]), Condvar::new());
    let names = RwLock::new(Vec::new());
    thread::scope(|scope| {
        for i in 0..4u64 {
            let (count, changed, names) = (&count, &changed, &names);
            scope.spawn(move || {
                FIRST.call_once(|| names.write().push(99));
                for k in 0..20 {
                    let mut guard = count.lock();
                    guard[0] += k;
                    if k % 5 == 0 {
                        MutexGuard::unlock_fair(guard);
                    }
                    let known = names.upgradable_read();
                    if !known.contains(&i) {
                        RwLockUpgradableReadGuard::upgrade(known).push(i);
                    }
                }
                count.lock().push(i);
                changed.notify_all();
            });
        }
        let mut guard = count.lock();
        while guard.len() < 5 {
            changed.wait(&mut guard);
        }
    });
    println!("{} {}", count.lock()[0], names.read().iter().sum::<u64>());
}
