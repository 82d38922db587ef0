//! Tests of the reader on complete, cut and damaged files.

use crate::file::{ChunkHeader, ChunkKind, FileHeader, checksum};
use crate::reader::{ChunkReader, Next};
use crate::{Error, Result};

fn chunk(seq: u64, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap();
    let header = ChunkHeader {
        kind: ChunkKind::Stream,
        codec: 0,
        level: 0,
        context: 0,
        waited: 0,
        seq,
        raw_len: len,
        stored_len: len,
        first: 0,
        last: 0,
        payload_sum: checksum(payload),
    };
    [header.encode().as_slice(), payload].concat()
}

fn file() -> (Vec<u8>, Vec<usize>) {
    let mut bytes = FileHeader::default().encode().to_vec();
    let mut ends = vec![bytes.len()];
    for seq in 0..5u8 {
        bytes.extend(chunk(seq.into(), &vec![seq; 100 * usize::from(seq)]));
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn read(bytes: &[u8]) -> Result<(Vec<u64>, usize)> {
    let (_, mut r) = ChunkReader::new(bytes).unwrap()?;
    let (mut seqs, mut skips) = (Vec::new(), 0);
    loop {
        match r.next_chunk().unwrap() {
            Next::Chunk(c) => seqs.push(c.header.seq),
            Next::Skipped { .. } => skips += 1,
            Next::End => return Ok((seqs, skips)),
        }
    }
}

#[test]
fn a_wrong_start_says_what_the_file_is() {
    let (bytes, _) = file();
    assert_eq!(read(b""), Err(Error::Empty));
    assert!(read(b"CONTECHG rest").unwrap_err().to_string().contains("contech-backend"));
    assert!(read(b"\x7fELF").unwrap_err().to_string().contains("program"));
    let expected = crate::file::VERSION;
    let mut newer = bytes.clone();
    newer[8] += 1;
    assert_eq!(read(&newer), Err(Error::Version { got: expected + 1, expected }));
    let mut swapped = bytes.clone();
    swapped[12..16].reverse();
    assert_eq!(read(&swapped), Err(Error::ByteOrder));
    assert!(matches!(read(&bytes[..20]), Err(Error::Truncated { .. })));
    let mut damaged = bytes;
    damaged[30] ^= 1;
    assert!(matches!(read(&damaged), Err(Error::Checksum { .. })));
}
