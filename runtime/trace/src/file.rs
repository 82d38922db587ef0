//! The parts of a trace file around the streams: header, chunk headers, run information and totals.

use bincode::config::{self, Configuration, Fixint, LittleEndian};
use bincode::error::DecodeError;
use bincode::{Decode, Encode};

use crate::{Error, Result};
use contech_program::numbered;

/// First bytes of a trace file.
pub const MAGIC: [u8; 8] = *b"CONTECHT";
/// Version of the format. It must be increased when anything in this crate's encodings changes.
pub const VERSION: u32 = 18;
/// Bytes of the file header.
pub const HEADER_BYTES: usize = 64;
/// Bytes of a chunk header.
pub const CHUNK_HEADER_BYTES: usize = 64;
/// First bytes of a chunk.
pub const CHUNK_MAGIC: [u8; 4] = *b"CTCK";
/// Largest payload of a chunk, stored or raw. A header that claims more is damaged.
pub const MAX_CHUNK: usize = 256 << 20;
const ORDER: u32 = 0x0a0b_0c0d;

/// Checksum of chunk payloads and headers (xxh3, 64 bits).
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// The start of a trace file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileHeader {
    /// Process that wrote the file.
    pub pid: u32,
    /// The processor's clock when recording started: the zero of all ticks in the file.
    pub start_ticks: u64,
    /// Wall clock at that moment, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// First estimate of the clock's frequency in Hz (0 if unknown); [`Totals::clock_hz`] is
    /// better.
    pub clock_hz: u64,
}

/// Bytes of a header before its checksum.
const SUMMED: usize = 56;
/// A header's fields lie one after the other, little endian.
const FIELDS: Configuration<LittleEndian, Fixint> = config::standard().with_fixed_int_encoding();

/// A header of these fields, with their checksum.
fn sealed(fields: impl Encode) -> [u8; SUMMED + 8] {
    let mut b = [0; SUMMED + 8];
    // The fields fill the room, and nothing else could fail.
    let _ = bincode::encode_into_slice(fields, &mut b[..SUMMED], FIELDS);
    let sum = checksum(&b[..SUMMED]);
    b[SUMMED..].copy_from_slice(&sum.to_le_bytes());
    b
}

/// The fields of a header, and its checksum. `T` is made of numbers, which can be anything.
fn opened<T: Decode<()>>(b: &[u8], what: &'static str, offset: u64) -> Result<T> {
    let (need, have) = (SUMMED as u64 + 8, b.len() as u64);
    let decoded = bincode::decode_from_slice(b, FIELDS);
    decoded.map(|(fields, _)| fields).map_err(|_| Error::Truncated { what, offset, need, have })
}

/// Compares the checksum that a header states.
fn check(b: &[u8], expected: u64, what: &'static str, offset: u64) -> Result<()> {
    match checksum(&b[..SUMMED]) {
        got if got == expected => Ok(()),
        got => Err(Error::Checksum { what, offset, got, expected }),
    }
}

impl FileHeader {
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let Self { pid, start_ticks, start_unix_ns, clock_hz } = *self;
        sealed((MAGIC, VERSION, ORDER, pid, 0u32, start_ticks, start_unix_ns, clock_hz, 0u64))
    }

    /// Decodes and checks the header.
    ///
    /// # Errors
    /// The header is empty, foreign (with a hint), of another version, of the other byte order, cut
    /// or damaged.
    pub fn decode(b: &[u8]) -> Result<Self> {
        type Fields = ([u8; 8], u32, u32, u32, u32, u64, u64, u64, u64, u64);
        const WHAT: &str = "file header";
        if b.is_empty() {
            return Err(Error::Empty);
        }
        if !MAGIC.starts_with(&b[..b.len().min(8)]) {
            return Err(Error::Foreign { hint: hint(b) });
        }
        let (_, version, order, pid, _, start_ticks, start_unix_ns, clock_hz, _, sum) =
            opened::<Fields>(b, WHAT, 0)?;
        if order == ORDER.swap_bytes() {
            return Err(Error::ByteOrder);
        }
        if version != VERSION {
            return Err(Error::Version { got: version, expected: VERSION });
        }
        check(b, sum, WHAT, 0)?;
        Ok(FileHeader { pid, start_ticks, start_unix_ns, clock_hz })
    }
}

fn hint(b: &[u8]) -> String {
    if b.starts_with(b"CONTECHG") {
        "this is a task graph already; give it to contech-backend".into()
    } else if b.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        "this is a zstd file; decompress it first".into()
    } else if b.starts_with(b"\x7fELF") {
        "this is a program; run it to get its trace".into()
    } else {
        format!("it starts with {:02x?}, expected \"CONTECHT\"", &b[..b.len().min(8)])
    }
}

numbered! {
    /// What a chunk holds.
    pub enum ChunkKind {
        /// [`RunInfo`], which comes once, as the first chunk.
        Run = 1;
        /// [`ModuleLoad`]: a module was registered.
        Module = 2;
        /// A piece of a context's stream.
        Stream = 3;
        /// A piece of a context's naive reference stream (`--contech-check`).
        Check = 4;
        /// [`Totals`]: recording ended cleanly. The file is complete if this is its last chunk.
        End = 5;
        /// [`RankInfo`]: the process is a rank of an MPI program.
        Rank = 6;
    }
}

/// The payload is stored as it is.
pub const CODEC_RAW: u8 = 0;
/// The payload is packed, see [`mod@crate::pack`].
pub const CODEC_PACKED: u8 = 1;

/// Ticks of which [`ChunkHeader::waited`] is a multiple.
pub const WAITED_UNIT: u64 = 1024;

/// Header of a chunk; the stored payload follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkHeader {
    /// What the chunk holds.
    pub kind: ChunkKind,
    /// [`CODEC_RAW`] or [`CODEC_PACKED`].
    pub codec: u8,
    /// 0 for the program, n for the n-th signal handler on top of it. No buffer holds records of
    /// two levels.
    pub level: u8,
    /// Context of a stream; 0 in other chunks.
    pub context: u32,
    /// Ticks from [`ChunkHeader::last`] until the chunk was written, in units of [`WAITED_UNIT`],
    /// limited to what the field can hold.
    pub waited: u64,
    /// Number of this chunk in its context and kind, from 0 without gaps.
    pub seq: u64,
    /// Payload bytes when unpacked.
    pub raw_len: u32,
    /// Payload bytes in the file.
    pub stored_len: u32,
    /// Ticks when the chunk's buffer was begun.
    pub first: u64,
    /// Ticks when the buffer was handed over.
    pub last: u64,
    /// Checksum of the stored payload.
    pub payload_sum: u64,
}

impl ChunkHeader {
    #[must_use]
    pub fn encode(&self) -> [u8; CHUNK_HEADER_BYTES] {
        let waited = u32::try_from(self.waited / WAITED_UNIT).unwrap_or(u32::MAX);
        sealed((
            CHUNK_MAGIC,
            [self.kind as u8, self.codec, self.level, 0],
            (self.context, waited, self.seq),
            (self.raw_len, self.stored_len),
            (self.first, self.last, self.payload_sum),
        ))
    }

    /// Decodes and checks a header at the start of `b`; `offset` is its place, for messages.
    ///
    /// # Errors
    /// The header is cut or damaged, has an unknown kind or codec, or claims a length over
    /// [`MAX_CHUNK`].
    pub fn decode(b: &[u8], offset: u64) -> Result<Self> {
        type Fields = ([u8; 4], [u8; 4], (u32, u32, u64), (u32, u32), (u64, u64, u64), u64);
        const WHAT: &str = "chunk header";
        let (magic, [kind, codec, level, _], (context, waited, seq), lengths, times, sum) =
            opened::<Fields>(b, WHAT, offset)?;
        let invalid = |detail: String| Error::Invalid { what: WHAT, offset, detail };
        if magic != CHUNK_MAGIC {
            return Err(invalid(format!("starts with {magic:02x?}, expected CTCK")));
        }
        check(b, sum, WHAT, offset)?;
        let unknown = || invalid(format!("unknown kind {kind}"));
        let kind = ChunkKind::from_u8(kind).ok_or_else(unknown)?;
        if codec > CODEC_PACKED {
            return Err(invalid(format!("unknown codec {codec}")));
        }
        let (raw_len, stored_len) = lengths;
        let longest = raw_len.max(stored_len);
        if longest as usize > MAX_CHUNK {
            return Err(invalid(format!("claims {longest} bytes")));
        }
        let (waited, (first, last, payload_sum)) = (u64::from(waited) * WAITED_UNIT, times);
        Ok(ChunkHeader {
            kind,
            codec,
            level,
            context,
            waited,
            seq,
            raw_len,
            stored_len,
            first,
            last,
            payload_sum,
        })
    }
}

/// Payload of the first chunk: information on the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RunInfo {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Path of the executable.
    pub exe: String,
    /// Machine name.
    pub host: String,
    /// Process that forked this one while it was traced; 0 if there is none.
    pub parent: u32,
    /// Options in effect, as `NAME=value`.
    pub options: Vec<String>,
    /// Version of the runtime.
    pub version: String,
}

/// Payload of the last chunk: the totals of what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Totals {
    /// False if something was not recorded (memory or disk ran out, a conflict ...).
    pub complete: bool,
    /// Frequency of the clock in Hz, measured over the run.
    pub clock_hz: u64,
    /// Ticks at the end of the run.
    pub end: u64,
    /// Number of contexts that were started.
    pub contexts: u64,
    /// Number of contexts of threads whose creation was not seen.
    pub unannounced: u64,
    /// Number of bytes that were put into buffers.
    pub bytes: u64,
    /// Number of bytes known to be lost.
    pub lost_bytes: u64,
    /// Number of sync events.
    pub syncs: u64,
    /// How often the program was paused because its records waited to be written.
    pub pauses: u64,
    /// Sentences for the user.
    pub notes: Vec<String>,
    /// How many of the notes say why something was not recorded. These are the first ones.
    pub losses: u64,
    /// The libraries, whose calls are not the program's, that made some of the unannounced threads,
    /// and how many.
    pub libraries: Vec<(String, u64)>,
}

/// Payload of a module chunk: the place of the module's ids, and its table.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ModuleLoad {
    /// Low 32 bits of the id array's address.
    pub id_base: u32,
    /// Number of ids.
    pub id_count: u32,
    /// Path of the executable or library that holds the module.
    pub object: String,
    /// Address the object is loaded at.
    pub load_address: u64,
    /// Addresses of the globals that fast-form expressions name, from the module's descriptor.
    pub globals: Vec<u64>,
    /// Encoded [`crate::table::ModuleTable`].
    pub table: Vec<u8>,
}

/// Payload of a rank chunk, written when MPI is initialised.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RankInfo {
    /// Rank in MPI_COMM_WORLD.
    pub rank: u32,
    /// Number of ranks.
    pub size: u32,
    /// Number of the run. It is the same in all ranks of the run, or, if [`RankInfo::job`] is
    /// false, in all its ranks on one host.
    pub run: u64,
    /// The number is that of the launcher's job, not only that of the launcher's process on this
    /// host.
    pub job: bool,
    /// What the MPI library says about itself.
    pub library: String,
}

/// Decodes a payload. The lengths in it are only claims, so no list may take more memory than a
/// payload of this size can fill.
fn decode<T: Decode<()>>(b: &[u8]) -> std::result::Result<T, DecodeError> {
    fn within<T: Decode<()>, const LIMIT: usize>(b: &[u8]) -> std::result::Result<T, DecodeError> {
        let config = config::standard().with_limit::<LIMIT>();
        bincode::decode_from_slice(b, config).map(|(v, _)| v)
    }
    match b.len() >> 20 {
        0 => within::<T, { 32 << 20 }>(b),
        1..8 => within::<T, { 80 << 20 }>(b),
        8..32 => within::<T, { 192 << 20 }>(b),
        _ => within::<T, { 2 * MAX_CHUNK }>(b),
    }
}

macro_rules! small_metadata {
    ($($t:ty),*) => {$(
        impl $t {
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                // For these types, encoding into a growing vector cannot fail.
                bincode::encode_to_vec(self, config::standard()).unwrap_or_default()
            }

            /// Decodes the payload.
            ///
            /// # Errors
            /// [`Error::Invalid`] if the bytes are not such a payload.
            pub fn from_bytes(b: &[u8]) -> Result<Self> {
                decode(b).map_err(|e| Error::Invalid {
                    what: stringify!($t),
                    offset: 0,
                    detail: e.to_string(),
                })
            }
        }
    )*};
}
small_metadata!(RunInfo, Totals, ModuleLoad, RankInfo);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_start_says_what_the_file_is() {
        let header = FileHeader { pid: 7, start_ticks: 1, start_unix_ns: 2, clock_hz: 3 };
        let bytes = header.encode();
        let changed = |change: fn(&mut [u8])| {
            let mut bytes = bytes;
            change(&mut bytes);
            FileHeader::decode(&bytes)
        };
        assert_eq!(FileHeader::decode(&bytes), Ok(header));
        assert_eq!(FileHeader::decode(b""), Err(Error::Empty));
        for (foreign, what) in [(&b"CONTECHG rest"[..], "contech-backend"), (b"\x7fELF", "program")]
        {
            let error = FileHeader::decode(foreign).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let version = Err(Error::Version { got: VERSION + 1, expected: VERSION });
        assert_eq!(changed(|b| b[8] += 1), version);
        assert_eq!(changed(|b| b[12..16].reverse()), Err(Error::ByteOrder));
        assert!(matches!(FileHeader::decode(&bytes[..20]), Err(Error::Truncated { .. })));
        assert!(matches!(changed(|b| b[30] ^= 1), Err(Error::Checksum { .. })));
    }
}
