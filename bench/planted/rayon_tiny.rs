//! Recursion without a cut-off.
@PARTS@
#ifdef MENDED
const CUT: u64 = 4096;
#else
const CUT: u64 = 1;
#endif
fn $divide(from: u64, to: u64) -> u64 {
    if to - from <= CUT {
        return (from..to).fold(0, |sum, i| sum ^ $work(i, ~20));
    }
    let middle = (from + to) / 2;
    let (a, b) = rayon::join(|| $divide(from, middle), || $divide(middle, to)); // PLANTED: scheduling
    a ^ b
}
fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(threads()).build_global().unwrap();
    println!("{}", $divide(0, 1 << 19));
}
