//! Each task is awaited before the next one is made.
@PARTS@
fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads()).build().unwrap();
    let sum = runtime.block_on(async {
        let mut sum = 0;
        let mut all = Vec::new();
        for i in 0..~100u64 {
            all.push(tokio::spawn(async move { $work(i, ~1000000) })); // PLANTED: serial, imbalance
#ifdef MENDED
        }
        {
#endif
            for one in all.drain(..) {
                sum ^= one.await.unwrap(); // PLANTED: serial, imbalance
            }
        }
        sum
    });
    println!("{sum}");
}
