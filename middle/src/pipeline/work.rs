//! The workers encode chunks of streams.

use crossbeam_channel::Sender;

use super::{Item, Message, Shared, Task, Watch};
use crate::board::{Job, Stream};
use crate::encode::{ChunkEncoder, EncodedChunk};

/// Encodes chunks until there are no more.
pub(super) fn work(shared: &Shared, to_caller: &Sender<Message>) {
    let _watch = Watch(to_caller.clone());
    let mut encoder = ChunkEncoder::new(shared.sample);
    while let Some(job) = shared.board.take() {
        let Job { index, context, what, mut stream } = job;
        let (cost, position) = (what.cost, what.position);
        let mut hand_over = |part| {
            shared.parts.enter_in_turn(1, index);
            // If the caller is gone, it needs no result.
            let _ = to_caller.send(Message::Part(Box::new(part)));
        };
        let item = encode(&mut encoder, context, what, &mut stream, &mut hand_over);
        shared.board.done(context, stream);
        if to_caller.send(Message::Item { index, cost, position, item }).is_err() {
            return;
        }
    }
}

fn encode(
    encoder: &mut ChunkEncoder,
    context: u32,
    task: Task,
    stream: &mut Stream,
    hand_over: &mut dyn FnMut(EncodedChunk),
) -> Item {
    let Some(chunk) = task.chunk else {
        let last = EncodedChunk::last(context, stream);
        return Item::Last(Box::new(last));
    };
    let seq = chunk.header.seq;
    if seq < stream.next {
        // This chunk was seen before, so it must not change what is known.
        return Item::Stream(Box::new(EncodedChunk::repeated(&chunk)));
    }
    if seq > stream.next {
        stream.decoder.forget();
    }
    stream.next = seq.saturating_add(1);
    let encoded = encoder.encode(&chunk, &task.program, stream, task.spanning, hand_over);
    Item::Stream(Box::new(encoded))
}
