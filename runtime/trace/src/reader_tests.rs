//! Tests of the reader on complete, cut and damaged files.

use crate::event::{Event, MAX_EVENT};
use crate::file::{ChunkHeader, ChunkKind, FileHeader, HEADER_BYTES, checksum};
use crate::ids::IdMap;
use crate::reader::{ChunkReader, Next};
use crate::stream::{What, event, operands, scan};
use crate::table::{Block, Function, ModuleTable};
use crate::{Error, Result};
use contech_program::{MemOp, OpKind};

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
fn a_cut_file_yields_every_whole_chunk() {
    let (bytes, ends) = file();
    for n in HEADER_BYTES..=bytes.len() {
        let (seqs, skips) = read(&bytes[..n]).unwrap();
        let whole = ends.iter().filter(|e| **e <= n).count() - 1;
        assert_eq!(seqs.len(), whole, "cut at {n}");
        assert_eq!(skips, usize::from(!ends.contains(&n)), "cut at {n}");
    }
}

#[test]
fn a_flipped_bit_loses_at_most_its_own_chunk() {
    let (bytes, _) = file();
    for bit in HEADER_BYTES * 8..bytes.len() * 8 {
        let mut b = bytes.clone();
        b[bit / 8] ^= 1 << (bit % 8);
        let (seqs, skips) = read(&b).unwrap();
        assert_eq!((seqs.len(), skips), (4, 1), "bit {bit}");
    }
}

#[test]
fn a_wrong_start_says_what_the_file_is() {
    let (bytes, _) = file();
    assert_eq!(read(b""), Err(Error::Empty));
    assert!(
        read(b"CONTECHG rest")
            .unwrap_err()
            .to_string()
            .contains("contech-backend")
    );
    assert!(
        read(b"\x7fELF")
            .unwrap_err()
            .to_string()
            .contains("program")
    );
    let expected = crate::file::VERSION;
    let mut newer = bytes.clone();
    newer[8] += 1;
    assert_eq!(
        read(&newer),
        Err(Error::Version {
            got: expected + 1,
            expected
        })
    );
    let mut swapped = bytes.clone();
    swapped[12..16].reverse();
    assert_eq!(read(&swapped), Err(Error::ByteOrder));
    assert!(matches!(read(&bytes[..20]), Err(Error::Truncated { .. })));
    let mut damaged = bytes;
    damaged[30] ^= 1;
    assert!(matches!(read(&damaged), Err(Error::Checksum { .. })));
}

fn table() -> ModuleTable {
    let op = |kind, lanes| MemOp {
        kind,
        size: 4,
        lanes,
        flags: 0,
        const_len: 0,
        line: 0,
        inlined: 0,
    };
    let block = |ops| Block {
        ops,
        ..Block::default()
    };
    ModuleTable {
        functions: vec![Function::default()],
        blocks: vec![
            block(vec![]),
            block(vec![op(OpKind::Load, 0), op(OpKind::MaskedStore, 8)]),
            block(vec![op(OpKind::Gather, 2)]),
        ],
        ..ModuleTable::default()
    }
}

#[test]
fn a_stream_is_read_back_in_program_order() {
    let base = 0xffff_ffff; // ids wrap around
    let mut ids = IdMap::default();
    assert!(
        ids.add(base, 3, &table()).is_err(),
        "ids 0 and 1 are reserved"
    );
    let base = 0x2000_0000;
    ids.add(base, 3, &table()).unwrap();
    let mut p = Vec::new();
    p.extend(base.to_le_bytes());
    p.extend(&0x7fff_1234_5678_u64.to_le_bytes()[..6]);
    p.extend(&0x1000_u64.to_le_bytes()[..6]);
    p.extend(0x8000_0000_0000_0001_u64.to_le_bytes());
    p.extend((base + 1).to_le_bytes());
    let mut buf = [0; MAX_EVENT];
    let n = Event::Free { addr: 5 }.encode(&mut buf);
    p.extend(&buf[..n]);
    let mut records = Vec::new();
    scan(&p, &ids, &mut records).unwrap();
    let kinds: Vec<_> = records.iter().map(|r| r.what).collect();
    assert_eq!(kinds, [What::Block(0), What::Block(1), What::Event(3)]);
    let mut values = Vec::new();
    operands(&p, records[1].offset, &table().blocks[1].ops, &mut values);
    assert_eq!(values, [0x7fff_1234_5678, 0x1000, 0x8000_0000_0000_0001]);
    assert_eq!(event(&p, records[2].offset, 3), Ok(Event::Free { addr: 5 }));
    // The file is cut in front. What is complete after the cut remains.
    assert!(scan(&p[7..], &ids, &mut records).is_err());
    assert_eq!(records.len(), 1);
    // The error names an unknown id.
    p.extend(0x3000_0000_u32.to_le_bytes());
    assert!(
        scan(&p, &ids, &mut records)
            .unwrap_err()
            .to_string()
            .contains("0x30000000")
    );
}
