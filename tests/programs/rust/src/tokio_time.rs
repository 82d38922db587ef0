//! Timers, `select!` and tasks that are cancelled while they wait.
// MODE: golden

use std::future::pending;
use std::time::Duration;

use tokio::time::{interval, sleep, timeout};

async fn all() {
    let slow = tokio::spawn(sleep(Duration::from_secs(3600)));
    tokio::select! {
        () = sleep(Duration::from_millis(2)) => println!("time"),
        () = pending() => unreachable!(),
    }
    slow.abort();
    println!("{}", slow.await.unwrap_err().is_cancelled());
    let mut ticks = interval(Duration::from_millis(1));
    for _ in 0..3 {
        ticks.tick().await;
    }
    println!("{}", timeout(Duration::from_millis(1), pending::<()>()).await.is_err());
    drop(tokio::spawn(pending::<()>()));
}

pub(crate) fn main() {
    super::on_both_runtimes(all);
    println!("done");
}
