//! Two threads look for primes, each in one half of the numbers. Large numbers take longer.

use std::thread;

fn is_prime(number: u64) -> bool {
    !(2..number).any(|divisor| number.is_multiple_of(divisor)) // LOSS: imbalance
}

fn main() {
    let numbers: Vec<u64> = (2..20_000).collect();
    let (small, large) = numbers.split_at(numbers.len() / 2);
    let count = |part: &[u64]| part.iter().filter(|number| is_prime(**number)).count();
    let primes: usize = thread::scope(|scope| {
        let threads = [small, large].map(|part| scope.spawn(move || count(part)));
        threads.map(|thread| thread.join().unwrap()).iter().sum()
    });
    println!("{primes} primes");
}
