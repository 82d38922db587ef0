//! Channels of tokio: who takes what was sent comes after who sent it.
// MODE: golden

use tokio::sync::{broadcast, mpsc, oneshot, watch};

async fn queue() -> u64 {
    let (to, mut from) = mpsc::channel(4);
    for producer in 0..4 {
        let to = to.clone();
        tokio::spawn(async move {
            for i in 0..50 {
                to.send(Box::new(producer * 100 + i)).await.unwrap();
            }
        });
    }
    drop(to);
    let mut sum = 0;
    while let Some(value) = from.recv().await {
        sum += *value;
    }
    sum
}

async fn one() -> u64 {
    let (to, from) = oneshot::channel();
    tokio::spawn(async move { to.send(Box::new(7)).unwrap() });
    *from.await.unwrap()
}

async fn latest() -> u64 {
    let (to, mut from) = watch::channel(vec![0]);
    let watcher = tokio::spawn(async move {
        while from.changed().await.is_ok() {}
        from.borrow()[0]
    });
    for i in 1..20 {
        to.send(vec![i]).unwrap();
        tokio::task::yield_now().await;
    }
    drop(to);
    watcher.await.unwrap()
}

async fn all_of_it() -> u64 {
    let (to, _) = broadcast::channel(64);
    let receiver = |_| {
        let mut from = to.subscribe();
        tokio::spawn(async move {
            let mut sum = 0;
            while let Ok(value) = from.recv().await {
                sum += value;
            }
            sum
        })
    };
    let receivers: Vec<_> = (0..3).map(receiver).collect();
    for i in 0..30 {
        to.send(i).unwrap();
    }
    drop(to);
    let mut sum: u64 = 0;
    for receiver in receivers {
        sum += receiver.await.unwrap();
    }
    sum
}

pub(crate) fn main() {
    super::on_both_runtimes(|| async {
        println!("{} {} {} {}", queue().await, one().await, latest().await, all_of_it().await);
    });
    println!("done");
}
