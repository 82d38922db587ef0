//! Variables of each thread, with destructors, of threads that follow one another.
// MODE: golden
// COUNT: thread_create 12

use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::thread;

static GONE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

struct Note(u32);

impl Drop for Note {
    fn drop(&mut self) {
        GONE.lock().unwrap().push(self.0);
    }
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static NOTES: RefCell<Vec<Note>> = const { RefCell::new(Vec::new()) };
}

fn body(i: u32) {
    for k in 0..3 {
        COUNT.set(COUNT.get() + k);
        NOTES.with_borrow_mut(|notes| notes.push(Note(i)));
    }
}

pub(crate) fn main() {
    for i in 0..6 {
        let threads = [thread::spawn(move || body(i)), thread::spawn(move || body(i + 10))];
        threads.into_iter().for_each(|t| t.join().unwrap());
    }
    let gone = GONE.lock().unwrap();
    println!("{} {} {}", gone.len(), gone.iter().sum::<u32>(), COUNT.get());
}
