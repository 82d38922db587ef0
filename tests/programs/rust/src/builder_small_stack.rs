//! Threads with names and with stacks of their own sizes.
// MODE: golden
// COUNT: thread_create 3

use std::thread::{self, Builder};

fn depth(n: u64) -> u64 {
    let frame = std::hint::black_box([n; 16]);
    if n == 0 { 0 } else { frame[3] + depth(n - 1) }
}

pub(crate) fn main() {
    let sizes = [64 << 10, 256 << 10, 4 << 20];
    let threads = sizes.map(|size| {
        let builder = Builder::new().name(format!("stack {size}")).stack_size(size);
        let body = move || (thread::current().name().unwrap().to_owned(), depth(size as u64 >> 11));
        builder.spawn(body).unwrap()
    });
    for thread in threads {
        println!("{:?}", thread.join().unwrap());
    }
}
