//! A parallel loop whose iterations hold one lock.
use rayon::prelude::*;
use std::sync::Mutex;
@PARTS@
fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(threads()).build_global().unwrap();
    let $total = Mutex::new(0u64);
    (0..~600u64).into_par_iter().for_each(|i| {
        $noise(rayon::current_thread_index().unwrap_or(0));
#ifdef MENDED
        let x = $work(i, ~100000);
        let mut $guard = $total.lock().unwrap();
        *$guard ^= x;
#else
        let mut $guard = $total.lock().unwrap(); // PLANTED: lock
        *$guard ^= $work(i, ~100000); // PLANTED: lock
#endif
    });
    println!("{}", $total.lock().unwrap());
}
