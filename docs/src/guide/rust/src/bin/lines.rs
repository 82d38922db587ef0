//! One thread makes lines of text, and the main thread counts their words as they come.

use std::collections::HashMap;
use std::sync::mpsc;
use std::thread;

fn is_prime(number: u64) -> bool {
    !(2..number).any(|divisor| number.is_multiple_of(divisor)) // LOSS: producer
}

fn line(number: u64) -> String {
    let primes = (2..400 + number % 7).filter(|number| is_prime(*number));
    primes.map(|prime| format!("{prime} ")).collect()
}

fn main() {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for number in 0..1_000 {
            sender.send(line(number)).unwrap();
        }
    });
    let mut words = HashMap::<String, u32>::new();
    // LOSS: producer
    for line in lines {
        for word in line.split_whitespace() {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    println!("{} words", words.len());
}
