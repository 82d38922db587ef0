//! The bytes of the files of an OTF2 archive, as OTF2 3.0 writes them (trace format 2): a header,
//! records, and marks of the end. Files of events and definitions are cut into chunks of one
//! length.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::tables::Numbered;

/// A reference to nothing.
pub(super) const UNDEFINED: u64 = u64::MAX;
/// Length of the chunks with events, the least that is allowed, and with definitions.
const EVENTS: u64 = 256 << 10;
const DEFINITIONS: u64 = 4 << 20;

/// A chunk begins with the mark and "little endian"; the numbers of its first and last event
/// follow.
const HEADER: [u8; 2] = [3, 0x42];
const TIMESTAMP: u8 = 5;
/// The end of a file, and of what is written of it.
const END: [u8; 2] = [2, 1];
/// The longest text, so that any fits into a chunk.
const TEXT: usize = 1 << 16;

/// Appends a number as the count of its bytes, and these. 0 and [`UNDEFINED`] are one byte.
fn number(out: &mut Vec<u8>, value: u64) {
    if value == 0 || value == UNDEFINED {
        out.push(value.to_le_bytes()[0]);
        return;
    }
    let used = 8 - value.leading_zeros() as usize / 8;
    out.push(u8::try_from(used).unwrap_or(8));
    out.extend_from_slice(&value.to_le_bytes()[..used]);
}

/// Appends a text, which a zero ends.
fn text(out: &mut Vec<u8>, text: &str) {
    let text = &text.as_bytes()[..text.floor_char_boundary(TEXT)];
    out.extend(text.iter().filter(|byte| **byte != 0));
    out.push(0);
}

/// A file in chunks. It is open only while a chunk is written, because there may be more locations
/// than open files.
#[derive(Debug)]
pub(super) struct Chunks {
    path: PathBuf,
    size: u64,
    chunk: Vec<u8>,
    /// Events written so far.
    pub(super) events: u64,
}

impl Chunks {
    fn new(path: PathBuf, size: u64) -> Self {
        let mut this = Self { path, size, chunk: Vec::new(), events: 0 };
        this.begin();
        this
    }

    fn begin(&mut self) {
        self.chunk.clear();
        self.chunk.extend(HEADER);
        self.chunk.extend((self.events + 1).to_le_bytes());
        self.chunk.extend(0u64.to_le_bytes());
    }

    fn write(&mut self) -> Result<()> {
        self.chunk[10..18].copy_from_slice(&self.events.to_le_bytes());
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).open(&self.path)?;
        Ok(file.write_all(&self.chunk)?)
    }

    /// Makes room for a record of at most so many bytes, in a new chunk if need be, which it then
    /// says.
    fn room(&mut self, bytes: usize) -> Result<bool> {
        let is_new = (self.chunk.len() + bytes + END.len()) as u64 >= self.size;
        if is_new {
            self.chunk.resize(usize::try_from(self.size)?, 0);
            self.write()?;
            self.begin();
        }
        Ok(is_new)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.chunk.extend(END);
        self.write()
    }
}

/// The events of a location.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) chunks: Chunks,
    /// The time of the last event, which is not said again.
    at_ns: Option<u64>,
}

impl Events {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { chunks: Chunks::new(path, EVENTS), at_ns: None }
    }

    /// A region begins, or ends.
    pub(super) fn region(&mut self, at_ns: u64, begins: bool, region: u64) -> Result<()> {
        let chunk = self.event(at_ns, 1 + 9)?;
        chunk.push(if begins { 12 } else { 13 });
        number(chunk, region);
        Ok(())
    }

    /// A message is sent to a member of a communicator, or received from it. Neither its tag nor
    /// its length is known.
    pub(super) fn message(
        &mut self,
        at_ns: u64,
        sends: bool,
        (peer, communicator): (u64, u64),
    ) -> Result<()> {
        let chunk = self.event(at_ns, 2 + 4 * 9)?;
        let mut data = Vec::new();
        for field in [peer, communicator, UNDEFINED, UNDEFINED] {
            number(&mut data, field);
        }
        chunk.push(if sends { 14 } else { 18 });
        chunk.push(u8::try_from(data.len())?);
        chunk.extend(data);
        Ok(())
    }

    /// Begins an event of at most so many bytes.
    fn event(&mut self, at_ns: u64, bytes: usize) -> Result<&mut Vec<u8>> {
        let is_new = self.chunks.room(1 + 8 + bytes)?;
        self.chunks.events += 1;
        let chunk = &mut self.chunks.chunk;
        if is_new || self.at_ns != Some(at_ns) {
            chunk.push(TIMESTAMP);
            chunk.extend(at_ns.to_le_bytes());
            self.at_ns = Some(at_ns);
        }
        Ok(chunk)
    }
}

/// A part of a definition.
pub(super) enum Field {
    Byte(u8),
    Number(u64),
}

/// The definitions of an archive.
#[derive(Debug)]
pub(super) struct Definitions {
    chunks: Chunks,
    count: u64,
    strings: Numbered<String>,
}

impl Definitions {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { chunks: Chunks::new(path, DEFINITIONS), count: 0, strings: Numbered::default() }
    }

    fn record(&mut self, kind: u8, data: &[u8]) -> Result<()> {
        self.chunks.room(1 + 9 + data.len())?;
        let chunk = &mut self.chunks.chunk;
        chunk.push(kind);
        match u8::try_from(data.len()) {
            Ok(length) if length < u8::MAX => chunk.push(length),
            _ => {
                chunk.push(u8::MAX);
                chunk.extend((data.len() as u64).to_le_bytes());
            }
        }
        chunk.extend_from_slice(data);
        self.count += 1;
        Ok(())
    }

    pub(super) fn put(&mut self, kind: u8, fields: &[Field]) -> Result<()> {
        let mut data = Vec::new();
        for field in fields {
            match field {
                Field::Byte(byte) => data.push(*byte),
                Field::Number(value) => number(&mut data, *value),
            }
        }
        self.record(kind, &data)
    }

    /// The number of a text.
    pub(super) fn text(&mut self, name: &str) -> Result<u64> {
        if let Some(known) = self.strings.get_index_of(name) {
            return Ok(known as u64);
        }
        let own = self.strings.insert_full(name.to_owned()).0 as u64;
        let mut data = Vec::new();
        number(&mut data, own);
        text(&mut data, name);
        self.record(10, &data)?;
        Ok(own)
    }

    /// Writes the end, and the file that viewers open, with the number of locations and one that
    /// tells traces apart.
    pub(super) fn finish(self, anchor: &Path, locations: u64, trace: u64) -> Result<()> {
        let mut bytes = HEADER.to_vec();
        text(&mut bytes, "OTF2");
        bytes.extend([3, 2]); // The formats of this file and of the others.
        bytes.extend([3, 0, 0]); // Of which version of OTF2.
        bytes.extend(EVENTS.to_le_bytes());
        bytes.extend(DEFINITIONS.to_le_bytes());
        bytes.extend([1, 1]); // One file for each location, which is not compressed.
        bytes.extend(locations.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        text(&mut bytes, ""); // The machine.
        text(&mut bytes, concat!("Contech ", env!("CARGO_PKG_VERSION")));
        text(&mut bytes, ""); // A description.
        bytes.extend(0u32.to_le_bytes()); // No properties.
        bytes.extend(trace.to_le_bytes());
        bytes.extend(0u64.to_le_bytes()); // No snapshots and no thumbnails.
        bytes.extend(END);
        bytes.push(0); // Not in chunks, it has the end of one.
        fs::write(anchor, bytes)?;
        self.chunks.finish()
    }
}

/// Writes the definitions that a location has for itself, which are none.
pub(super) fn no_definitions(path: PathBuf) -> Result<()> {
    Chunks::new(path, DEFINITIONS).finish()
}
