//! Tasks of rayon and of tokio, whose parts several threads may execute: each part has the thread as its executor that
//! writes a variable of its own there.
// MODE: verify
// CHECK: executors

use std::cell::Cell;

thread_local! {
    static MINE: Cell<u32> = const { Cell::new(0) };
}

#[inline(never)]
fn here() {
    let mine = MINE.with(Cell::as_ptr);
    // SAFETY: the variable is this thread's alone.
    unsafe { *mine = 1 };
}

fn divide(depth: u32) {
    here();
    if depth > 0 {
        rayon::join(|| divide(depth - 1), || divide(depth - 1));
        here();
    }
}

async fn task() {
    for _ in 0..20 {
        here();
        tokio::task::yield_now().await;
        here();
    }
}

pub(crate) fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
    rayon::broadcast(|_| here());
    divide(6);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(task())).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    here();
    println!("{}", 4 + MINE.get());
}
