//! Turns messages into the chunks of the trace file.

use std::collections::HashMap;
use std::io;

use contech_trace::file::{
    CODEC_PACKED, CODEC_RAW, ChunkHeader, ChunkKind, FileHeader, RunInfo, checksum,
};

use crate::buffer::Part;
use crate::output::Descriptor;
use crate::pack::pack;
use crate::queue::{Message, Place, Records, SMALL};

/// Smaller chunks are not worth packing.
const MIN_PACKED: usize = 4096;

#[derive(Debug)]
pub(crate) struct Writer {
    output: Option<Descriptor>,
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
    pub(crate) fn new(output: Option<Descriptor>) -> Self {
        Writer { output, saved: 0, packed: Vec::new(), small: Vec::new(), seqs: HashMap::new() }
    }

    /// Bytes that packing has saved so far.
    pub(crate) fn saved(&self) -> u64 {
        self.saved
    }

    /// Writes file header and run information.
    pub(crate) fn begin(&mut self, header: &FileHeader, run: &RunInfo) -> io::Result<()> {
        if let Some(output) = &mut self.output {
            output.write(&header.encode(), &[])?;
        }
        self.small(ChunkKind::Run, &run.to_bytes())?;
        self.flush()
    }

    /// Takes what a message says, and writes it at the next [`Writer::flush`] at the latest. `now`
    /// is in ticks. Returns the part of a buffer that the message came in. Streams are packed. After
    /// an error the writer drops its output, so that the file is visibly cut.
    pub(crate) fn put(&mut self, message: Message, now: u64) -> (Option<Part>, io::Result<()>) {
        match message {
            Message::Stream(place, records) => {
                let waited = now.saturating_sub(place.last);
                let written = self.chunk(&place, waited, records.bytes());
                match records {
                    Records::Part(part) => (Some(part), written),
                    Records::Few(_) => (None, written),
                }
            }
            Message::Chunk(kind, payload) => (None, self.small(kind, &payload)),
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
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        Self::write(&mut self.output, &mut self.small, &[])
    }

    fn write(output: &mut Option<Descriptor>, head: &mut Vec<u8>, body: &[u8]) -> io::Result<()> {
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
