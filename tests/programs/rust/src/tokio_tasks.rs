//! Tasks of tokio with growing work, on either kind of runtime: each is one context, whichever threads poll it.
// MODE: golden
// COUNT: thread_create 17

use std::hint::black_box;

fn work(n: u64) -> u64 {
    (0..n).fold(1, |sum: u64, i| black_box(sum.wrapping_mul(5).wrapping_add(i)))
}

async fn task(n: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..4 {
        sum ^= work(n);
        tokio::task::yield_now().await;
    }
    sum
}

async fn all(step: u64) -> u64 {
    let tasks: Vec<_> = (1..=8).map(|i| tokio::spawn(task(i * step))).collect();
    let mut sum = 0;
    for task in tasks {
        sum ^= task.await.unwrap();
    }
    sum
}

pub(crate) fn main() {
    let mut arguments = std::env::args().skip(2).map(|a| a.parse::<u64>().unwrap());
    let threads = arguments.next().unwrap_or(2);
    let step = arguments.next().unwrap_or(20);
    let mut runtime = match threads {
        0 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = runtime.worker_threads(threads.max(1) as usize).build().unwrap();
    let sum = runtime.block_on(all(step));
    // A runtime that is dropped while a task waits ends the task.
    runtime.spawn(std::future::pending::<()>());
    if threads == 2 {
        let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(one.block_on(all(step)), sum);
    }
    println!("done");
}
