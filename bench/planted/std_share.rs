//! One thread has most of the work.
@PARTS@
fn $body(t: usize, threads: usize) -> u64 {
#ifdef MENDED
    let rounds = ~300 + ~1500 / threads as u64;
#else
    let rounds = if t + 1 == threads { ~300 + ~1500 } else { ~300 };
#endif
    let mut sum = 0;
    for i in 0..rounds {
        $noise(t);
        sum += $work(i, 100000); // PLANTED: imbalance
    }
    sum
}
fn main() {
    let threads = threads();
    let all: Vec<_> = (0..threads).map(|t| std::thread::spawn(move || $body(t, threads))).collect();
    let sum: u64 = all.into_iter().map(|one| one.join().unwrap() & 0xffff).sum(); // PLANTED: imbalance
    println!("{sum}");
}
