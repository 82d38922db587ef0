//! A tree of `rayon::join`: each join is one task, whichever thread runs it.
// MODE: golden
// COUNT: task_create 89
// COUNT: task_join 89

unsafe extern "C" {
    fn _exit(code: i32) -> !;
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

pub(crate) fn main() {
    let n = std::env::args().nth(2).map_or(10, |n| n.parse().unwrap());
    assert!(fib(std::hint::black_box(n)) > 0);
    println!("done");
    // When main ends, std searches its list of threads, of which there may be more or fewer.
    unsafe { _exit(0) }
}
