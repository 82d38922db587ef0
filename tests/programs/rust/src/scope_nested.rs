//! Scopes within scoped threads, and results of joined ones.
// MODE: golden
// COUNT: thread_create 6

use std::thread;

fn sum(values: &[u64], depth: u32) -> u64 {
    if depth == 0 {
        return values.iter().sum();
    }
    let (left, right) = values.split_at(values.len() / 2);
    thread::scope(|scope| {
        let left = scope.spawn(|| sum(left, depth - 1));
        let right = scope.spawn(|| sum(right, depth - 1));
        left.join().unwrap() + right.join().unwrap()
    })
}

pub(crate) fn main() {
    let values: Vec<u64> = (0..1000).collect();
    println!("{}", sum(&values, 2));
}
