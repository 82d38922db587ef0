//! Units: the checksummed pieces of a graph file, which consists of a header, units, and a trailer.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::error::{Error, ErrorKind, Result, malformed};
use crate::wire::Reader;

/// First and last eight bytes of a graph file.
pub(crate) const MAGIC: [u8; 8] = *b"CONTECHG";
/// First eight bytes of a trace; the reader knows them in order to tell the user what to do with a
/// trace.
pub(crate) const TRACE_MAGIC: [u8; 8] = *b"CONTECHT";
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 13;
/// Bytes of the file header.
pub(crate) const FILE_HEADER: usize = 32;
/// Bytes of the trailer.
pub(crate) const TRAILER: usize = 32;
/// Bytes of a unit's header.
pub(crate) const UNIT_HEADER: usize = 16;

/// What a unit holds; the number is its tag in the file (four ASCII letters, little-endian).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Tag {
    Frame = u32::from_le_bytes(*b"FRM6"),
    TaskPage = u32::from_le_bytes(*b"TASK"),
    DependentsPage = u32::from_le_bytes(*b"DEPS"),
    OrderPage = u32::from_le_bytes(*b"ORDR"),
    TaskIndex = u32::from_le_bytes(*b"TIDX"),
    DependentsIndex = u32::from_le_bytes(*b"DIDX"),
    OrderIndex = u32::from_le_bytes(*b"OIDX"),
    Contexts = u32::from_le_bytes(*b"CTXS"),
    Executors = u32::from_le_bytes(*b"EXEC"),
    Progress = u32::from_le_bytes(*b"PROG"),
    Sample = u32::from_le_bytes(*b"SAMP"),
    /// What earlier writers say of each frame; no reader needs it.
    FrameIndex = u32::from_le_bytes(*b"FIDX"),
    Info = u32::from_le_bytes(*b"INFO"),
    Paths = u32::from_le_bytes(*b"PATH"),
    Meta = u32::from_le_bytes(*b"META"),
    Footer = u32::from_le_bytes(*b"FOOT"),
}

impl Tag {
    /// The units, with their names in errors.
    const NAMES: [(Self, &str); 16] = [
        (Self::Frame, "frame"),
        (Self::TaskPage, "task page"),
        (Self::DependentsPage, "edge page"),
        (Self::OrderPage, "order page"),
        (Self::TaskIndex, "task page index"),
        (Self::DependentsIndex, "edge page index"),
        (Self::OrderIndex, "order page index"),
        (Self::Contexts, "context table"),
        (Self::Executors, "executor table"),
        (Self::Progress, "progress table"),
        (Self::Sample, "code sample"),
        (Self::FrameIndex, "frame index"),
        (Self::Info, "static tables"),
        (Self::Paths, "path tables"),
        (Self::Meta, "run metadata"),
        (Self::Footer, "footer"),
    ];

    /// The name of the unit in errors.
    pub(crate) fn name(self) -> &'static str {
        Self::NAMES.iter().find(|named| named.0 == self).map_or("unit", |named| named.1)
    }

    fn from_u32(number: u32) -> Option<Self> {
        Self::NAMES.iter().map(|named| named.0).find(|&tag| tag as u32 == number)
    }
}

/// The checksum of a unit's bytes, seeded by its tag and length, so that damage to either is found
/// as well.
fn checksum(tag: Tag, payload: &[u8]) -> u64 {
    xxh3_64_with_seed(payload, u64::from(tag as u32) << 32 ^ payload.len() as u64)
}

/// The header of a unit. A payload over the limit of 4 GiB is an error.
pub(crate) fn header(tag: Tag, payload: &[u8]) -> Result<[u8; UNIT_HEADER]> {
    let length = u32::try_from(payload.len()).map_err(|_| {
        let n = payload.len();
        crate::error::misuse(format!("the {} would have {n} bytes, over 4 GiB", tag.name()))
    })?;
    let mut out = [0; UNIT_HEADER];
    out[..4].copy_from_slice(&(tag as u32).to_le_bytes());
    out[4..8].copy_from_slice(&length.to_le_bytes());
    out[8..].copy_from_slice(&checksum(tag, payload).to_le_bytes());
    Ok(out)
}

/// A unit as found in a file, whose checksum is not compared yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit<'a> {
    pub(crate) tag: Tag,
    pub(crate) offset: u64,
    pub(crate) payload: &'a [u8],
    checksum: u64,
}

impl<'a> Unit<'a> {
    /// The unit that begins at `offset`.
    pub(crate) fn at(data: &'a [u8], offset: u64, what: &'static str) -> Result<Self> {
        let short =
            |expected: u64, got: usize| ErrorKind::Truncated { what, expected, got: got as u64 };
        let start =
            usize::try_from(offset).ok().filter(|&o| (FILE_HEADER..=data.len()).contains(&o));
        let Some(start) = start else {
            return Err(malformed(
                what,
                format!("its offset is {offset}, the file has {} bytes", data.len()),
            ));
        };
        let rest = &data[start..];
        if rest.len() < UNIT_HEADER {
            return Err(short(UNIT_HEADER as u64, rest.len()).into());
        }
        let mut header = Reader::new(what, rest);
        let (tag, length, checksum) = (header.u32()?, header.u32()?, header.u64()?);
        let Some(tag) = Tag::from_u32(tag) else {
            return Err(malformed(
                what,
                format!("tag {tag:#010x} at byte {offset} is none of this format"),
            ));
        };
        let Ok(payload) = header.take(length as usize) else {
            return Err(short(u64::from(length), rest.len() - UNIT_HEADER).into());
        };
        Ok(Self { tag, offset, payload, checksum })
    }

    /// The payload of the unit at `offset`, which must be of kind `tag` and whole.
    pub(crate) fn read(data: &'a [u8], offset: u64, tag: Tag) -> Result<&'a [u8]> {
        let unit = Self::at(data, offset, tag.name())?;
        if unit.tag != tag {
            return Err(malformed(
                tag.name(),
                format!("byte {offset} holds a {}", unit.tag.name()),
            ));
        }
        unit.check()?;
        Ok(unit.payload)
    }

    /// Compares the checksum.
    pub(crate) fn check(&self) -> Result<()> {
        let got = checksum(self.tag, self.payload);
        if got == self.checksum {
            return Ok(());
        }
        let (what, offset, expected) = (self.tag.name(), self.offset, self.checksum);
        Err(ErrorKind::Checksum { what, offset, expected, got }.into())
    }

    /// Offset of the first byte after the unit.
    pub(crate) fn end(&self) -> u64 {
        self.offset + (UNIT_HEADER + self.payload.len()) as u64
    }
}

/// The file header.
pub(crate) fn file_header(version: u32) -> [u8; FILE_HEADER] {
    let mut out = [0; FILE_HEADER];
    out[..8].copy_from_slice(&MAGIC);
    out[8..12].copy_from_slice(&version.to_le_bytes());
    let sum = xxh3_64(&out[..24]);
    out[24..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Checks the file header: what kind of file this is, and whether this library reads it.
pub(crate) fn check_file_header(data: &[u8]) -> Result<()> {
    if data.is_empty() {
        return Err(ErrorKind::Empty.into());
    }
    let magic = &data[..data.len().min(MAGIC.len())];
    if !MAGIC.starts_with(magic) {
        return Err(if *magic == TRACE_MAGIC {
            ErrorKind::IsATrace.into()
        } else {
            ErrorKind::NotAGraph { found: magic.escape_ascii().to_string() }.into()
        });
    }
    let Some(header) = data.first_chunk::<FILE_HEADER>() else {
        let (expected, got) = (FILE_HEADER as u64, data.len() as u64);
        return Err(ErrorKind::Truncated { what: "file header", expected, got }.into());
    };
    let mut fields = Reader::new("file header", &header[8..]);
    let found = fields.u32()?;
    // The version says how everything after it is written, the checksum included.
    if found > VERSION {
        return Err(ErrorKind::NewerVersion { found, supported: VERSION }.into());
    }
    if found < VERSION {
        return Err(ErrorKind::OlderVersion { found, supported: VERSION }.into());
    }
    let (got, expected) =
        (xxh3_64(&header[..24]), u64::from_le_bytes(*header.last_chunk().unwrap_or(&[0; 8])));
    if got != expected {
        return Err(ErrorKind::Checksum { what: "file header", offset: 0, expected, got }.into());
    }
    Ok(())
}

/// The trailer: where the footer starts, and that the file ends here.
pub(crate) fn trailer(footer: u64) -> [u8; TRAILER] {
    let mut out = [0; TRAILER];
    out[..8].copy_from_slice(&footer.to_le_bytes());
    let sum = xxh3_64_with_seed(&out[..16], u64::from_le_bytes(MAGIC));
    out[16..24].copy_from_slice(&sum.to_le_bytes());
    out[24..].copy_from_slice(&MAGIC);
    out
}

/// The offset of the footer, from the trailer at the end of the file.
pub(crate) fn footer_offset(data: &[u8]) -> Result<u64> {
    let no_end = || -> Error {
        let got = data.len().saturating_sub(FILE_HEADER).min(TRAILER) as u64;
        ErrorKind::Truncated {
            what: "closing footer (the file does not end with one)",
            expected: TRAILER as u64,
            got,
        }
        .into()
    };
    let body = data.get(FILE_HEADER..).ok_or_else(no_end)?;
    let trailer = body.last_chunk::<TRAILER>().ok_or_else(no_end)?;
    if trailer[24..] != MAGIC {
        return Err(no_end());
    }
    let offset = (data.len() - TRAILER) as u64;
    let got = xxh3_64_with_seed(&trailer[..16], u64::from_le_bytes(MAGIC));
    let mut fields = Reader::new("trailer", trailer);
    let (footer, _reserved, expected) = (fields.u64()?, fields.u64()?, fields.u64()?);
    if got != expected {
        return Err(ErrorKind::Checksum { what: "trailer", offset, expected, got }.into());
    }
    Ok(footer)
}
