//! Recursion, deep and in two functions.
// MODE: golden

fn fib(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { fib(n - 1) + fib(n - 2) }
}

fn even(n: u32) -> bool {
    n == 0 || odd(n - 1)
}

fn odd(n: u32) -> bool {
    n != 0 && even(n - 1)
}

pub(crate) fn main() {
    println!("{} {}", fib(15), even(std::hint::black_box(1000)));
}
