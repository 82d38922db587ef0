//! Tasks that nothing waits for, whose results come through a channel.
// MODE: golden
// COUNT: thread_create 8

use std::sync::mpsc;

pub(crate) fn main() {
    let (sender, receiver) = mpsc::channel();
    for i in 0..4u32 {
        let sender = sender.clone();
        rayon::spawn(move || {
            let value = i * i;
            rayon::spawn_fifo(move || sender.send(value).unwrap());
        });
    }
    drop(sender);
    println!("{}", receiver.iter().sum::<u32>());
}
