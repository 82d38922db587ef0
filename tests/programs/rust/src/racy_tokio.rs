//! Two tasks of tokio write the same word.
// MODE: golden

use std::cell::UnsafeCell;

struct Shared(UnsafeCell<u64>);

unsafe impl Sync for Shared {}

static SHARED: Shared = Shared(UnsafeCell::new(0));

#[inline(never)]
fn racy_tokio(value: u64) {
    unsafe { *SHARED.0.get() = value };
}

pub(crate) fn main() {
    super::on_both_runtimes(|| async {
        let tasks = [1, 2].map(|value| tokio::spawn(async move { racy_tokio(value) }));
        for task in tasks {
            task.await.unwrap();
        }
        assert!(unsafe { *SHARED.0.get() } > 0);
    });
    println!("done");
}
