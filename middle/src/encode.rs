//! Encodes one chunk of a stream into frames: the parallel part of the work.
//!
//! To decode a chunk one must know the state at the end of the context's previous chunk
//! ([`Decoder`]). The encoder goes on with that chunk's last frame, unless there are so many
//! contexts that their frames would take too much memory.

use std::sync::Arc;

use contech_trace::event::{AUX_GIVES, AUX_TAKES, Event, NOWHERE, SyncOp};
use contech_trace::fast::{Decoder, Records, Segment};
use contech_trace::mpi::Meeting;
use contech_trace::reader::Chunk;
use taskgraph::{Action, BlockId, Counts, EncodedFrame, FrameEncoder, FrameRef, FrameSpan};

use crate::board::Stream;
use crate::program::Program;
use crate::sample::{Sample, Taken};
use crate::streams::Record;

/// A part of a chunk's result is handed over when its frames have this many bytes, or when there
/// are this many frames. A few bytes that say that a spin-wait went on can stand for any number of
/// records.
const PART_BYTES: usize = 4 << 20;
const PART_FRAMES: usize = 64;

/// The result for a chunk, or for a part of a chunk.
#[derive(Debug, Default)]
pub(crate) struct EncodedChunk {
    pub(crate) context: u32,
    pub(crate) seq: u64,
    /// Place of the chunk in the file.
    pub(crate) offset: u64,
    /// The ticks in the chunk's header.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// How long the chunk waited to be written.
    pub(crate) waited: u64,
    /// Bytes of the chunk's payload.
    pub(crate) raw_len: u32,
    /// This is not the first part of its chunk.
    pub(crate) continued: bool,
    /// The first thing in the chunk belongs to a function that began in an earlier chunk.
    pub(crate) goes_on: bool,
    /// The frames that end in the chunk. The first of them may have begun in earlier chunks.
    pub(crate) frames: Vec<EncodedFrame>,
    /// Spans, counts, and the events that are not changes of the address space, in program order.
    /// The frame of a span is its number among the frames that end in the chunk; a number equal to
    /// how many these are means the frame that does not end.
    pub(crate) records: Vec<Record>,
    /// Why something could not be read, and how many bytes of the payload that is, as far as is
    /// known.
    pub(crate) fault: Option<(String, u64)>,
}

impl EncodedChunk {
    /// The result for a chunk that was already read before.
    pub(crate) fn repeated(chunk: &Chunk) -> Self {
        EncodedChunk {
            context: chunk.header.context,
            seq: chunk.header.seq,
            offset: chunk.offset,
            ..EncodedChunk::default()
        }
    }

    /// The result for the end of a stream: the frame that had not ended.
    pub(crate) fn last(context: u32, stream: &mut Stream) -> Self {
        let encoder = stream.encoder.take();
        let last = encoder.and_then(|(_, mut encoder)| encoder.finish());
        let last = last.map(|frame| stream.sample.finish(frame));
        EncodedChunk {
            context,
            continued: true,
            frames: last.into_iter().collect(),
            ..EncodedChunk::default()
        }
    }

    /// The events, in program order.
    pub(crate) fn events(&self) -> impl DoubleEndedIterator<Item = &Event> {
        self.records.iter().filter_map(|record| match record {
            Record::Event(event, _) => Some(event),
            _ => None,
        })
    }
}

/// Encodes chunks one after the other, and keeps its buffers.
#[derive(Debug, Default)]
pub(crate) struct ChunkEncoder {
    encoder: Option<(u64, FrameEncoder)>,
    /// A decoder whose working memory serves the decoders of all contexts.
    scratch: Decoder,
    raw: Vec<u8>,
    /// Number of records of the last chunk. The next one probably has as many.
    length: usize,
    /// One part in so many is encoded.
    every: u32,
}

impl ChunkEncoder {
    /// An encoder that leaves out all but one part in so many.
    pub(crate) fn new(every: u32) -> Self {
        Self { every, ..Self::default() }
    }

    /// Encodes a chunk of a stream that has seen the context's earlier chunks. With `spanning`, the
    /// chunk's last frame goes on in the next chunk. Results that are too large to wait are given
    /// to `hand_over`; the others are returned.
    pub(crate) fn encode(
        &mut self,
        chunk: &Chunk,
        program: &Arc<Program>,
        stream: &mut Stream,
        spanning: bool,
        hand_over: &mut dyn FnMut(EncodedChunk),
    ) -> EncodedChunk {
        let (decoder, sample) = (&mut stream.decoder, &mut stream.sample);
        if spanning {
            std::mem::swap(&mut self.encoder, &mut stream.encoder);
        }
        let header = chunk.header;
        sample.begin(header.context, self.every);
        let out = EncodedChunk {
            records: Vec::with_capacity(self.length),
            context: header.context,
            seq: header.seq,
            offset: chunk.offset,
            first: header.first,
            last: header.last,
            waited: header.waited,
            raw_len: header.raw_len,
            ..EncodedChunk::default()
        };
        let mut raw = std::mem::take(&mut self.raw);
        let encoded = match chunk.payload(&mut raw) {
            Ok(payload) => {
                let state = (decoder, sample);
                self.encode_payload(payload, program, state, out, spanning, hand_over)
            }
            Err(e) => {
                decoder.forget();
                EncodedChunk { fault: Some((e.to_string(), header.raw_len.into())), ..out }
            }
        };
        raw.clear();
        self.raw = raw;
        self.length = encoded.records.len();
        if spanning {
            std::mem::swap(&mut self.encoder, &mut stream.encoder);
            if let Some(Event::ContextEnd { .. }) = encoded.events().next_back() {
                // An encoder whose frame has ended is needed no more.
                stream.encoder.take_if(|(_, e)| e.record_count() == 0);
            }
        }
        encoded
    }

    fn encode_payload(
        &mut self,
        payload: &[u8],
        program: &Arc<Program>,
        (decoder, sample): (&mut Decoder, &mut Sample),
        mut out: EncodedChunk,
        spanning: bool,
        hand_over: &mut dyn FnMut(EncodedChunk),
    ) -> EncodedChunk {
        let encoder = match &mut self.encoder {
            Some((version, e)) if *version == program.version => e,
            other => {
                let old = other.as_mut().and_then(|(_, old)| old.finish());
                out.frames.extend(old.map(|frame| sample.finish(frame)));
                &mut other.insert((program.version, program.encoder())).1
            }
        };
        let mut cut = Cutting {
            counts: encoder.counts(),
            first_record: encoder.record_count(),
            encoder,
            sample,
            context: out.context,
            frame_bytes: 0,
            out,
            hand_over,
        };
        decoder.swap_buffers(&mut self.scratch);
        let decoded = decoder.segments(payload, &program.ids, &mut cut);
        decoder.swap_buffers(&mut self.scratch);
        if !spanning {
            cut.end_frame();
        }
        if decoded.is_err() {
            // The task ends with what could be read, and the next one must be readable without it.
            cut.end_frame();
        }
        cut.end_segment();
        if let Err(e) = decoded {
            cut.out.fault = Some((e.to_string(), lost_bytes(&e)));
        }
        cut.out
    }
}

/// Number of bytes that an error of the decoder costs. The parse runs backwards, so everything
/// before the place of the error is lost.
fn lost_bytes(error: &contech_trace::Error) -> u64 {
    match error {
        contech_trace::Error::Truncated { have, .. } => *have,
        contech_trace::Error::Invalid { offset, .. } => *offset,
        _ => 0,
    }
}

/// The operation that a graph shows for a recorded one. The end of a collective operation has the
/// operation's name.
pub(crate) fn shown(op: SyncOp, aux: u64) -> SyncOp {
    match op {
        SyncOp::MpiEnd => Meeting::unpack(aux).map_or(SyncOp::Other, |m| m.what),
        SyncOp::AtomicRmw if aux & AUX_TAKES != 0 => SyncOp::AtomicTake,
        SyncOp::AtomicRmw | SyncOp::AtomicStore if aux & AUX_GIVES != 0 => SyncOp::AtomicGive,
        _ => op,
    }
}

/// The action that an event is if it changes the address space; none if the call that was announced
/// did not give the memory back.
pub(crate) fn change(event: &Event) -> Option<Option<Action<'static>>> {
    Some(match *event {
        Event::Alloc { kind, addr, size } => Some(Action::Alloc { addr, size, kind }),
        Event::Free { addr: 0 } | Event::Unmap { size: 0, .. } => None,
        Event::Free { addr } => Some(Action::Free { addr }),
        Event::Map { addr, size } => Some(Action::Map { addr, size }),
        Event::Fresh { addr, size } => Some(Action::Fresh { addr, size }),
        Event::Unmap { addr, size } => Some(Action::Unmap { addr, size }),
        _ => return None,
    })
}

/// The synchronisation that an event is if it is an action of its task unless it orders something
/// with another context.
pub(crate) fn action(event: &Event) -> Option<Action<'static>> {
    match *event {
        Event::Sync { op, object, aux, .. } | Event::Untimed { op, object, aux, .. }
            if op.may_be_action() =>
        {
            Some(Action::Sync { op: shown(op, aux), object })
        }
        _ => None,
    }
}

/// Cuts a chunk into segments while its actions are encoded.
struct Cutting<'a> {
    encoder: &'a mut FrameEncoder,
    /// First record of the current frame that belongs to the current segment.
    first_record: u32,
    /// Totals at the start of the current segment.
    counts: Counts,
    /// Which code is encoded: all, or that of one part in so many.
    sample: &'a mut Sample,
    /// The context that what comes belongs to.
    context: u32,
    /// Bytes of the frames in `out`.
    frame_bytes: usize,
    out: EncodedChunk,
    hand_over: &'a mut dyn FnMut(EncodedChunk),
}

impl Records for Cutting<'_> {
    #[inline]
    fn block(&mut self, block: u32, operands: &[u64]) {
        if !self.takes(false, false) {
            return;
        }
        self.sample.encoded(1, 1);
        self.encoder.block(BlockId::new(block), operands);
        if self.encoder.is_full() {
            self.end_frame();
        }
    }

    #[inline]
    fn segment(&mut self, segment: Segment<'_>) -> bool {
        self.segments(segment, 1, 0) > 0
    }

    #[inline]
    fn segments(&mut self, first: Segment<'_>, times: usize, stride: usize) -> usize {
        let plan = first.plan;
        if !plan.path.fresh && self.is_at_start() {
            self.out.goes_on = true;
        }
        // A frame goes on with what it says itself.
        if !self.takes(first.resumed, first.synchronises) {
            return 1;
        }
        let times = self.sample.together(times);
        let segment =
            taskgraph::Segment { path: first.number, bytes: first.bytes, counts: first.counts };
        let (known, path) = (|| first.known.follow(), || Some(plan.path.clone()));
        let encoder = &mut self.encoder;
        let before = self.sample.leaves_out().then(|| encoder.counts().blocks);
        let taken = match times > 1 {
            true => encoder.segments(segment, (times, stride), known, path),
            false => usize::from(encoder.segment(segment, known, path)),
        };
        if let Some(before) = before {
            let blocks = encoder.counts().blocks - before;
            self.sample.encoded(taken, blocks);
        }
        if self.encoder.is_full() {
            self.end_frame();
        }
        taken
    }

    fn event(&mut self, event: Event, _inside: bool) {
        match change(&event) {
            Some(action) => action.iter().for_each(|action| self.encoder.action(action)),
            None => {
                match event {
                    Event::Position { .. } => self.sample.position(),
                    _ => self.sample.event(),
                }
                self.end_segment();
                self.encoder.cut();
                if let Event::Switch { context, .. } = event {
                    self.context = context;
                }
                let own = action(&event).filter(|_| self.context != NOWHERE);
                let own = own.map(|action| {
                    self.encoder.action(&action);
                    // The record belongs to a task only if the event orders nothing, which is found
                    // later.
                    self.counts = self.encoder.counts();
                    self.span()
                });
                self.out.records.push(Record::Event(event, own));
                // Other contexts of the thread are many and short, and have their frames in common.
                if matches!(event, Event::ContextEnd { .. }) && self.context == self.out.context {
                    self.end_frame();
                }
            }
        }
        if self.encoder.is_full() {
            self.end_frame();
        }
    }
}

impl Cutting<'_> {
    /// Whether the next segment or block is encoded; in a frame of its own, if `anew` or the sample
    /// say so.
    #[inline]
    fn takes(&mut self, anew: bool, synchronises: bool) -> bool {
        match self.sample.code(synchronises) {
            Taken::No => return false,
            Taken::Yes if anew => self.end_frame(),
            Taken::Yes => {}
            Taken::Anew(code) => {
                self.end_frame();
                self.sample.begin_frame(code);
            }
        }
        true
    }

    /// Whether nothing of the chunk has been read yet.
    fn is_at_start(&self) -> bool {
        let out = &self.out;
        !out.continued && out.records.is_empty() && self.encoder.record_count() == self.first_record
    }

    /// The records of the current frame since the last span. The next span begins behind them.
    fn span(&mut self) -> FrameSpan {
        let end = self.encoder.record_count();
        let first_record = std::mem::replace(&mut self.first_record, end);
        let frame = FrameRef(self.out.frames.len() as u64);
        FrameSpan { frame, first_record, records: end - first_record }
    }

    /// Closes the span of the current segment in the current frame.
    fn end_span(&mut self) {
        let span = self.span();
        if span.records > 0 {
            self.out.records.push(Record::Span(span));
        }
    }

    fn end_frame(&mut self) {
        self.end_span();
        self.first_record = 0;
        if let Some(frame) = self.encoder.finish() {
            let frame = self.sample.finish(frame);
            self.frame_bytes += frame.encoded_len();
            self.out.frames.push(frame);
        }
        if self.frame_bytes >= PART_BYTES || self.out.frames.len() >= PART_FRAMES {
            self.end_part();
        }
    }

    /// Hands over what is there. The current segment goes on in the next part.
    fn end_part(&mut self) {
        self.end_segment();
        self.frame_bytes = 0;
        let EncodedChunk { context, seq, offset, first, last, .. } = self.out;
        let place = EncodedChunk { context, seq, offset, first, last, ..EncodedChunk::default() };
        let next = EncodedChunk { continued: true, ..place };
        (self.hand_over)(std::mem::replace(&mut self.out, next));
    }

    fn end_segment(&mut self) {
        self.end_span();
        let now = self.encoder.counts();
        if now != self.counts {
            self.out.records.push(Record::Counts(now.since(self.counts)));
        }
        self.counts = now;
    }
}
