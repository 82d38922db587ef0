//! A mutex is held during the work.
use std::sync::Mutex;
@PARTS@
static SUM: Mutex<u64> = Mutex::new(0);
fn $body(t: usize) {
    for i in 0..~400 {
        $noise(t);
#ifdef MENDED
        let x = $work(i, ~150000);
        *SUM.lock().unwrap() += x;
#else
        let mut $sum = SUM.lock().unwrap(); // PLANTED: lock
        *$sum += $work(i, ~150000); // PLANTED: lock
#endif
    }
}
fn main() {
    let threads = threads();
    std::thread::scope(|scope| (0..threads).for_each(|t| drop(scope.spawn(move || $body(t)))));
    println!("{}", SUM.lock().unwrap());
}
