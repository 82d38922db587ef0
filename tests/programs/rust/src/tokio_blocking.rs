//! Code that blocks, in threads that tokio has for it.
// MODE: golden

use tokio::task::{block_in_place, spawn_blocking};

async fn all() {
    let tasks: Vec<_> = (0..4).map(|i| spawn_blocking(move || vec![i; 100])).collect();
    let mut sum: u64 = 0;
    for task in tasks {
        sum += task.await.unwrap().iter().sum::<u64>();
    }
    let name = tokio::fs::read("/proc/self/comm").await.unwrap();
    println!("{sum} {}", name.is_empty());
    let kind = tokio::runtime::Handle::current().runtime_flavor();
    if kind == tokio::runtime::RuntimeFlavor::MultiThread {
        let inner = tokio::spawn(async { block_in_place(|| spawn_blocking(|| 5)).await });
        println!("{}", inner.await.unwrap().unwrap());
    }
}

pub(crate) fn main() {
    super::on_both_runtimes(all);
    println!("done");
}
