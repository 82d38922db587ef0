//! One of several threads runs the initialisation, and all see its result.
// MODE: golden
// COUNT: thread_create 4

use std::cell::UnsafeCell;
use std::sync::Once;
use std::thread;

struct Table(UnsafeCell<[u64; 16]>, Once);
// SAFETY: the table is written once, before it is read.
unsafe impl Sync for Table {}

static TABLE: Table = Table(UnsafeCell::new([0; 16]), Once::new());

fn table() -> &'static [u64; 16] {
    // SAFETY: only this writes it, and nobody reads it before.
    TABLE.1.call_once(|| unsafe { (*TABLE.0.get()).iter_mut().zip(1..).for_each(|(x, i)| *x = i) });
    // SAFETY: the table does not change any more.
    unsafe { &*TABLE.0.get() }
}

pub(crate) fn main() {
    let threads = [(); 4].map(|()| thread::spawn(|| table().iter().sum::<u64>()));
    println!("{:?}", threads.map(|t| t.join().unwrap()));
}
