//! The workers: they encode chunks of streams.

use crossbeam_channel::Sender;

use super::{Item, Message, Shared, Task, Watch};
use crate::board::Job;
use crate::encode::{ChunkEncoder, EncodedChunk};

/// Encodes chunks until there are no more.
pub(super) fn work(shared: &Shared, to_caller: &Sender<Message>) {
    let _watch = Watch(to_caller.clone());
    let mut encoder = ChunkEncoder::default();
    while let Some(job) = shared.board.take() {
        let Job {
            index,
            context,
            what,
            mut stream,
        } = job;
        let Task {
            cost,
            position,
            chunk,
            program,
        } = what;
        let seq = chunk.header.seq;
        let encoded = if seq < stream.next {
            // Seen before; must not disturb what is known.
            EncodedChunk::repeated(&chunk)
        } else {
            if seq > stream.next {
                stream.decoder.forget();
            }
            stream.next = seq.saturating_add(1);
            let mut hand_over = |part| {
                shared.parts.enter_in_turn(1, index);
                // A caller that is gone needs no result.
                let _ = to_caller.send(Message::Part(Box::new(part)));
            };
            encoder.encode(&chunk, &program, &mut stream.decoder, &mut hand_over)
        };
        drop(chunk);
        shared.board.done(context, stream);
        let item = Item::Stream(Box::new(encoded));
        if to_caller
            .send(Message::Item {
                index,
                cost,
                position,
                item,
            })
            .is_err()
        {
            return;
        }
    }
}
