//! Turns messages into the chunks of the trace file.

use std::collections::HashMap;
use std::io;

use contech_trace::file::{
    CODEC_PACKED, CODEC_RAW, ChunkHeader, ChunkKind, FileHeader, RunInfo, checksum,
};

use crate::buffer::Part;
use crate::output::Output;
use crate::pack::pack;
use crate::queue::{Message, Place, Records, SMALL};

/// Smaller chunks are not worth packing.
const MIN_PACKED: usize = 4096;

#[allow(missing_debug_implementations, reason = "the output is a trait object")]
pub struct Writer {
    output: Option<Box<dyn Output>>,
    /// Bytes that packing has saved so far.
    saved: u64,
    /// What is stored instead of a chunk's records.
    packed: Vec<u8>,
    /// Small chunks that are written together.
    small: Vec<u8>,
    /// The next number, by kind, of chunks that are in no context.
    seqs: HashMap<u8, u64>,
}

impl Writer {
    /// A writer to `output`, or to nowhere.
    #[must_use]
    pub fn new(output: Option<Box<dyn Output>>) -> Self {
        Writer { output, saved: 0, packed: Vec::new(), small: Vec::new(), seqs: HashMap::new() }
    }

    /// Bytes that packing has saved so far.
    pub(crate) fn saved(&self) -> u64 {
        self.saved
    }

    /// Writes file header and run information.
    ///
    /// # Errors
    /// An error of the output.
    pub fn begin(&mut self, header: &FileHeader, run: &RunInfo) -> io::Result<()> {
        if let Some(output) = &mut self.output {
            output.write(&header.encode(), &[])?;
        }
        self.small(ChunkKind::Run, &run.to_bytes())?;
        self.flush()
    }

    /// Takes what a message says, and writes it at the next [`Writer::flush`] at the latest. `now`
    /// is in ticks. Returns the part of a buffer that the message came in. Streams are packed.
    ///
    /// # Errors
    /// An error of the output. In that case the writer drops its output, so that the file is
    /// visibly cut.
    pub fn put(&mut self, message: Message, now: u64) -> (Option<Part>, io::Result<()>) {
        match message {
            Message::Stream(place, records) => {
                let waited = now.saturating_sub(place.last);
                let written = self.chunk(&place, waited, records.bytes());
                match records {
                    Records::Part(part) => (Some(part), written),
                    Records::Inline(..) => (None, written),
                }
            }
            Message::Module(payload) => (None, self.small(ChunkKind::Module, &payload)),
            Message::Rank(payload) => (None, self.small(ChunkKind::Rank, &payload)),
            Message::End(totals) => (None, self.small(ChunkKind::End, &totals.to_bytes())),
        }
    }

    fn small(&mut self, kind: ChunkKind, payload: &[u8]) -> io::Result<()> {
        let next = self.seqs.entry(kind as u8).or_default();
        let seq = *next;
        *next += 1;
        let place = Place { kind, context: 0, level: 0, seq, first: 0, last: 0 };
        self.chunk(&place, 0, payload)
    }

    fn chunk(&mut self, place: &Place, waited: u64, raw: &[u8]) -> io::Result<()> {
        if self.output.is_none() {
            return Ok(());
        }
        let stream = matches!(place.kind, ChunkKind::Stream | ChunkKind::Check);
        let packs = stream && raw.len() >= MIN_PACKED && pack(raw, &mut self.packed);
        let codec = if packs { CODEC_PACKED } else { CODEC_RAW };
        let stored = if packs { &self.packed } else { raw };
        let length = |n: usize| u32::try_from(n).map_err(io::Error::other);
        let header = ChunkHeader {
            kind: place.kind,
            codec,
            level: place.level,
            context: place.context,
            waited,
            seq: place.seq,
            raw_len: length(raw.len())?,
            stored_len: length(stored.len())?,
            first: place.first,
            last: place.last,
            payload_sum: checksum(stored),
        };
        self.saved += raw.len().saturating_sub(stored.len()) as u64;
        self.small.extend_from_slice(&header.encode());
        if stored.len() < SMALL {
            self.small.extend_from_slice(stored);
            return Ok(());
        }
        Self::write(&mut self.output, &mut self.small, stored)
    }

    /// Writes the small chunks that wait for others.
    ///
    /// # Errors
    /// Those of [`Writer::put`].
    pub fn flush(&mut self) -> io::Result<()> {
        Self::write(&mut self.output, &mut self.small, &[])
    }

    fn write(
        output: &mut Option<Box<dyn Output>>,
        head: &mut Vec<u8>,
        body: &[u8],
    ) -> io::Result<()> {
        let written = match output {
            Some(output) if head.len() + body.len() > 0 => output.write(head, body),
            _ => Ok(()),
        };
        head.clear();
        if written.is_err() {
            *output = None;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::{Buffer, Piece};
    use contech_trace::file::Totals;
    use contech_trace::reader::{ChunkReader, Next};
    use std::sync::{Arc, Mutex};

    /// Takes as many bytes as the second field says, then fails.
    #[derive(Clone)]
    struct Disk(Arc<Mutex<Vec<u8>>>, usize);

    impl Disk {
        fn new(room: usize) -> Self {
            Disk(Arc::default(), room)
        }
        fn bytes(&self) -> Vec<u8> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Output for Disk {
        fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
            let mut bytes = self.0.lock().unwrap();
            for part in [head, body] {
                let room = self.1 - bytes.len();
                bytes.extend(&part[..part.len().min(room)]);
                if part.len() > room {
                    return Err(io::ErrorKind::StorageFull.into());
                }
            }
            Ok(())
        }
    }

    fn stream(seq: u64, bytes: &[u8]) -> Message {
        let mut buffer = Buffer::map(64 << 10).unwrap();
        for (i, b) in bytes.iter().enumerate() {
            write(&buffer, i, *b);
        }
        assert!(buffer.set_piece(Piece { len: bytes.len(), ..Piece::default() }));
        let kind = ChunkKind::Stream;
        let place = Place { kind, context: 3, level: 0, seq, first: 1, last: 2 };
        Message::Stream(place, Records::Part(buffer.into()))
    }

    #[allow(unsafe_code, reason = "stands in for instrumented code")]
    fn write(buffer: &Buffer, at: usize, byte: u8) {
        // SAFETY: the tests write less than a buffer.
        unsafe { buffer.data().add(at).write(byte) };
    }

    fn read(bytes: &[u8]) -> (Vec<(ChunkHeader, Vec<u8>)>, bool) {
        let (_, mut r) = ChunkReader::new(bytes).unwrap().unwrap();
        let (mut chunks, mut whole) = (Vec::new(), true);
        loop {
            match r.next_chunk().unwrap() {
                Next::Chunk(c) => chunks.push((c.header, c.stored)),
                Next::Skipped { .. } => whole = false,
                Next::End => return (chunks, whole),
            }
        }
    }

    #[test]
    fn the_reader_finds_what_was_put() {
        let disk = Disk::new(usize::MAX);
        let mut w = Writer::new(Some(Box::new(disk.clone())));
        w.begin(&FileHeader::default(), &RunInfo::default()).unwrap();
        let (back, written) = w.put(stream(0, b"abc"), 2);
        assert!(back.is_some() && written.is_ok());
        w.put(Message::Module(vec![1]), 2).1.unwrap();
        w.put(Message::Module(vec![2]), 2).1.unwrap();
        w.put(Message::End(Box::default()), 2).1.unwrap();
        w.flush().unwrap();
        let (chunks, whole) = read(&disk.bytes());
        assert!(whole);
        let seen: Vec<_> = chunks.iter().map(|(h, _)| (h.kind, h.context, h.seq)).collect();
        assert_eq!(
            seen,
            [
                (ChunkKind::Run, 0, 0),
                (ChunkKind::Stream, 3, 0),
                (ChunkKind::Module, 0, 0),
                (ChunkKind::Module, 0, 1),
                (ChunkKind::End, 0, 0)
            ]
        );
        assert_eq!(chunks[1].1, b"abc");
        assert!(Totals::from_bytes(&chunks[4].1).is_ok());
    }
}
