//! Tasks that share what only one thread may use: their turns follow each other.
// MODE: golden

use std::cell::Cell;
use std::rc::Rc;

use tokio::task::{LocalSet, spawn_local, yield_now};

async fn add(to: Rc<Cell<u64>>, i: u64) {
    for _ in 0..5 {
        to.set(to.get() + i);
        yield_now().await;
    }
}

async fn all() {
    let sum = Rc::new(Cell::new(0));
    let tasks: Vec<_> = (0..4).map(|i| spawn_local(add(sum.clone(), i))).collect();
    for task in tasks {
        task.await.unwrap();
        sum.set(sum.get() + 1);
    }
    println!("{}", sum.get());
}

pub(crate) fn main() {
    super::on_both_runtimes(|| async { LocalSet::new().run_until(all()).await });
    println!("done");
}
