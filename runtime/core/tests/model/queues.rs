//! The queue by itself.

use contech_trace::file::{ChunkKind, Totals};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::queue::{Message, Place, Queue, Records};
use crate::{beside, model};

crate::tests! {
    every_message_arrives_once_and_in_the_order_of_its_sender
    a_drained_queue_has_nothing_left_of_what_was_sent_before
    a_drain_does_not_wait_for_more_small_messages
    what_comes_after_the_end_waits_until_the_program_was_not_replaced
}

fn number(message: &Message) -> u8 {
    match message {
        Message::Chunk(_, bytes) => bytes[0],
        other => unreachable!("only modules are sent here, not {other:?}"),
    }
}

fn every_message_arrives_once_and_in_the_order_of_its_sender() {
    model(Some(2), || {
        let queue = Arc::new(Queue::new(1));
        let writer = beside(&queue, |queue| {
            let mut got = Vec::new();
            while queue.wait(|| None) {
                got.push(number(&queue.take().unwrap()));
                queue.done();
            }
            got
        });
        let other = beside(&queue, |queue| {
            queue.send(Message::Chunk(ChunkKind::Module, vec![10]));
            // What is sent while a thread waits for the writer keeps its order, too.
            assert!(queue.drain(None));
        });
        queue.send(Message::Chunk(ChunkKind::Module, vec![1]));
        queue.send(Message::Chunk(ChunkKind::Module, vec![2]));
        other.join().unwrap();
        queue.close();
        let got = writer.join().unwrap();
        let own: Vec<u8> = got.iter().copied().filter(|n| *n < 10).collect();
        assert_eq!(own, [1, 2]);
        assert_eq!(got.len(), 3);
        assert!(!queue.is_full());
    });
}

fn a_drained_queue_has_nothing_left_of_what_was_sent_before() {
    model(None, || {
        let queue = Arc::new(Queue::new(1));
        let written = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&written);
        let writer = beside(&queue, move |queue| {
            while queue.wait(|| None) {
                drop(queue.take());
                counted.fetch_add(1, Relaxed);
                queue.done();
            }
        });
        queue.send(Message::Chunk(ChunkKind::Module, vec![1]));
        queue.send(Message::Chunk(ChunkKind::Module, vec![2]));
        assert!(queue.drain(None));
        assert_eq!(written.load(Relaxed), 2);
        queue.close();
        writer.join().unwrap();
    });
}

fn a_drain_does_not_wait_for_more_small_messages() {
    model(None, || {
        let queue = Arc::new(Queue::new(1));
        let writer = beside(&queue, |queue| {
            while queue.wait(|| None) {
                queue.take().unwrap();
                while queue.take_small().is_some() {}
                queue.done();
            }
        });
        for seq in 0..2 {
            let kind = ChunkKind::Stream;
            let place = Place { kind, context: 0, level: 0, seq, first: 0, last: 0 };
            queue.send(Message::Stream(place, Records::Few(vec![0])));
        }
        // Time does not pass here, so the writer would wait for more for ever.
        assert!(queue.drain(None));
        queue.close();
        writer.join().unwrap();
    });
}

fn what_comes_after_the_end_waits_until_the_program_was_not_replaced() {
    model(None, || {
        let queue = Arc::new(Queue::new(1));
        let other = beside(&queue, |queue| {
            queue.send(Message::Chunk(ChunkKind::Module, vec![1]));
            queue.send(Message::Chunk(ChunkKind::Module, vec![2]));
        });
        let end = queue.send_end(Totals::default(), true);
        let take = || {
            let message = queue.take();
            message.inspect(|_| queue.done())
        };
        let before = std::iter::from_fn(take).collect::<Vec<_>>();
        assert_eq!(before.len() as u64, end);
        assert!(matches!(before.last(), Some(Message::Chunk(ChunkKind::End, _))));
        other.join().unwrap();
        assert!(take().is_none());
        queue.uncork();
        assert_eq!(before.len() + std::iter::from_fn(take).count(), 3);
    });
}
