//! Locks, permits and notifications of tokio, and a set of tasks.
// MODE: golden

use std::sync::Arc;

use tokio::sync::{Mutex, Notify, RwLock, Semaphore};

struct Shared {
    counts: Mutex<Vec<u64>>,
    setting: RwLock<u64>,
    permits: Semaphore,
    plain: std::sync::Mutex<u64>,
    ready: Notify,
}

async fn user(shared: Arc<Shared>, i: u64) -> u64 {
    for k in 0..20 {
        let mut counts = shared.counts.lock().await;
        counts[k % 8] += i;
        if k % 5 == 0 {
            tokio::task::yield_now().await;
        }
        drop(counts);
        let _permit = shared.permits.acquire().await.unwrap();
        let setting = *shared.setting.read().await;
        *shared.plain.lock().unwrap() += setting;
        if k == 10 {
            *shared.setting.write().await += 1;
        }
    }
    shared.ready.notify_one();
    i
}

async fn all() {
    let shared = Arc::new(Shared {
        counts: Mutex::new(vec![0; 8]),
        setting: RwLock::new(1),
        permits: Semaphore::new(2),
        plain: std::sync::Mutex::new(0),
        ready: Notify::new(),
    });
    let mut users = tokio::task::JoinSet::new();
    for i in 0..6 {
        users.spawn(user(shared.clone(), i));
    }
    shared.ready.notified().await;
    let mut sum = 0;
    while let Some(i) = users.join_next().await {
        sum += i.unwrap();
    }
    let counts = shared.counts.lock().await.iter().sum::<u64>();
    println!("{sum} {counts} {}", shared.setting.read().await);
}

pub(crate) fn main() {
    super::on_both_runtimes(all);
    println!("done");
}
