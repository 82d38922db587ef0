//! Four threads count words in one table. Each takes a line apart while it holds the lock.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

type Table<'a> = HashMap<&'a str, u32>;

fn count<'a>(text: &'a str, table: &Mutex<Table<'a>>) {
    for line in text.lines() {
        let mut table = table.lock().unwrap(); // LOSS: lock
        for word in line.split_whitespace() {
            *table.entry(word).or_default() += 1;
        }
    }
}

fn main() {
    let text = "It was the best of times, it was the worst of times\n".repeat(15_000);
    let table = Mutex::new(Table::new());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| count(&text, &table));
        }
    });
    println!("{} words", table.into_inner().unwrap().len());
}
