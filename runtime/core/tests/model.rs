//! Interleavings of hand-over and pool, by loom: `cargo test --features loom --test model`.
#![cfg(feature = "loom")]

use contech_runtime_core::pool::Pool;
use contech_runtime_core::queue::{Message, Queue};
use loom::sync::Arc;
use loom::thread;

fn number(message: &Message) -> u8 {
    match message {
        Message::Module(bytes) => bytes[0],
        other => unreachable!("only modules are sent here, not {other:?}"),
    }
}

/// Every interleaving with at most this many preemptions, which finds nearly all faults there are.
fn model(f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(f);
}

/// What the writer thread does; returns what it got.
fn write_all(queue: &Queue) -> Vec<u8> {
    let mut got = Vec::new();
    while let Some(message) = queue.next() {
        got.push(number(&message));
        queue.done();
    }
    got
}

#[test]
fn every_message_arrives_once_and_in_the_order_of_its_sender() {
    model(|| {
        let queue = Arc::new(Queue::new(1));
        let writer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || write_all(&queue))
        };
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.send(Message::Module(vec![10])))
        };
        queue.send(Message::Module(vec![1]));
        queue.send(Message::Module(vec![2]));
        other.join().unwrap();
        queue.close();
        let got = writer.join().unwrap();
        let own: Vec<u8> = got.iter().copied().filter(|n| *n < 10).collect();
        assert_eq!(own, [1, 2]);
        assert_eq!(got.len(), 3);
    });
}

#[test]
fn a_drained_queue_has_nothing_left_of_what_was_sent_before() {
    model(|| {
        let queue = Arc::new(Queue::new(1));
        let written = Arc::new(loom::sync::atomic::AtomicUsize::new(0));
        let writer = {
            let (queue, written) = (Arc::clone(&queue), Arc::clone(&written));
            thread::spawn(move || {
                while let Some(message) = queue.next() {
                    drop(message);
                    written.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
                    queue.done();
                }
            })
        };
        queue.send(Message::Module(vec![1]));
        queue.send(Message::Module(vec![2]));
        assert!(queue.drain(None));
        assert_eq!(written.load(loom::sync::atomic::Ordering::Relaxed), 2);
        queue.close();
        writer.join().unwrap();
    });
}

#[test]
fn a_buffer_has_one_owner_at_a_time() {
    model(|| {
        let pool = Arc::new(Pool::keeping(64 << 10, 1));
        let first = pool.take().unwrap();
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || {
                let buffer = pool.take().unwrap();
                let at = buffer.data().addr();
                pool.put(buffer);
                at
            })
        };
        let here = first.data().addr();
        // Not given back yet: whatever the other thread gets is another one.
        let there = other.join().unwrap();
        assert_ne!(here, there);
        pool.put(first);
    });
}
