//! A database in a file: one thread commits while others read what was committed before.

use std::thread;

use redb::{Database, ReadableDatabase as _, TableDefinition};

const SQUARES: TableDefinition<'_, u64, u64> = TableDefinition::new("squares");

fn main() {
    let db = Database::create("squares.redb").unwrap();
    let write = |from: u64, to: u64| {
        let transaction = db.begin_write().unwrap();
        {
            let mut table = transaction.open_table(SQUARES).unwrap();
            for i in from..to {
                table.insert(i, i * i).unwrap();
            }
        }
        transaction.commit().unwrap();
    };
    let sum = |to: u64| {
        let table = db.begin_read().unwrap().open_table(SQUARES).unwrap();
        table
            .range(..to)
            .unwrap()
            .map(|row| row.unwrap().1.value())
            .sum::<u64>()
    };
    write(0, 500);
    let sums = thread::scope(|scope| {
        let readers: Vec<_> = (1..4).map(|i| scope.spawn(move || sum(i * 100))).collect();
        write(500, 700);
        readers
            .into_iter()
            .map(|r| r.join().unwrap())
            .collect::<Vec<_>>()
    });
    println!("{sums:?}, {}", sum(1000));
}
