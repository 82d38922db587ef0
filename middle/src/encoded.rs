//! What pass 1 makes of the streams of a trace, in a file beside it. The ranks of a run are encoded by as many processes
//! this way, and the one that makes the graph reads the results in place of the streams. All that is not a stream it
//! reads in the trace.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `CTCODED` and a zero |
//! | 4 | version, now 1 |
//! | 8 | checksum of what else the contents depend on: versions, and the modules of the traces before |
//!
//! Then come records: 4 bytes for the length of the body, 8 bytes for its checksum (XXH3), and the body. A byte for the
//! kind begins it, and what a chunk became follows ([`put`]). A record of the kind [`END`] ends the file.

use std::fs::{File, Permissions};
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use contech_program::wire::{Malformed, Reader as Body, put_bytes, put_varint};
use contech_trace::event::{Event, MAX_EVENT};
use contech_trace::file::checksum;
use contech_trace::reader::Chunk;
use taskgraph::{Counts, EncodedFrame};
use tempfile::NamedTempFile;

use crate::encode::{EncodedChunk, Segment, Span};
use crate::error::{Error, Result};
use crate::program::ProgramBuilder;

const MAGIC: &[u8; 8] = b"CTCODED\0";
const VERSION: u32 = 1;
/// Kinds of records: what a chunk became, a frame that was left at the end of a stream, and the end of the file.
const CHUNK: u8 = 0;
const LAST: u8 = 1;
const END: u8 = 2;
/// Bytes before the body of a record.
const HEAD: usize = 4 + 8;

/// The file beside a trace.
fn path_of(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".encoded");
    name.into()
}

/// What begins the file.
fn header(before: &ProgramBuilder) -> [u8; 20] {
    let versions = (env!("CARGO_PKG_VERSION"), taskgraph::VERSION);
    let depends = checksum(format!("{versions:?} {:?}", before.identity()).as_bytes());
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..].copy_from_slice(&depends.to_le_bytes());
    bytes
}

/// Writes the file, which appears when it is whole.
pub(crate) struct Writer {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
    body: Vec<u8>,
}

impl Writer {
    /// For a trace that comes after others with the modules `before`.
    pub(crate) fn create(trace: &Path, before: &ProgramBuilder) -> Result<Self> {
        let path = path_of(trace);
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        builder.permissions(Permissions::from_mode(0o666));
        let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
        let mut file = BufWriter::new(file.map_err(|e| unwritten(&path, e))?);
        let written = file.write_all(&header(before));
        written.map_err(|e| unwritten(&path, e))?;
        let body = Vec::new();
        Ok(Self { file, path, body })
    }

    /// Takes what the next chunk of a stream became, or a part of it.
    pub(crate) fn part(&mut self, part: &EncodedChunk) -> Result<()> {
        self.put(CHUNK, part)
    }

    /// Takes the frame that is left at the end of a stream.
    pub(crate) fn last(&mut self, last: &EncodedChunk) -> Result<()> {
        self.put(LAST, last)
    }

    fn put(&mut self, kind: u8, chunk: &EncodedChunk) -> Result<()> {
        self.body.clear();
        self.body.push(kind);
        put(chunk, &mut self.body)?;
        self.record()
    }

    fn record(&mut self) -> Result<()> {
        let length = u32::try_from(self.body.len());
        let length = length.map_err(|_| Error::internal("a chunk became more than 4 GiB"))?;
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&length.to_le_bytes());
        head[4..].copy_from_slice(&checksum(&self.body).to_le_bytes());
        let mut write = || {
            self.file.write_all(&head)?;
            self.file.write_all(&self.body)
        };
        write().map_err(|e| unwritten(&self.path, e))
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> Result<PathBuf> {
        self.body.clear();
        self.body.push(END);
        self.record()?;
        let path = self.path;
        let file = self.file.into_inner();
        let file = file.map_err(|e| unwritten(&path, e.into_error()))?;
        file.persist(&path).map_err(|e| unwritten(&path, e.error))?;
        Ok(path)
    }
}

fn unwritten(path: &Path, error: io::Error) -> Error {
    Error::Encoded {
        file: path.to_owned(),
        what: format!("cannot be written: {error}"),
    }
}

/// Reads the file.
pub(crate) struct Reader {
    file: BufReader<File>,
    path: PathBuf,
    /// The next record.
    ahead: (u8, EncodedChunk),
}

impl Reader {
    /// The file beside a trace that comes after others with the modules `before`, if there is one.
    pub(crate) fn open(trace: &Path, before: &ProgramBuilder) -> Result<Option<Self>> {
        let path = path_of(trace);
        let file = match File::open(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| unread(&path, &e.to_string()))?,
        };
        let mut this = Self {
            file: BufReader::new(file),
            ahead: (END, EncodedChunk::default()),
            path,
        };
        let mut found = [0; 20];
        this.exactly(&mut found)?;
        if found != header(before) {
            return Err(unread(
                &this.path,
                "it was made by another version, or the traces of lower ranks are others now",
            ));
        }
        this.ahead = this.record()?;
        Ok(Some(this))
    }

    fn exactly(&mut self, bytes: &mut [u8]) -> Result<()> {
        let read = self.file.read_exact(bytes);
        read.map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => unread(&self.path, "it is cut"),
            _ => unread(&self.path, &e.to_string()),
        })
    }

    fn record(&mut self) -> Result<(u8, EncodedChunk)> {
        let mut head = [0; HEAD];
        self.exactly(&mut head)?;
        let [a, b, c, d, sum @ ..] = head;
        let mut body = Vec::new();
        let length = u32::from_le_bytes([a, b, c, d]).into();
        let read = self.file.by_ref().take(length).read_to_end(&mut body);
        read.map_err(|e| unread(&self.path, &e.to_string()))?;
        if (body.len() as u64) < length {
            return Err(unread(&self.path, "it is cut"));
        }
        let Some((&kind, rest)) = body.split_first() else {
            return Err(unread(&self.path, "it is damaged"));
        };
        if checksum(&body) != u64::from_le_bytes(sum) {
            return Err(unread(&self.path, "it is damaged"));
        }
        let chunk = match kind {
            END => EncodedChunk::default(),
            _ => get(rest).map_err(|e| unread(&self.path, &e.to_string()))?,
        };
        Ok((kind, chunk))
    }

    fn take(&mut self) -> Result<EncodedChunk> {
        let next = self.record()?;
        Ok(std::mem::replace(&mut self.ahead, next).1)
    }

    /// The next part of what a chunk of a stream became, or `None` after the last part.
    pub(crate) fn part(&mut self, chunk: &Chunk, first: bool) -> Result<Option<EncodedChunk>> {
        let (kind, ahead) = &self.ahead;
        if first {
            let header = &chunk.header;
            let expected = (header.payload_sum, chunk.offset);
            if *kind != CHUNK || ahead.continued || (ahead.sum, ahead.offset) != expected {
                return Err(self.other());
            }
        } else if *kind != CHUNK || !ahead.continued {
            return Ok(None);
        }
        self.take().map(Some)
    }

    /// The frame that is left at the end of a context's stream.
    pub(crate) fn last(&mut self, context: u32) -> Result<EncodedChunk> {
        if self.ahead.0 != LAST || self.ahead.1.context != context {
            return Err(self.other());
        }
        self.take()
    }

    /// Checks that nothing is left.
    pub(crate) fn end(&self) -> Result<()> {
        match self.ahead.0 {
            END => Ok(()),
            _ => Err(self.other()),
        }
    }

    fn other(&self) -> Error {
        unread(&self.path, "the trace is another one now")
    }
}

fn unread(path: &Path, why: &str) -> Error {
    Error::Encoded {
        file: path.to_owned(),
        what: format!("{why}; delete it, or encode the rank again"),
    }
}

/// Appends what a chunk became.
fn put(chunk: &EncodedChunk, out: &mut Vec<u8>) -> Result<()> {
    let flags = u64::from(chunk.continued) | u64::from(chunk.goes_on) << 1;
    for number in [
        chunk.context.into(),
        chunk.seq,
        chunk.offset,
        chunk.first,
        chunk.last,
        chunk.waited,
        chunk.raw_len.into(),
        chunk.sum,
        flags,
    ] {
        put_varint(out, number);
    }
    put_varint(out, chunk.fault.is_some().into());
    if let Some((what, bytes)) = &chunk.fault {
        put_bytes(out, what.as_bytes());
        put_varint(out, *bytes);
    }
    put_varint(out, chunk.frames.len() as u64);
    for frame in &chunk.frames {
        frame.put(out);
    }
    put_varint(out, chunk.spans.len() as u64);
    for span in &chunk.spans {
        put_varint(out, span.frame as u64);
        put_varint(out, span.first_record.into());
        put_varint(out, span.records.into());
    }
    put_varint(out, chunk.segments.len() as u64);
    for Segment { spans_end, counts } in &chunk.segments {
        put_varint(out, *spans_end as u64);
        for number in counts.numbers() {
            put_varint(out, number);
        }
    }
    put_varint(out, chunk.actions.len() as u64);
    for span in &chunk.actions {
        put_varint(out, span.frame as u64);
        put_varint(out, span.first_record.into());
    }
    put_varint(out, chunk.events.len() as u64);
    for event in &chunk.events {
        let mut bytes = [0; MAX_EVENT];
        let length = event.encode(&mut bytes);
        put_bytes(out, &bytes[..length]);
        if event_of(&bytes[..length]).ok() != Some(*event) {
            return Err(Error::internal("an event that cannot be written down"));
        }
    }
    Ok(())
}

fn event_of(bytes: &[u8]) -> Result<Event, Malformed> {
    let malformed = |detail: String| Malformed::new("event", detail);
    let (fields, id) = bytes
        .split_last_chunk()
        .ok_or_else(|| malformed("it is cut".to_owned()))?;
    Event::decode(u32::from_le_bytes(*id), fields).map_err(|e| malformed(e.to_string()))
}

/// Reads what [`put`] wrote.
fn get(bytes: &[u8]) -> Result<EncodedChunk, Malformed> {
    let mut body = Body::<Malformed>::new("chunk", bytes);
    let mut chunk = EncodedChunk {
        context: body.varint32()?,
        seq: body.varint()?,
        offset: body.varint()?,
        first: body.varint()?,
        last: body.varint()?,
        waited: body.varint()?,
        raw_len: body.varint32()?,
        sum: body.varint()?,
        ..EncodedChunk::default()
    };
    let flags = body.varint()?;
    (chunk.continued, chunk.goes_on) = (flags & 1 != 0, flags & 2 != 0);
    if body.varint()? != 0 {
        chunk.fault = Some((body.string()?.to_owned(), body.varint()?));
    }
    let most = bytes.len();
    chunk.frames = body.list(EncodedFrame::get)?;
    chunk.spans = body.list(|body| {
        Ok(Span {
            frame: body.count(most)?,
            first_record: body.varint32()?,
            records: body.varint32()?,
        })
    })?;
    chunk.segments = body.list(|body| {
        Ok(Segment {
            spans_end: body.count(most)?,
            counts: Counts::read(|| body.varint())?,
        })
    })?;
    chunk.actions = body.list(|body| {
        Ok(Span {
            frame: body.count(most)?,
            first_record: body.varint32()?,
            records: 1,
        })
    })?;
    chunk.events = body.list(|body| event_of(body.bytes()?))?;
    Ok(chunk)
}
