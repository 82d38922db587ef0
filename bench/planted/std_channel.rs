//! The threads wait for what one thread makes.
use std::sync::{Mutex, mpsc};
@PARTS@
#ifdef MENDED
const MAKE: u64 = 2000;
const USE: u64 = ~20000 + ~90000;
#else
const MAKE: u64 = ~90000;
const USE: u64 = ~20000;
#endif
fn main() {
    let (sender, $items) = mpsc::sync_channel(16);
    let $items = &Mutex::new($items);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for i in 0..~1500 {
                let item = $work(i, MAKE); // PLANTED: producer
                sender.send(item).unwrap(); // PLANTED: producer
            }
        });
        for t in 0..threads() {
            scope.spawn(move || loop {
                let item = $items.lock().unwrap().recv(); // PLANTED: producer
                let Ok(item) = item else { break };
                $noise(t);
                std::hint::black_box($work(item, USE));
            });
        }
    });
}
